"""What an admission holds, and what counts as spent once somebody has said what it cost."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from app.core.money import Money


@dataclass(frozen=True, slots=True)
class Hold:
    """Room that an admission takes on each of its scopes; `currency` is empty when it costs nothing."""

    admission_id: str
    scopes: tuple[str, ...]
    amount: Decimal
    currency: str
    taken_at: datetime
    action: str = ""

    @property
    def as_held(self) -> "Settlement":
        """What is spent if nobody says otherwise."""
        return Settlement(self.amount, self.currency)

    def takes(self, actual: Money) -> bool:
        """Return whether an actual cost is in the currency that was held, or nothing was."""
        return self.currency in {"", actual.currency}


@dataclass(frozen=True, slots=True)
class Settlement:
    """What counts as spent, and whether it is more than was held."""

    amount: Decimal
    currency: str
    overrun: bool = False


def settlement(hold: Hold, actual: Money | None, *, trusted: bool) -> Settlement:
    """Return what counts: the actual cost where it is the greater or a trusted reporter states it, else the hold.

    Otherwise an actual cost of 0.01 would be every agent's.
    """
    if actual is None or actual.amount == hold.amount:
        return hold.as_held
    if actual.amount > hold.amount:
        return Settlement(actual.amount, actual.currency, overrun=True)
    if trusted:
        return Settlement(actual.amount, actual.currency)
    return hold.as_held
