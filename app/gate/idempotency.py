"""The same request under the same idempotency key: the stored admission again, and never a second licence."""

import json
from typing import Any

from app.core.actions import Caller
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.effects.admissions import Admission, State
from app.gate import answers, lapses, leave, records
from app.gate.answers import Answer
from app.gate.authorisation import revoked
from app.gate.lane import Lane

_CLOSED = {
    State.EXECUTED: (Code.EFFECT_ALREADY_DONE, "this request was admitted before, and its effect has happened"),
    State.UNKNOWN: (Code.EFFECT_UNKNOWN, "this request was admitted before, and what came of it is unknown"),
    State.NOT_EXECUTED: (Code.ADMISSION_CLOSED, "this request was admitted before, and reported as not executed"),
}


def replay(lane: Lane, caller: Caller, admission: Admission, request_digest: str) -> Answer | Refusal:
    """Answer with the stored admission: allowed only while it is open, nothing is revoked, and its grant stands."""
    if admission.request_digest != request_digest:
        return Refusal(
            RefusalKind.IDEMPOTENCY_CONFLICT,
            "this idempotency key was used for another request; send that one, or use a new key",
            values={"admission_id": admission.id},
        )
    lapses.meet(lane, admission)
    body: dict[str, Any] = json.loads(admission.answer) | {"replayed": True}
    trigger = _why_not(lane, caller, admission)
    if trigger is not None:
        body |= _denied(body, trigger, caller)
    seq = lane.journal.append(
        "admission.replayed",
        {
            **records.of_caller(caller),
            **records.of_admission(admission),
            "allowed": trigger is None,
            "triggered": records.of_triggers([trigger] if trigger else []),
        },
        principal=caller.principal,
        action=admission.action,
    )
    return Answer(body | {"audit_id": answers.audit_id(lane.tenant, seq)})


def _why_not(lane: Lane, caller: Caller, admission: Admission) -> Trigger | None:
    stopped = revoked(lane.authority, caller.principal, admission.action) or leave.lost(lane, admission)
    if stopped is not None or admission.open(lane.now):
        return stopped
    code, message = _CLOSED[admission.state]
    return Trigger(code, Outcome.DENY, message, {"admission_id": admission.id, "state": admission.state})


def _denied(body: dict[str, Any], trigger: Trigger, caller: Caller) -> dict[str, Any]:
    # What permits is taken out whole: a permit or a provider's token would be a second licence.
    body.pop("decision_token", None)
    return {
        "outcome": Outcome.DENY,
        "allowed": False,
        "reason": trigger.message,
        "checks": [trigger.message],
        "triggered": answers.of_triggers([trigger], sees_spend=caller.may("spend:read")),
        "admission": None,
    }
