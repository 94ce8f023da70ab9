"""Comparing one argument with a value: the short form of a condition, `{arg: amount, gt: 300}`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from app.core.policy.conditions import UndeterminedError
from app.core.policy.problems import shown
from app.core.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Comparison:
    """A top-level argument, an operator, and the value on its right."""

    argument: str
    operator: str
    value: Json

    def holds(self, arguments: JsonObject) -> bool:
        """Return whether the comparison is true.

        Raises:
            UndeterminedError: the argument is missing, or one of the two has a type that the operator has no use for.
        """
        if self.argument not in arguments:
            raise UndeterminedError(f"the argument {shown(self.argument)} is missing")
        try:
            return OPERATORS[self.operator](arguments[self.argument], self.value)
        except TypeError:
            raise UndeterminedError(
                f"the argument {shown(self.argument)} cannot be compared by {self.operator}"
            ) from None


def equal(one: Json, other: Json) -> bool:
    """Return whether two JSON values are equal, at any depth: 1 equals 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def _number(value: Json) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return value


def _among(value: Json, values: Json) -> bool:
    if not isinstance(values, (list, tuple)):
        raise TypeError
    return any(equal(value, other) for other in values)


def _contains(value: Json, part: Json) -> bool:
    if isinstance(value, str) and isinstance(part, str):
        return part in value
    if isinstance(value, str):
        raise TypeError
    return _among(part, value)


OPERATORS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "gt": lambda value, bound: _number(value) > _number(bound),
    "gte": lambda value, bound: _number(value) >= _number(bound),
    "lt": lambda value, bound: _number(value) < _number(bound),
    "lte": lambda value, bound: _number(value) <= _number(bound),
    "eq": equal,
    "ne": lambda value, other: not equal(value, other),
    "in": _among,
    "contains": _contains,
}
"""What an operator makes of the argument and the rule's value; a TypeError if it has no use for their types."""
