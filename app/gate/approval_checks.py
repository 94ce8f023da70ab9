"""Why people's answer to a question does not let a call run, each by its code (SEMANTICS sections 5 and 10)."""

from collections.abc import Callable, Mapping
from typing import Final

from app.approvals.questions import Question, Status
from app.core.chain import timestamp
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.values import Json
from app.gate import moves
from app.gate.asked import Asked

MISMATCH: Final = Trigger(Code.APPROVAL_MISMATCH, Outcome.DENY, "there is no approval of this call with this id")
RUN_ENDED: Final = Trigger(Code.RUN_ENDED, Outcome.DENY, "the run has ended, and its approvals with it")


def too_many(most: int) -> Trigger:
    """Return the refusal of a question beyond those that a principal may have open."""
    message = f"{most} questions of this principal are open; wait for one, or cancel it"
    return Trigger(Code.TOO_MANY_QUESTIONS, Outcome.DENY, message)


def unusable(question: Question) -> Trigger:
    """Return why a question that is not approved cannot be redeemed."""
    return _BY_STATUS[question.status](question)


def denied(question: Question) -> Trigger:
    """Return the refusal of a call that a person has denied, and how long that stands."""
    said: dict[str, Json] = {"decided_by": question.decided_by, "comment": question.comment}
    values = {**_named(question), **said, "until": timestamp(question.expires_at)}
    return Trigger(Code.APPROVAL_DENIED, Outcome.DENY, "a person has denied this call", values)


def edited(question: Question) -> Trigger:
    """Return the refusal of a call in whose place other values were approved."""
    return _deny(Code.APPROVAL_EDITED, "other values were approved; send the call with those", question)


def consumed(approval_id: str | None, admission_id: str | None) -> Trigger:
    """Return the refusal of a call whose approval an admission has used up."""
    said: dict[str, Json] = {"approval_id": approval_id, "admission_id": admission_id}
    return Trigger(Code.APPROVAL_CONSUMED, Outcome.DENY, "the approval of this call is used up", said)


def insufficient(question: Question) -> Trigger:
    """Return what holds a call again whose approvals, counted today, are too few."""
    message = "counted again today, not enough people with authority have approved; it is with them once more"
    return Trigger(Code.APPROVAL_INSUFFICIENT, Outcome.REQUIRE_HUMAN, message, _named(question))


def precondition(asked: Asked, question: Question) -> Trigger | None:
    """Return why the state that people saw is not known to be the state now; an empty fingerprint is one not taken."""
    sent = asked.call.precondition
    if question.precondition is None or sent == question.precondition:
        return None
    if sent is None:
        return _deny(Code.PRECONDITION_MISSING, "the approval is bound to a precondition, and none was sent", question)
    if not sent:
        return _deny(Code.PRECONDITION_UNAVAILABLE, "the precondition could not be taken", question)
    return _deny(Code.PRECONDITION_CHANGED, "the resource is not in the state that was approved", question)


def exceeds(asked: Asked, question: Question) -> Trigger | None:
    """Return the refusal of a call of which the policy now makes more than people have approved."""
    more = question.approved_form.exceeded_by(moves.resolved(asked.weighing))
    if more is None:
        return None
    message = f"the policy now makes more of this call than was approved: {more}"
    return Trigger(Code.APPROVAL_MISMATCH, Outcome.DENY, message, {**_named(question), "exceeds": more})


def _pending(question: Question) -> Trigger:
    return Trigger(Code.APPROVAL_PENDING, Outcome.REQUIRE_HUMAN, "people have not decided yet", _named(question))


def _expired(question: Question) -> Trigger:
    return _deny(Code.APPROVAL_EXPIRED, "this approval ran out before it was given or used", question)


def _cancelled(question: Question) -> Trigger:
    return _deny(Code.APPROVAL_CANCELLED, f"this approval was withdrawn: {question.comment}", question)


def _superseded(question: Question) -> Trigger:
    return _deny(Code.APPROVAL_SUPERSEDED, "the policy has allowed this call by itself in the meantime", question)


_BY_STATUS: Final[Mapping[Status, Callable[[Question], Trigger]]] = {
    Status.PENDING: _pending,
    Status.DENIED: denied,
    Status.EXPIRED: _expired,
    Status.CANCELLED: _cancelled,
    Status.SUPERSEDED: _superseded,
    Status.CONSUMED: lambda question: consumed(question.id, question.admission_id),
}


def _deny(code: Code, message: str, question: Question) -> Trigger:
    return Trigger(code, Outcome.DENY, message, _named(question))


def _named(question: Question) -> dict[str, Json]:
    return {"approval_id": question.id}
