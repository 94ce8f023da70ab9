"""The JSON values that travel through the service, with numbers that remember how they were written."""

from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

GREATEST_INTEGER = 2**53 - 1
"""Integers beyond this are not exact in JSON (RFC 8259 section 6) and are refused at the door."""


class Fraction(float):
    """A JSON number with a fraction or an exponent, and the literal that it was written as.

    It is a float everywhere; only money looks at the literal, since 0.1 as a double is not the amount 0.1.
    """

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Self:
        """Return the number that the literal states."""
        number = float.__new__(cls, literal)
        number.literal = literal
        return number


def with_literals(value: Json) -> Json:
    """Return a value that was stored, its fractions with the shortest literals that read back as them."""
    if isinstance(value, float) and not isinstance(value, Fraction):
        return Fraction(repr(value))
    if isinstance(value, Mapping):
        return {name: with_literals(member) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [with_literals(element) for element in value]
    return value
