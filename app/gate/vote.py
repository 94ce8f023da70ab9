"""Voting: a person's yes or no to one question."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from app.approvals.questions import Edit, Question, Status, Verdict, Vote
from app.core.actions import Caller
from app.core.authority import Ballot, Entitlement, Objection
from app.core.refusals import Refusal, RefusalKind
from app.core.values import JsonObject
from app.gate import edits, electorate, moves
from app.gate.authorisation import forbidden, identify
from app.gate.lane import Lane
from app.gate.question_views import Viewer

_MOST_REFUSED: Final = 50
"""How many refused votes a question keeps: a bridge that names people at random cannot fill the record."""


@dataclass(frozen=True, slots=True)
class CastVote:
    """One vote. `arguments` are an approver's own values for the call; `on_behalf_of` the human whom a bridge names."""

    id: str
    credential_id: str
    question_id: str
    verdict: Verdict
    comment: str = ""
    arguments: JsonObject | None = None
    on_behalf_of: str | None = None

    def wants(self, lane: Lane) -> None:
        """Ask for the question and its votes."""
        lane.approvals.want(self.question_id)

    def run(self, lane: Lane) -> Mapping[str, Any] | Refusal:
        """Count the vote, or keep it as refused; the question is decided as soon as it can be."""
        caller = identify(lane, self.credential_id)
        if isinstance(caller, Refusal):
            return caller
        ballot = Ballot(self.on_behalf_of or caller.principal, caller.principal)
        right = "decide_for" if ballot.bridged else "approve"
        if not caller.may(right):
            return forbidden(right)
        question = lane.approvals.get(self.question_id)
        if question is None:
            return not_found(self.question_id)
        moves.meet(lane, question)
        refusal = self._vote(lane, question, ballot)
        return refusal or _seen(lane, caller, question)

    def _vote(self, lane: Lane, question: Question, ballot: Ballot) -> Refusal | None:
        entitled = self._entitled(lane, question, ballot)
        if entitled.refusal is not None:
            return self._refused(lane, question, ballot, _objection(entitled.refusal))
        before = question.vote_of(ballot.voter)
        if before is None and question.status is Status.PENDING:
            return self._first_vote(lane, question, ballot)
        if not self._repeats(question, before):
            return self._contradicts(lane, question, ballot)
        if before is not None and self.verdict is Verdict.APPROVE:
            _approve_if_reached(lane, question, before)
        return None

    def _first_vote(self, lane: Lane, question: Question, ballot: Ballot) -> Refusal | None:
        edit = self._edit(lane, question)
        if isinstance(edit, Refusal):
            return self._refused(lane, question, ballot, edit)
        entitled = self._entitled(lane, replace(question, edit=edit), ballot)
        if entitled.refusal is not None:
            return self._refused(lane, question, ballot, _objection(entitled.refusal))
        self._count(lane, question, ballot, entitled, edit)
        return None

    def _entitled(self, lane: Lane, question: Question, ballot: Ballot) -> Entitlement:
        people = electorate.of(lane, question.matter, lane.now)
        return people.entitle_denial(ballot) if self.verdict is Verdict.DENY else people.entitle_approval(ballot)

    def _edit(self, lane: Lane, question: Question) -> Edit | Refusal | None:
        """Return what is approved, or why it cannot be; a denial is of the call however others would edit it."""
        if self.verdict is Verdict.APPROVE:
            return edits.edit_of(lane, question, self.arguments)
        if self.arguments is None:
            return question.edit
        return Refusal(RefusalKind.BAD_INPUT, "only an approval may give other values", pointer="/arguments")

    def _repeats(self, question: Question, before: Vote | None) -> bool:
        """Return whether this says what was said: by the same person, or by those who have decided already."""
        if before is None and question.status not in _DECIDED[self.verdict]:
            return False
        same_verdict = before is None or before.verdict is self.verdict
        return same_verdict and (self.verdict is Verdict.DENY or edits.same_values(question, self.arguments))

    def _contradicts(self, lane: Lane, question: Question, ballot: Ballot) -> Refusal:
        detail = f"this contradicts what was said before, and the question is {question.status}"
        refusal = Refusal(RefusalKind.CONFLICT, detail, Objection.CONFLICT, values={"state": question.status})
        return self._refused(lane, question, ballot, refusal)

    def _refused(self, lane: Lane, question: Question, ballot: Ballot, refusal: Refusal) -> Refusal:
        """Keep a vote that does not count, once; what is only malformed is no vote."""
        vote = self._as_vote(lane, ballot, refusal=refusal.code)
        kept = [(seen.ballot, seen.verdict, seen.refusal) for seen in question.votes if seen.refusal]
        if refusal.code and len(kept) < _MOST_REFUSED and (vote.ballot, vote.verdict, vote.refusal) not in kept:
            moves.cast(lane, question, vote)
        return refusal

    def _count(self, lane: Lane, question: Question, ballot: Ballot, entitled: Entitlement, edit: Edit | None) -> None:
        if _key(edit) != _key(question.edit):
            question.edit = edit
            moves.record_edit(lane, question, ballot.by)
        bases = tuple({"rule": basis.rule, "ground": basis.ground, "lender": basis.lender} for basis in entitled.bases)
        vote = replace(self._as_vote(lane, ballot), bases=bases, edited_key=_key(edit))
        moves.cast(lane, question, vote)
        if self.verdict is Verdict.DENY:
            moves.deny(lane, question, vote)
        else:
            _approve_if_reached(lane, question, vote)

    def _as_vote(self, lane: Lane, ballot: Ballot, refusal: str = "") -> Vote:
        return Vote(ballot.voter, ballot.by, self.verdict, lane.now, self.comment, refusal=refusal)


def _approve_if_reached(lane: Lane, question: Question, last: Vote) -> None:
    """Approve what waits if there are enough: rules and roles change, so a vote said again may be enough today."""
    if question.status is Status.PENDING and electorate.reached(lane, question, lane.now):
        moves.approve(lane, question, last)


def not_found(question_id: str) -> Refusal:
    """Return the answer to an id that does not exist, or not for this caller."""
    return Refusal(RefusalKind.NOT_FOUND, f"there is no approval {question_id}")


def _seen(lane: Lane, caller: Caller, question: Question) -> Mapping[str, Any]:
    seen = Viewer(caller, lane, lane.now).see(question)
    return seen or {"id": question.id, "status": question.status}


def _key(edit: Edit | None) -> str | None:
    return None if edit is None else edit.key


def _objection(code: Objection) -> Refusal:
    return Refusal(RefusalKind.FORBIDDEN, _WHY[code], code=code)


_DECIDED = {Verdict.APPROVE: {Status.APPROVED, Status.CONSUMED}, Verdict.DENY: {Status.DENIED}}

_WHY = {
    Objection.SELF_GRANTED: "who asked cannot decide, by whatever name; somebody else has to",
    Objection.NO_AUTHORITY: "no approver rule gives you this question, by name, by role or by delegation",
}
