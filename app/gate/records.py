"""What the record says of a call: a digest and a typed summary, never an argument."""

from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

from app.core.actions import Caller
from app.core.codes import Trigger
from app.core.decision import Decision
from app.core.money import format_amount
from app.core.summary import summarise
from app.core.values import Json
from app.effects.admissions import Admission
from app.gate.asked import Asked
from app.spend.book import SpendBook


def recordable(value: Json) -> Json:
    """Return the value with its fractions as strings, since a record holds none."""
    if isinstance(value, float):
        return rfc8785.dumps(value).decode("ascii")
    if isinstance(value, Mapping):
        return {key: recordable(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [recordable(element) for element in value]
    return value


def of_triggers(triggers: Sequence[Trigger]) -> list[Json]:
    """Return the checks that fired with all their values: an auditor may see totals."""
    return [
        {
            "code": trigger.code,
            "outcome": trigger.outcome,
            "message": trigger.message,
            **{name: recordable(value) for name, value in {**trigger.values, **trigger.private}.items()},
        }
        for trigger in triggers
    ]


def of_call(request_id: str, asked: Asked) -> dict[str, Json]:
    """Return what a record says of a call, whatever was answered."""
    action, weighing = asked.call.action, asked.weighing
    return {
        "request_id": request_id,
        **of_caller(asked.caller),
        "action": action.name,
        "asset": weighing.asset,
        "digest": asked.digest,
        "summary": summarise(action.arguments),
        "labels": list(weighing.labels),
        "environment": weighing.environment,
        "kind": weighing.kind,
        "blast_radius": weighing.blast_radius,
        "cost": of_money(asked),
        "run_id": asked.call.run_id,
        "policy": asked.policy.named,
    }


def of_caller(caller: Caller) -> dict[str, Json]:
    """Return who asked."""
    return {"principal": caller.principal, "owner": caller.owner, "principal_kind": caller.kind}


def of_money(asked: Asked) -> dict[str, Json] | None:
    """Return what the call costs and the scopes that it counts on, or None if it costs nothing."""
    cost = asked.weighing.cost
    if cost is None:
        return None
    return {**cost.as_json(), "scopes": list(asked.weighing.scopes)}


def of_decision(decision: Decision) -> dict[str, Json]:
    """Return the outcome, the checks that fired, and the advice that was weighed."""
    said: dict[str, Json] = {
        "outcome": decision.outcome,
        "reason": decision.reason,
        "triggered": of_triggers(decision.triggered),
    }
    if decision.advised_outcome is not None:
        said["policy_outcome"] = decision.policy_outcome
        said["advised_outcome"] = decision.advised_outcome
        said["escalated"] = decision.escalated
    return said


def of_admission(admission: Admission) -> dict[str, Json]:
    """Return what a record says of an admission."""
    return {
        "admission_id": admission.id,
        "principal": admission.principal,
        "action": admission.action,
        "digest": admission.digest,
        "effects": list(admission.effects),
        "attempt": admission.attempt,
        "state": admission.state,
        **_held(admission),
    }


def _held(admission: Admission) -> dict[str, Any]:
    return {
        "held": {
            "amount": format_amount(admission.amount),
            "currency": admission.currency,
            "scopes": list(admission.scopes),
            **({"budgets": list(admission.budgets)} if admission.budgets else {}),
        }
    }


def of_totals(spend: SpendBook, scopes: Sequence[str], currency: str) -> list[Json]:
    """Return what is held and was ever spent on each scope after this, in a currency."""
    sums = ((scope, spend.sums(scope, currency)) for scope in scopes)
    return [
        {"scope": scope, "held": format_amount(found.held), "spent": format_amount(found.spent)}
        for scope, found in sums
    ]
