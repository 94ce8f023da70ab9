"""Remarks on what nothing reaches: limits that no call is counted on, and quorums that nobody can fill."""

from collections.abc import Iterator

from app.core.drafting.remarks import Remark, error, warning
from app.core.drafting.scopes import meet, pattern_of
from app.core.policy import ApproverRule, Policy
from app.core.policy.templates import OF_CALLERS


def lint_limits(policy: Policy) -> Iterator[Remark]:
    """Yield remarks on limits whose pattern meets no scope of any action, nor one that a caller could bring."""
    reached = {pattern_of(template) for action in policy.actions.values() for template in action.spend}
    reached.add(f"{OF_CALLERS}*")
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
