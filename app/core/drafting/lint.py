"""Lint: what a policy says that its author probably does not mean. It loads; this is about whether it is wise."""

from collections.abc import Iterator

from app.core.drafting.lint_actions import lint_action, lint_unlisted
from app.core.drafting.lint_reach import lint_approvers, lint_limits
from app.core.drafting.lint_rules import lint_rules
from app.core.drafting.remarks import Remark
from app.core.policy import Policy


def lint(policy: Policy) -> tuple[Remark, ...]:
    """Return the remarks on a policy, in the order of the document's parts."""
    return tuple(_remarks(policy))


def _remarks(policy: Policy) -> Iterator[Remark]:
    yield from lint_unlisted(policy)
    for action in policy.actions.values():
        yield from lint_rules(action)
        yield from lint_action(policy, action)
    yield from lint_limits(policy)
    yield from lint_approvers(policy)
