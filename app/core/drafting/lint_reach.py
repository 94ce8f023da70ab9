"""Remarks on what nothing reaches: limits that no call is counted on, and quorums that nobody can fill."""

from collections.abc import Iterator

from app.core.drafting.remarks import Remark, error, warning
from app.core.policy import ApproverRule, Policy
from app.core.policy.templates import OF_CALLERS, Template

_ANYTHING = "*"
_MOST_PLACES = 10_000


def lint_limits(policy: Policy) -> Iterator[Remark]:
    """Yield remarks on limits whose pattern meets no scope of any action, nor one that a caller could bring."""
    reached = {_pattern(template) for action in policy.actions.values() for template in action.spend}
    reached.add(f"{OF_CALLERS}{_ANYTHING}")
    for place, limit in enumerate(policy.limits):
        if not any(meet(limit.pattern, pattern) for pattern in reached):
            message = f"no action spends on a scope like {limit.pattern}: it limits reservations and entries only"
            yield warning("limit-unreached", message, "limits", place, "scope")


def lint_approvers(policy: Policy) -> Iterator[Remark]:
    """Yield remarks on approver rules that too few people can fill."""
    for place, rule in enumerate(policy.approvers):
        if why := _unfillable(rule):
            yield error("quorum-unreachable", why, "approvers", place)


def _unfillable(rule: ApproverRule) -> str | None:
    if not rule.principals and not rule.roles:
        return "it names neither principals nor roles: nobody has it, and whatever it matches waits in vain"
    if not rule.roles and len(rule.principals) < rule.quorum:
        return f"its quorum is {rule.quorum} and it names {len(rule.principals)}: it is never reached"
    return None


def _pattern(template: Template) -> str:
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
