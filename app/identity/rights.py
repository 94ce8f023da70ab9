"""The closed list of rights, and the bundles that give them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

SYSTEM_TENANT = "system"
"""The tenant whose platform keys make tenants."""


class Right(StrEnum):
    """One thing that a credential may do."""

    DECIDE = "decide"
    ADMIT = "admit"  # and report, extend, cancel and read its own
    APPROVE = "approve"
    DELEGATE = "delegate"
    APPROVALS_READ = "approvals:read"
    RESOLVE = "resolve"  # and see every admission
    REVOKE = "revoke"
    SPEND_READ = "spend:read"
    SPEND_WRITE = "spend:write"
    WEBHOOKS = "webhooks"
    POLICY_READ = "policy:read"  # with lint, test, coverage and diff
    POLICY_WRITE = "policy:write"
    POLICY_ACTIVATE = "policy:activate"
    EXPLAIN = "explain"  # with evaluate and replay
    AUDIT_READ = "audit:read"
    KEYS = "keys"
    PRINCIPALS = "principals"
    TENANTS = "tenants"
    ATTEST = "attest"
    VERIFY = "verify"
    ADVISE = "advise"
    REPORT = "report"
    DECIDE_FOR = "decide_for"
    SPEAK_FOR = "speak_for"
    RECORD = "record"


BUNDLES: Mapping[str, frozenset[Right]] = {
    "agent": frozenset({Right.DECIDE, Right.ADMIT}),
    "approver": frozenset({Right.APPROVE, Right.DELEGATE, Right.APPROVALS_READ}),
    "operator": frozenset(
        {
            Right.RESOLVE,
            Right.REVOKE,
            Right.SPEND_READ,
            Right.SPEND_WRITE,
            Right.APPROVALS_READ,
            Right.WEBHOOKS,
        }
    ),
    "policy_admin": frozenset({Right.POLICY_READ, Right.POLICY_WRITE, Right.POLICY_ACTIVATE, Right.EXPLAIN}),
    "auditor": frozenset({Right.AUDIT_READ, Right.APPROVALS_READ, Right.SPEND_READ, Right.POLICY_READ, Right.EXPLAIN}),
    "admin": frozenset({Right.KEYS, Right.PRINCIPALS, Right.WEBHOOKS}),
    "platform": frozenset({Right.TENANTS}),
}

SINGLY = frozenset(
    {
        Right.ATTEST,
        Right.VERIFY,
        Right.ADVISE,
        Right.REPORT,
        Right.DECIDE_FOR,
        Right.SPEAK_FOR,
        Right.RECORD,
        Right.SPEND_READ,
        Right.SPEND_WRITE,
    }
)
"""The rights that may be given one by one; all others come with a bundle."""

WHILE_REVOKED = frozenset({Right.DECIDE, Right.ADMIT})
"""What a revoked principal keeps: it may ask, to be told that it is revoked, and report what it has already done."""


def of(bundles: Iterable[str], singly: Iterable[str]) -> frozenset[str]:
    """Return all rights that the bundles and the single rights give together."""
    given = {str(right) for bundle in bundles for right in BUNDLES[bundle]}
    return frozenset(given.union(singly))
