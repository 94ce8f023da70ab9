"""What holders of `spend:write` send: entries, and reservations without an action."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.api.models.fields import Amount, Body, Currency, Duration, Key, NameOrEmpty, Scopes
from app.core.durations import LONGEST_LEASE, format_duration
from app.core.money import Money
from app.core.policy.actions import MOST_SCOPES
from app.core.policy.templates import OF_SYSTEM


def _lease(span: timedelta) -> timedelta:
    if span > LONGEST_LEASE:
        raise ValueError(f"at most {format_duration(LONGEST_LEASE)} is expected")
    return span


def _not_ours(scope: str) -> str:
    if scope.startswith(OF_SYSTEM):
        raise ValueError(f"a scope that does not begin with {OF_SYSTEM} is expected")
    return scope


def _none_ours(scopes: list[str]) -> list[str]:
    return list(map(_not_ours, scopes))


class EntryBody(Body):
    """Money that was spent, or came back, without an admission."""

    scope: Annotated[Key, AfterValidator(_not_ours)]
    amount: Amount
    currency: Currency
    kind: Literal["record", "credit"]
    action: NameOrEmpty = ""

    def to_money(self) -> Money:
        """Return the money."""
        return Money(self.amount, self.currency)


class ReservationBody(Body):
    """Room to take on each of the scopes, for as long as metering needs it."""

    scopes: Annotated[Scopes, Field(min_length=1, max_length=MOST_SCOPES), AfterValidator(_none_ours)]
    amount: Amount
    currency: Currency
    expires_in: Annotated[Duration, AfterValidator(_lease)]

    def to_money(self) -> Money:
        """Return the money."""
        return Money(self.amount, self.currency)


class SettleBody(Body):
    """What a reservation came to, in its currency; all that is held if it is left out."""

    actual: Amount | None = None


class ReleaseBody(Body):
    """Nothing: what was not used cost nothing. A client that says more has mistaken the route for another."""
