"""Withdrawing questions: one by who asked it, and all of a run with its end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.approvals.questions import Status, Withdrawal
from app.core.refusals import Refusal, RefusalKind
from app.gate import moves
from app.gate.authorisation import authorise
from app.gate.lane import Lane
from app.gate.question_views import Viewer
from app.gate.vote import not_found


@dataclass(frozen=True, slots=True)
class Cancel:
    """Who asked takes its question back; possible until the approval is used."""

    id: str
    credential_id: str
    question_id: str

    def wants(self, lane: Lane) -> None:
        """Ask for the question."""
        lane.approvals.want(self.question_id)

    def run(self, lane: Lane) -> Mapping[str, Any] | Refusal:
        """Cancel it; again is fine."""
        caller = authorise(lane, self.credential_id, "admit")
        if isinstance(caller, Refusal):
            return caller
        question = lane.approvals.get(self.question_id)
        if question is None or question.principal != caller.principal:
            return not_found(self.question_id)
        moves.meet(lane, question)
        if question.open:
            moves.cancel(lane, question, caller.principal, Withdrawal.BY_REQUESTER)
        elif question.status is not Status.CANCELLED:
            detail = f"only a pending or approved question can be cancelled, and this one is {question.status}"
            return Refusal(RefusalKind.CONFLICT, detail, values={"state": question.status})
        return Viewer(caller, lane, lane.now).see(question) or {}


@dataclass(frozen=True, slots=True)
class EndRun:
    """A run of the caller's is over: its questions are cancelled, and nothing of it is redeemed any more."""

    id: str
    credential_id: str
    run_id: str

    def wants(self, lane: Lane) -> None:
        """Ask for the run's open questions. Whose run it is depends on the credential, as it stands under the lock."""
        caller = authorise(lane, self.credential_id, "admit")
        if not isinstance(caller, Refusal):
            lane.approvals.want_run(caller.principal, self.run_id)

    def run(self, lane: Lane) -> Mapping[str, Any] | Refusal:
        """End it; again is fine."""
        caller = authorise(lane, self.credential_id, "admit")
        if isinstance(caller, Refusal):
            return caller
        cancelled = []
        for question in lane.approvals.of_run(caller.principal, self.run_id):
            if moves.meet(lane, question).open:
                moves.cancel(lane, question, caller.principal, Withdrawal.RUN_ENDED)
                cancelled.append(question.id)
        lane.approvals.end_run(caller.principal, self.run_id)
        return {"run_id": self.run_id, "cancelled": cancelled}
