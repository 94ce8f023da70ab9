"""An approver's edit: other values for the same argument names, weighed as if the agent had sent them."""

from app.approvals import calls
from app.approvals.questions import Edit, Question, Verdict
from app.core.actions import Caller
from app.core.authority import Objection
from app.core.canonical import canonical_json
from app.core.decision import decide
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.core.strict_json import pointer
from app.core.values import JsonObject
from app.gate import answers, asked, moves
from app.gate.lane import Lane


def edit_of(lane: Lane, question: Question, arguments: JsonObject | None) -> Edit | Refusal | None:
    """Return the edit that an approval is for, None for the call as it was sent, or why it cannot be approved.

    All approvers approve the same values: the first approval says which.
    """
    approved = bool(question.counted(Verdict.APPROVE))
    if arguments is None:
        return _conflict(question) if approved and question.edit is not None else None
    call = calls.from_json(question.call or {})
    strange = sorted(arguments.keys() ^ call.action.arguments.keys())
    if strange:
        detail = "an edit gives other values for the same argument names, all of them and no others"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer=pointer(("arguments", strange[0])))
    if canonical_json(arguments) == canonical_json(call.action.arguments):
        return _conflict(question) if approved and question.edit is not None else None
    edit = _weigh(lane, question, arguments)
    if isinstance(edit, Edit) and approved and (question.edit is None or question.edit.key != edit.key):
        return _conflict(question)
    return edit


def _weigh(lane: Lane, question: Question, arguments: JsonObject) -> Edit | Refusal:
    """Weigh the edited call for who asked; a policy's deny refuses the edit."""
    if lane.policy is None:
        return Refusal(RefusalKind.CONFLICT, "no policy is active, so nothing can be approved")
    call = calls.with_arguments(calls.from_json(question.call or {}), arguments)
    weighed = asked.weigh(call, _requester(lane, question), lane.policy, lane.now)
    decision = decide(weighed.weighing.triggered, call.advice)
    if decision.outcome is Outcome.DENY:
        fired = answers.of_triggers(decision.triggered, sees_spend=False)
        detail = "the policy denies the call with these values; approve others, or deny it"
        return Refusal(RefusalKind.CONFLICT, detail, code=_strongest(decision.triggered), values={"triggered": fired})
    return Edit(weighed.digest, weighed.key, moves.resolved(weighed.weighing), arguments)
