"""What conditions say of numbers, where they say it simply: which values pass, and which condition covers which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, TypeAlias

from app.core.policy.conditions import Condition
from app.core.policy.syntax import Apply, Constant, Name, Select, Tree

Place: TypeAlias = tuple[str, ...]
"""What is compared: `("cost", "amount")`."""

_MIRRORED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_"}


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two ends, each of which belongs to it unless it is open."""

    least: float = -inf
    most: float = inf
    least_open: bool = False
    most_open: bool = False

    def within(self, other: "Interval") -> bool:
        """Return whether every number of this one is in the other."""
        above = self.least > other.least or (self.least == other.least and self.least_open >= other.least_open)
        below = self.most < other.most or (self.most == other.most and self.most_open >= other.most_open)
        return above and below

    def meet(self, other: "Interval") -> "Interval":
        """Return the numbers that are in both."""
        met = self
        if (other.least, other.least_open) > (self.least, self.least_open):
            met = replace(met, least=other.least, least_open=other.least_open)
        if (other.most, not other.most_open) < (self.most, not self.most_open):
            met = replace(met, most=other.most, most_open=other.most_open)
        return met


@dataclass(frozen=True, slots=True)
class Said:
    """A condition as what all must hold: an interval for each place compared with numbers, and the rest as trees."""

    intervals: dict[Place, Interval]
    others: tuple[Tree, ...]

    def implies(self, other: "Said") -> bool:
        """Return whether the other holds wherever this one does, as far as can be told."""
        return all(tree in self.others for tree in other.others) and all(
            place in self.intervals and self.intervals[place].within(interval)
            for place, interval in other.intervals.items()
        )


def said(condition: Condition | None) -> Said:
    """Return what a condition says; nothing, if there is none or it is `true`."""
    intervals: dict[Place, Interval] = {}
    others: list[Tree] = []
    for part in conjuncts(condition.tree) if condition else ():
        compared = comparison(part)
        if compared is not None:
            place, interval = compared
            intervals[place] = intervals.get(place, Interval()).meet(interval)
        elif part != Constant(value=True):
            others.append(part)
    return Said(intervals, tuple(others))


def conjuncts(tree: Tree) -> Iterator[Tree]:
    """Yield the parts of a condition that all must hold."""
    if isinstance(tree, Apply) and tree.function == "_&&_":
        for part in tree.arguments:
            yield from conjuncts(part)
    else:
        yield tree


def comparison(tree: Tree) -> tuple[Place, Interval] | None:
    """Return what a comparison of a place with a number says, or None if the tree is none."""
    if not isinstance(tree, Apply) or tree.function not in _MIRRORED:
        return None
    left, right = tree.arguments
    function = tree.function
    if isinstance(left, Constant):
        left, right, function = right, left, _MIRRORED[function]
    place = place_of(left)
    if place is None or not isinstance(right, Constant) or isinstance(right.value, bool):
        return None
    return (place, _interval(function, right.value)) if isinstance(right.value, (int, float)) else None


def place_of(tree: Tree) -> Place | None:
    """Return the place that `name.member` or `name["member"]` is, at any depth."""
    match tree:
        case Name(name=name):
            return (name,)
        case Select(operand=operand, member=member, test=False):
            above = place_of(operand)
        case Apply(function="_[_]", arguments=(operand, Constant(value=str(member)))):
            above = place_of(operand)
        case _:
            return None
    return None if above is None else (*above, member)


def _interval(function: str, value: float) -> Interval:
    match function:
        case "_<_":
            return Interval(most=value, most_open=True)
        case "_<=_":
            return Interval(most=value)
        case "_>_":
            return Interval(least=value, least_open=True)
        case "_>=_":
            return Interval(least=value)
        case _:
            return Interval(least=value, most=value)


def covered_by(earlier: Sequence[Said], later: Said) -> int | None:
    """Return which of the earlier ones holds wherever the later one does, counted from 0; None if none does."""
    return next((place for place, one in enumerate(earlier) if later.implies(one)), None)
