"""The one table from a route to the right that it takes. A route that is not here answers 403 to everybody."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from app.identity.rights import Right


class Freshness(Enum):
    """How recently the caller's authority must have been looked at when the request passes the door."""

    NOW = auto()
    """After the request came: for reads, and for changes that go past the desk."""
    SECOND = auto()
    """At most a second ago: for `decide`, which touches no database."""
    LANE = auto()
    """Ever: the desk looks again under the tenant's lock before it decides."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a route takes: one of these rights; none of them means any valid credential, None that it takes none.

    `records_refusals` tells that what is turned away there is recorded: it is where agents ask to act.
    """

    rights: frozenset[str] | None
    freshness: Freshness = Freshness.NOW
    records_refusals: bool = False

    def admits(self, held: frozenset[str]) -> bool:
        """Return whether somebody who holds these rights may pass."""
        return not self.rights or not self.rights.isdisjoint(held)


def _one_of(*rights: Right, freshness: Freshness = Freshness.NOW) -> Entry:
    return Entry(frozenset(rights), freshness)


def _asks() -> Entry:
    return Entry(frozenset({Right.ADMIT}), Freshness.LANE, records_refusals=True)


def _reports() -> Entry:
    return Entry(frozenset({Right.ADMIT, Right.REPORT}), Freshness.LANE, records_refusals=True)


PUBLIC: Final = Entry(None)
ANYBODY_KNOWN: Final = Entry(frozenset())

_READS_APPROVALS = _one_of(Right.ADMIT, Right.APPROVE, Right.APPROVALS_READ)
_READS_POLICY = _one_of(Right.POLICY_READ)
_EXPLAINS = _one_of(Right.EXPLAIN)
_LOOKS_AT_APPROVALS = _one_of(Right.APPROVE, Right.APPROVALS_READ)
# Whoever resolves what went wrong may look, on a page, at what was in force.
_LOOKS_AT_POLICY = _one_of(Right.POLICY_READ, Right.RESOLVE)

TABLE: Final[Mapping[tuple[str, str], Entry]] = MappingProxyType(
    {
        # agents
        ("POST", "/v1/decide"): _one_of(Right.DECIDE, freshness=Freshness.SECOND),
        ("POST", "/v1/admit"): _asks(),
        ("POST", "/v1/admissions"): _asks(),
        ("GET", "/v1/admissions"): _one_of(Right.ADMIT, Right.REPORT, Right.RESOLVE),
        ("GET", "/v1/admissions/{admission_id}"): _one_of(Right.ADMIT, Right.REPORT, Right.RESOLVE),
        ("POST", "/v1/admissions/{admission_id}/outcome"): _reports(),
        ("POST", "/v1/admissions/{admission_id}/extend"): _reports(),
        ("POST", "/v1/admissions/{admission_id}/resolve"): _one_of(Right.RESOLVE, freshness=Freshness.LANE),
        ("GET", "/v1/effects"): _one_of(Right.RESOLVE),
        ("POST", "/v1/runs/{run_id}/end"): _one_of(Right.ADMIT, freshness=Freshness.LANE),
        ("POST", "/v1/noop"): _one_of(Right.DECIDE, freshness=Freshness.LANE),
        # approvals
        ("POST", "/v1/approvals"): _asks(),
        ("GET", "/v1/approvals"): _READS_APPROVALS,
        ("GET", "/v1/approvals/events"): _READS_APPROVALS,
        ("GET", "/v1/approvals/{approval_id}"): _READS_APPROVALS,
        ("POST", "/v1/approvals/{approval_id}/decision"): _one_of(
            Right.APPROVE, Right.DECIDE_FOR, freshness=Freshness.LANE
        ),
        ("POST", "/v1/approvals/{approval_id}/cancel"): _one_of(Right.ADMIT, freshness=Freshness.LANE),
        ("GET", "/v1/delegations"): _one_of(Right.DELEGATE),
        ("POST", "/v1/delegations"): _one_of(Right.DELEGATE),
        ("DELETE", "/v1/delegations/{delegation_id}"): _one_of(Right.DELEGATE),
        ("POST", "/v1/verifications"): _one_of(Right.VERIFY),
        # grants
        ("GET", "/v1/grants"): _one_of(Right.ADMIT, Right.DELEGATE, Right.PRINCIPALS, Right.AUDIT_READ),
        ("POST", "/v1/grants"): _one_of(Right.PRINCIPALS),
        ("POST", "/v1/grants/{grant_id}/delegations"): _one_of(Right.ADMIT, Right.DELEGATE),
        ("DELETE", "/v1/grants/{grant_id}"): _one_of(Right.ADMIT, Right.DELEGATE, Right.PRINCIPALS),
        ("GET", "/v1/grants/required"): _one_of(Right.ADMIT, Right.DELEGATE, Right.PRINCIPALS, Right.AUDIT_READ),
        ("PUT", "/v1/grants/required"): _one_of(Right.PRINCIPALS),
        # spend
        ("GET", "/v1/spend"): _one_of(Right.SPEND_READ),
        ("GET", "/v1/spend/scope"): _one_of(Right.SPEND_READ),
        ("GET", "/v1/spend/entries"): _one_of(Right.SPEND_READ),
        ("POST", "/v1/spend/entries"): _one_of(Right.SPEND_WRITE, freshness=Freshness.LANE),
        ("POST", "/v1/spend/reservations"): _one_of(Right.SPEND_WRITE, freshness=Freshness.LANE),
        ("POST", "/v1/spend/reservations/{reservation_id}/settle"): _one_of(
            Right.SPEND_WRITE, freshness=Freshness.LANE
        ),
        ("POST", "/v1/spend/reservations/{reservation_id}/release"): _one_of(
            Right.SPEND_WRITE, freshness=Freshness.LANE
        ),
        # operators
        ("GET", "/v1/revocations"): _one_of(Right.REVOKE),
        ("POST", "/v1/revocations"): _one_of(Right.REVOKE),
        ("DELETE", "/v1/revocations/{revocation_id}"): _one_of(Right.REVOKE),
        ("GET", "/v1/webhooks"): _one_of(Right.WEBHOOKS),
        ("POST", "/v1/webhooks"): _one_of(Right.WEBHOOKS),
        ("GET", "/v1/webhooks/{webhook_id}"): _one_of(Right.WEBHOOKS),
        ("PATCH", "/v1/webhooks/{webhook_id}"): _one_of(Right.WEBHOOKS),
        ("DELETE", "/v1/webhooks/{webhook_id}"): _one_of(Right.WEBHOOKS),
        ("POST", "/v1/webhooks/{webhook_id}/rotate"): _one_of(Right.WEBHOOKS),
        ("GET", "/v1/webhooks/{webhook_id}/deliveries"): _one_of(Right.WEBHOOKS),
        ("POST", "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver"): _one_of(Right.WEBHOOKS),
        # policies
        ("GET", "/v1/policies"): _READS_POLICY,
        ("GET", "/v1/policies/{revision}"): _READS_POLICY,
        ("POST", "/v1/policies"): _one_of(Right.POLICY_WRITE),
        ("POST", "/v1/policies/{revision}/activate"): _one_of(Right.POLICY_ACTIVATE),
        ("GET", "/v1/policies/schema.json"): PUBLIC,
        ("GET", "/v1/policies/shadow"): _READS_POLICY,
        ("DELETE", "/v1/policies/shadow"): _one_of(Right.POLICY_ACTIVATE),
        ("POST", "/v1/policies/lint"): _READS_POLICY,
        ("POST", "/v1/policies/test"): _READS_POLICY,
        ("POST", "/v1/policies/coverage"): _READS_POLICY,
        ("POST", "/v1/policies/diff"): _READS_POLICY,
        ("POST", "/v1/policies/evaluate"): _EXPLAINS,
        ("POST", "/v1/policies/replay"): _EXPLAINS,
        # auditors
        ("GET", "/v1/audit/records"): _one_of(Right.AUDIT_READ),
        ("GET", "/v1/audit/export"): _one_of(Right.AUDIT_READ),
        ("GET", "/v1/audit/head"): _one_of(Right.AUDIT_READ),
        ("GET", "/v1/audit/keys"): _one_of(Right.AUDIT_READ),
        ("POST", "/v1/audit/verify"): _one_of(Right.AUDIT_READ),
        ("GET", "/v1/receipts/{audit_id}"): _one_of(Right.AUDIT_READ),
        # identity
        ("GET", "/v1/whoami"): ANYBODY_KNOWN,
        ("GET", "/v1/keys"): _one_of(Right.KEYS),
        ("POST", "/v1/keys"): _one_of(Right.KEYS),
        ("DELETE", "/v1/keys/{key_id}"): _one_of(Right.KEYS),
        ("POST", "/v1/keys/{key_id}/rotate"): _one_of(Right.KEYS),
        ("GET", "/v1/principals"): _one_of(Right.PRINCIPALS),
        ("POST", "/v1/principals"): _one_of(Right.PRINCIPALS),
        ("GET", "/v1/tenants"): _one_of(Right.TENANTS),
        ("POST", "/v1/tenants"): _one_of(Right.TENANTS),
        # the console
        ("GET", "/console/static/{name}"): PUBLIC,
        ("GET", "/console/sign-in"): PUBLIC,
        ("POST", "/console/sign-in"): PUBLIC,
        ("POST", "/console/sign-out"): ANYBODY_KNOWN,
        ("GET", "/console"): ANYBODY_KNOWN,
        ("GET", "/console/"): ANYBODY_KNOWN,
        ("GET", "/console/{rest}"): ANYBODY_KNOWN,
        ("GET", "/console/approvals"): _LOOKS_AT_APPROVALS,
        ("GET", "/console/events"): _LOOKS_AT_APPROVALS,
        ("GET", "/console/approvals/{approval_id}"): _LOOKS_AT_APPROVALS,
        ("POST", "/console/approvals/{approval_id}"): _one_of(Right.APPROVE),
        ("GET", "/console/approvals/{approval_id}/edit"): _one_of(Right.APPROVE),
        ("POST", "/console/approvals/{approval_id}/edit"): _one_of(Right.APPROVE),
        ("GET", "/console/history"): _LOOKS_AT_APPROVALS,
        ("GET", "/console/delegations"): _one_of(Right.DELEGATE),
        ("POST", "/console/delegations"): _one_of(Right.DELEGATE),
        ("POST", "/console/delegations/{delegation_id}/end"): _one_of(Right.DELEGATE),
        ("GET", "/console/admissions"): _one_of(Right.RESOLVE),
        ("GET", "/console/admissions/{admission_id}"): _one_of(Right.RESOLVE),
        ("POST", "/console/admissions/{admission_id}"): _one_of(Right.RESOLVE),
        ("GET", "/console/spend"): _one_of(Right.SPEND_READ),
        ("GET", "/console/spend/scope"): _one_of(Right.SPEND_READ),
        ("GET", "/console/policy"): _LOOKS_AT_POLICY,
        ("GET", "/console/policy/{revision}"): _LOOKS_AT_POLICY,
        ("GET", "/console/record"): _one_of(Right.AUDIT_READ),
        ("POST", "/console/record/verify"): _one_of(Right.AUDIT_READ),
        # the service
        ("GET", "/health"): PUBLIC,
        ("GET", "/healthz"): PUBLIC,
        ("GET", "/readyz"): PUBLIC,
        ("GET", "/metrics"): PUBLIC,
        ("GET", "/problems/{kind}"): PUBLIC,
        ("GET", "/.well-known/jwks.json"): PUBLIC,
    }
)


EXPLAINED: Final[Mapping[tuple[str, str], Entry]] = MappingProxyType(
    {("POST", "/v1/decide"): _one_of(Right.EXPLAIN, freshness=Freshness.SECOND)}
)
"""What a route takes instead when it is asked with `?explain=true`, for every rule and check with what it saw."""


def entry_of(method: str, path: str, *, explained: bool = False) -> Entry | None:
    """Return what a route takes, by its method and the template of its path; None lets nobody through."""
    entry = EXPLAINED.get((method, path)) if explained else None
    return entry or TABLE.get((method, path))
