"""The answer to a call: the body that an agent reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core.chain import timestamp
from app.core.codes import Trigger
from app.core.decision import Decision
from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.values import Json
from app.effects.admissions import Admission
from app.gate.asked import Asked


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a call. `body` is the wire form; `allowed` is true only for an admission that permits."""

    body: Mapping[str, Any]

    @property
    def allowed(self) -> bool:
        """Return whether the caller may run exactly what it sent."""
        return bool(self.body["allowed"])


def of_triggers(triggers: Sequence[Trigger], *, sees_spend: bool) -> list[Json]:
    """Return the checks that fired; stored totals only to those who may read spend."""
    return [
        {
            "code": trigger.code,
            "outcome": trigger.outcome,
            "message": trigger.message,
            **trigger.values,
            **(trigger.private if sees_spend else {}),
        }
        for trigger in triggers
    ]


def of_decision(asked: Asked, decision: Decision) -> dict[str, Any]:
    """Return the part of an answer that every decision has; nothing is allowed yet."""
    body: dict[str, Any] = {
        "outcome": decision.outcome,
        "allowed": False,
        "reason": decision.reason,
        "checks": [trigger.message for trigger in decision.triggered],
        "triggered": of_triggers(decision.triggered, sees_spend=asked.caller.may("spend:read")),
        "labels": list(asked.weighing.labels),
        "action_digest": asked.digest,
        "policy": asked.policy.named,
        "policy_fingerprint": asked.policy.policy.digest,
        "approval_id": None,
        "audit_id": None,
        "admission": None,
    }
    if decision.outcome is not Outcome.ALLOW:
        message = asked.weighing.message_for(decision.outcome)
        if message is not None:
            body["message"] = message
    if decision.advised_outcome is not None:
        body["policy_outcome"] = decision.policy_outcome
        body["advised_outcome"] = decision.advised_outcome
        body["escalated"] = decision.escalated
    return body


def without_policy(decision: Decision) -> dict[str, Any]:
    """Return the answer to a call that no policy could weigh."""
    return {
        "outcome": decision.outcome,
        "allowed": False,
        "reason": decision.reason,
        "checks": [trigger.message for trigger in decision.triggered],
        "triggered": of_triggers(decision.triggered, sees_spend=False),
        "labels": [],
        "action_digest": None,
        "policy": None,
        "policy_fingerprint": None,
        "approval_id": None,
        "audit_id": None,
        "admission": None,
    }


def resolved(asked: Asked) -> dict[str, Json]:
    """Return what the policy made of the call: for `evaluate`, and for an explanation."""
    weighing = asked.weighing
    return {
        "environment": weighing.environment,
        "kind": weighing.kind,
        "tags": list(weighing.tags),
        "blast_radius": weighing.blast_radius,
        "asset": weighing.asset,
        "cost": None if weighing.cost is None else weighing.cost.as_json(),
        "effect": list(weighing.effects),
        "spend": list(weighing.scopes),
    }


def of_admission(admission: Admission, provider_token: str) -> dict[str, Json]:
    """Return the part of an answer that permits."""
    return {
        "id": admission.id,
        "expires_at": timestamp(admission.expires_at),
        "attempt": admission.attempt,
        "effect": list(admission.effects),
        "provider_token": provider_token,
    }


def audit_id(tenant: str, seq: int) -> str:
    """Return the name of a record: `<tenant>/<seq>`."""
    return f"{tenant}/{seq}"


def view(admission: Admission, now: datetime) -> dict[str, Json]:
    """Return an admission as those who may see it read it; an ended lease is unknown even before a sweep says so."""
    return {
        "id": admission.id,
        "kind": admission.kind,
        "state": "unknown" if admission.lapsed(now) else admission.state,
        "principal": admission.principal,
        "action": admission.action,
        "asset": admission.asset,
        "action_digest": admission.digest,
        "effect": list(admission.effects),
        "attempt": admission.attempt,
        "spend": list(admission.scopes),
        "cost": Money(admission.amount, admission.currency).as_json() if admission.currency else None,
        "actual_cost": _actual_cost(admission),
        "created_at": timestamp(admission.created_at),
        "expires_at": timestamp(admission.expires_at),
        "closed_at": None if admission.closed_at is None else timestamp(admission.closed_at),
        "detail": admission.detail,
        "result_digest": admission.result_digest,
        "resolved": admission.resolved,
        "run_id": admission.run_id,
        "approval_id": admission.approval_id,
    }


def _actual_cost(admission: Admission) -> dict[str, Json] | None:
    return None if admission.actual is None else Money(admission.actual, admission.actual_currency).as_json()
