"""Exact money: amounts as decimals, written and read in one form only."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact

from app.core.values import Fraction, Json

_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
# The usual context rounds at 28 digits, which a sum of amounts may exceed; this one would raise before it rounds.
_EXACT = Context(prec=60, traps=[Inexact])


class AmountError(ValueError):
    """The value is not an amount. `negative` tells a well-formed amount with a minus from anything else."""

    def __init__(self, message: str, *, negative: bool = False) -> None:
        super().__init__(message)
        self.negative = negative


@dataclass(frozen=True, slots=True)
class Money:
    """A non-negative amount in a currency of three capital letters."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        """Return it as a sentence says it: `12.50 EUR`."""
        return f"{format_amount(self.amount)} {self.currency}"

    def as_json(self) -> dict[str, Json]:
        """Return it as it is written: on the wire, in the record, and in a digest."""
        return {"amount": format_amount(self.amount), "currency": self.currency}

    @classmethod
    def from_json(cls, written: Mapping[str, str]) -> "Money":
        """Return what `as_json` wrote."""
        return cls(Decimal(written["amount"]), written["currency"])


def parse_amount(value: Json) -> Decimal:
    r"""Return the amount that a string or a JSON number states.

    Raises:
        AmountError: it is anything but `(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?` in ASCII.
    """
    literal = _literal(value)
    if _AMOUNT.fullmatch(literal):
        return Decimal(literal)
    if literal.startswith("-") and _AMOUNT.fullmatch(literal[1:]):
        raise AmountError("the amount is negative", negative=True)
    raise AmountError("not an amount: digits, and at most eight after a point, such as 12.50")


def _literal(value: Json) -> str:
    if isinstance(value, bool):
        return ""
    if isinstance(value, Fraction):
        return value.literal
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else ""


def format_amount(amount: Decimal) -> str:
    """Return the amount without exponent, with at least two decimals and no zero after the second: 12.5 is 12.50."""
    whole, _, decimals = format(amount, "f").partition(".")
    return f"{whole}.{decimals.rstrip('0'):0<2}"


def plus(one: Decimal, other: Decimal) -> Decimal:
    """Return the exact sum."""
    return _EXACT.add(one, other) if other else one


def is_currency(text: str) -> bool:
    """Return whether the text is three capital letters."""
    return _CURRENCY.fullmatch(text) is not None
