"""An approver's edit: other values for the same argument names, weighed as if the agent had sent them."""

from app.approvals.questions import Edit, Question, Verdict
from app.core import calls
from app.core.actions import Call, Caller
from app.core.authority import Objection
from app.core.canonical import canonical_json
from app.core.decision import Decision, decide
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.core.strict_json import pointer
from app.core.values import JsonObject
from app.gate import answers, asked, electorate, moves
from app.gate.lane import Lane


def edit_of(lane: Lane, question: Question, arguments: JsonObject | None) -> Edit | Refusal | None:
    """Return the edit that an approval is for, None for the call as it was sent, or why neither can be approved.

    All approvers approve the same values: the first approval says which.
    """
    edit = None if arguments is None else _edit(lane, question, arguments)
    if isinstance(edit, Refusal):
        return edit
    if question.counted(Verdict.APPROVE) and _key(edit) != _key(question.edit):
        detail = "others have approved this call with other values; approve the same ones, or deny it"
        return Refusal(RefusalKind.CONFLICT, detail, code=Objection.CONFLICT)
    return edit


def same_values(question: Question, arguments: JsonObject | None) -> bool:
    """Return whether an approval with these values, or with None those of the call, is for what was approved."""
    if question.call is None:
        return arguments is None
    sent = calls.from_json(question.call).action.arguments
    approved = sent if question.edit is None else question.edit.arguments or {}
    return canonical_json(sent if arguments is None else arguments) == canonical_json(approved)


def _edit(lane: Lane, question: Question, arguments: JsonObject) -> Edit | Refusal | None:
    sent = calls.from_json(question.call or {})
    strange = sorted(arguments.keys() ^ sent.action.arguments.keys())
    if strange:
        detail = "an edit gives values for the same argument names: all of them, and no others"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer=pointer(("arguments", strange[0])))
    if canonical_json(arguments) == canonical_json(sent.action.arguments):
        return None
    return _weigh(lane, question, calls.with_arguments(sent, arguments))


def _weigh(lane: Lane, question: Question, call: Call) -> Edit | Refusal:
    if lane.policy is None:
        return Refusal(RefusalKind.CONFLICT, "no policy is active, so nothing can be approved")
    weighed = asked.weigh(call, _requester(lane, question), lane.policy, lane.now)
    decision = decide(weighed.weighing.triggered, call.advice)
    if decision.outcome is Outcome.DENY:
        return _policy_denies(decision)
    return Edit(weighed.digest, weighed.key, moves.resolved(weighed.weighing), call.action.arguments)


def _policy_denies(decision: Decision) -> Refusal:
    return Refusal(
        RefusalKind.CONFLICT,
        "the policy denies the call with these values; approve others, or deny it",
        code=next(trigger.code for trigger in decision.triggered if trigger.outcome is Outcome.DENY),
        values={"triggered": answers.of_triggers(decision.triggered, sees_spend=False)},
    )


def _requester(lane: Lane, question: Question) -> Caller:
    """Return who asks, as its credential said when it asked."""
    asker, said = electorate.requester(lane, question.matter), question.caller
    return Caller(
        tenant=lane.tenant,
        principal=asker.principal,
        kind=asker.kind,
        owner=asker.owner,
        environment=str(said["environment"]),
        roles=_strings(said, "roles"),
        rights=_strings(said, "rights"),
    )


def _strings(said: JsonObject, name: str) -> frozenset[str]:
    values = said[name]
    return frozenset(map(str, values)) if isinstance(values, (list, tuple)) else frozenset()


def _key(edit: Edit | None) -> str | None:
    return None if edit is None else edit.key
