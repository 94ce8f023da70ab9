"""What a question looks like to whoever looks: its requester, somebody who may decide it, or somebody who watches."""

from dataclasses import dataclass
from datetime import datetime

from app.approvals.questions import NOBODY, Matter, Question, Status, Vote
from app.core.actions import Caller
from app.core.chain import timestamp
from app.core.summary import masked
from app.core.values import Json
from app.gate import electorate
from app.gate.electorate import Known
from app.policies import revisions


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks, at one moment, with the facts of that moment."""

    caller: Caller
    known: Known
    now: datetime

    def decides(self, matter: Matter) -> bool:
        """Return whether the viewer may vote on such a question, either way."""
        if not self.caller.may("approve"):
            return False
        return electorate.may_decide(self.known, matter, self.caller.principal, self.now)

    def sees(self, matter: Matter) -> bool:
        """Return whether such a question exists for the viewer."""
        return self.watches or matter.principal == self.caller.principal or self.decides(matter)

    @property
    def watches(self) -> bool:
        """Return whether the viewer reads every question: an operator or auditor, where approvers read their own."""
        wide = not self.caller.may("approve") or self.caller.may("audit:read") or self.caller.may("resolve")
        return self.caller.may("approvals:read") and wide

    def see(self, question: Question, delivery: str = "none") -> dict[str, Json] | None:
        """Return the question as the viewer may see it, or None if for this viewer it does not exist."""
        if self.decides(question.matter):
            return self._queue(question, delivery) | self._private(question)
        if self.watches:
            return self._queue(question, delivery)
        return self._asked(question) if question.principal == self.caller.principal else None

    def _asked(self, question: Question) -> dict[str, Json]:
        """What the requester sees: where it stands, who said what, and its edit."""
        edit = question.edit
        seen: dict[str, Json] = {
            "id": question.id,
            "status": status(question, self.now),
            "action": question.action,
            "digest": question.digest,
            "run_id": question.run_id,
            "created_at": timestamp(question.created_at),
            **_ends(question, self.now),
            "comment": question.comment,
            "admission_id": question.admission_id,
        }
        if edit is not None and question.status in {Status.APPROVED, Status.CONSUMED}:
            seen["edited_arguments"] = edit.arguments
        return seen

    def _queue(self, question: Question, delivery: str) -> dict[str, Json]:
        """What a queue and a transport may show."""
        tallies = electorate.tally(self.known, question, self.now)
        return {
            "id": question.id,
            "status": status(question, self.now),
            "action": question.action,
            "asset": question.resolved.asset,
            "digest": question.digest,
            "principal": question.principal,
            "owner": question.caller["owner"],
            "run_id": question.run_id,
            "labels": sorted(question.resolved.labels),
            "cost": question.resolved.written_cost,
            "reason": question.reason,
            "codes": list(question.codes),
            "summary": question.summary,
            "advice": [dict(said) for said in question.advice],
            "rules": [{"name": tally.rule, "quorum": tally.quorum, "have": tally.have} for tally in tallies],
            "votes": [_vote(vote) for vote in question.votes if not vote.refusal],
            "refused": [_vote(vote) | {"code": vote.refusal} for vote in question.votes if vote.refusal],
            "policy": revisions.named(question.policy_revision, question.policy_version, question.policy_digest),
            "created_at": timestamp(question.created_at),
            **_ends(question, self.now),
            "comment": question.comment,
            "delivery": delivery,
            "admission_id": question.admission_id,
        }

    def _private(self, question: Question) -> dict[str, Json]:
        """What only those who may decide the question see; nothing is left of it once it is erased."""
        seen: dict[str, Json] = {"shown": question.shown, "context": masked(question.context)}
        if question.call is not None:
            seen["arguments"] = _arguments(question)
        if question.edit is not None:
            edit, cost = question.edit, question.edit.resolved.written_cost
            seen |= {"edited_arguments": edit.arguments, "edited_digest": edit.digest, "edited_cost": cost}
        return seen


def status(question: Question, now: datetime) -> Status:
    """Return where the question stands now, whether or not a sweep has said so."""
    return Status.EXPIRED if question.overdue(now) else question.status


def _ends(question: Question, now: datetime) -> dict[str, Json]:
    timed_out = question.overdue(now) and question.status is Status.PENDING
    return {
        "expires_at": timestamp(question.expires_at),
        "use_before": _moment(question.use_before),
        "decided_at": _moment(question.expires_at if timed_out else question.decided_at),
        "decided_by": NOBODY if timed_out else question.decided_by or None,
    }


def _vote(vote: Vote) -> dict[str, Json]:
    return {
        "by": vote.voter,
        "cast_by": vote.cast_by,
        "basis": [dict(basis) for basis in vote.bases],
        "verdict": vote.verdict,
        "comment": vote.comment,
        "at": timestamp(vote.at),
    }


def _arguments(question: Question) -> Json:
    action = (question.call or {})["action"]
    return action["arguments"] if isinstance(action, dict) else None


def _moment(at: datetime | None) -> str | None:
    return None if at is None else timestamp(at)
