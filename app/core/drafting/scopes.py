"""Which scopes a template may become, and whether a limit's pattern meets them."""

from collections.abc import Iterator

from app.core.policy.templates import Template

_ANYTHING = "*"
_MOST_PLACES = 10_000


def pattern_of(template: Template) -> str:
    """Return the pattern of what a template may become."""
    return "".join(_ANYTHING if place % 2 else part for place, part in enumerate(template.parts))


def meet(one: str, other: str) -> bool:
    """Return whether some text is matched by both patterns, in which `*` stands for any run of characters.

    Of two that are too long to tell, yes.
    """
    first, second = one.partition(_ANYTHING)[0], other.partition(_ANYTHING)[0]
    if not first.startswith(second) and not second.startswith(first):
        return False
    if len(one) * len(other) > _MOST_PLACES:
        return True
    reachable = {(0, 0)}
    seen: set[tuple[int, int]] = set()
    while reachable:
        place = reachable.pop()
        if place == (len(one), len(other)):
            return True
        seen.add(place)
        reachable |= set(_steps(one, other, *place)) - seen
    return False


def _steps(one: str, other: str, i: int, j: int) -> Iterator[tuple[int, int]]:
    left, right = one[i : i + 1], other[j : j + 1]
    if left == _ANYTHING:
        yield i + 1, j
    if right == _ANYTHING:
        yield i, j + 1
    if left == _ANYTHING and right:
        yield i, j + 1
    if right == _ANYTHING and left:
        yield i + 1, j
    if left and left == right:
        yield i + 1, j + 1
