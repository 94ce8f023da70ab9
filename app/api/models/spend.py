"""What holders of `spend:write` send: entries, and reservations without an action."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.api.models.fields import MOST_SCOPES, Amount, Body, Currency, Duration, Key, NameOrEmpty, Scopes
from app.core.durations import format_duration
from app.core.money import Money
from app.effects.admissions import LONGEST_LEASE


def _lease(span: timedelta) -> timedelta:
    if span > LONGEST_LEASE:
        raise ValueError(f"at most {format_duration(LONGEST_LEASE)} is expected")
    return span


class EntryBody(Body):
    """Money that was spent, or came back, without an admission."""

    scope: Key
    amount: Amount
    currency: Currency
    kind: Literal["record", "credit"]
    action: NameOrEmpty = ""

    def to_money(self) -> Money:
        """Return the money."""
        return Money(self.amount, self.currency)


class ReservationBody(Body):
    """Room to take on each of the scopes, for as long as metering needs it."""

    scopes: Annotated[Scopes, Field(min_length=1, max_length=MOST_SCOPES)]
    amount: Amount
    currency: Currency
    expires_in: Annotated[Duration, AfterValidator(_lease)]

    def to_money(self) -> Money:
        """Return the money."""
        return Money(self.amount, self.currency)


class SettleBody(Body):
    """What a reservation came to, in its currency; all that is held if it is left out."""

    actual: Amount | None = None
