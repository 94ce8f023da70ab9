"""Redemption: what people have said about a call, and whether an admission may use it.

`want` before the group is read; then `kept_advice`, so that leaving advice out does not undo a person's no; then
`consult` with what policy, advice, spend and effects decide. It opens, supersedes or uses up the call's question, with
its record, and says which decision stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.approvals.questions import Question, Status
from app.core.actions import Advice
from app.core.chain import timestamp
from app.core.codes import Code, Trigger
from app.core.decision import Decision, with_check
from app.core.outcomes import Outcome
from app.core.values import Json
from app.gate import approval_checks, electorate, moves
from app.gate.asked import Asked
from app.gate.lane import Lane


@dataclass(frozen=True, slots=True)
class Consent:
    """The decision that stands after people were heard, and the question that they were asked.

    `consumed` is the approval that was used up: the call must now be admitted, under the id that was given.
    `superseded` are questions that the policy has answered by itself.
    """

    decision: Decision
    question: Question | None = None
    opened: bool = False
    consumed: str | None = None
    superseded: tuple[str, ...] = ()

    @property
    def said(self) -> Mapping[str, Json]:
        """Return the members that the answer adds."""
        question = self.question
        return {} if question is None else {"approval_id": question.id, "approval": of_question(question)}

    @property
    def recorded(self) -> Mapping[str, Json]:
        """Return the members that the record of the call adds: who stood by it, and never an argument."""
        if self.question is None:
            return {"superseded": list(self.superseded)} if self.superseded else {}
        seen = {name: value for name, value in of_question(self.question).items() if name != "arguments"}
        return {"approval": {"id": self.question.id, **seen, "voters": _voters(self.question)}}


def want(lane: Lane, asked: Asked) -> None:
    """Ask for everything that people could have said about the call."""
    call, principal = asked.call, asked.caller.principal
    lane.approvals.want_call(asked.key)
    lane.effects.want_digest(asked.digest)
    if call.approval_id is not None:
        lane.approvals.want(call.approval_id)
    if call.run_id is not None:
        lane.approvals.want_run(principal, call.run_id)
    lane.approvals.want_open_of(principal)


def kept_advice(lane: Lane, asked: Asked) -> tuple[Advice, ...]:
    """Return the advice that opened the call's live question and that the call does not bring again."""
    live = (found for found in _about(lane, asked) if found.live(lane.now) or found.stands_denied(lane.now))
    kept = (
        Advice(Outcome(str(said["outcome"])), str(said["by"]), str(said["note"]))
        for question in live
        for said in question.advice
    )
    return tuple(advice for advice in dict.fromkeys(kept) if advice not in asked.call.advice)


def consult(lane: Lane, asked: Asked, decision: Decision, admission_id: str) -> Consent:
    """Return what stands. An approval that is used up is used up for `admission_id`."""
    hearing = _Hearing.of(lane, asked, decision)
    denial = next((question for question in hearing.about if question.stands_denied(lane.now)), None)
    if denial is not None:
        return hearing.refused(approval_checks.denied(denial), denial)
    if asked.call.approval_id is not None:
        return hearing.redeeming(asked.call.approval_id, admission_id)
    return hearing.asking(admission_id)


def ask(lane: Lane, asked: Asked, decision: Decision) -> Consent:
    """Return the call's live question, or open it where the policy wants people; nothing is used up."""
    hearing = _Hearing.of(lane, asked, decision)
    live = next((found for found in hearing.about if found.answers(asked.digest, lane.now)), None)
    if live is not None or decision.outcome is not Outcome.REQUIRE_HUMAN:
        return Consent(decision, live)
    return hearing.held("")


@dataclass(frozen=True, slots=True)
class _Hearing:
    """One call before its people: what is decided without them, and every question that is about it."""

    lane: Lane
    asked: Asked
    decision: Decision
    about: list[Question]

    @classmethod
    def of(cls, lane: Lane, asked: Asked, decision: Decision) -> "_Hearing":
        """Return the hearing of a call; questions whose time is over have expired by then."""
        return cls(lane, asked, decision, [moves.meet(lane, question) for question in _about(lane, asked)])

    def redeeming(self, approval_id: str, admission_id: str) -> Consent:
        """Use the approval of this id, or say by name why not; nothing is opened."""
        question = self.lane.approvals.get(approval_id)
        if question is None or question.principal != self.asked.caller.principal:
            return self.refused(approval_checks.MISMATCH)
        objection = self._objection(moves.meet(self.lane, question))
        if objection is None or (self.decision.outcome is Outcome.ALLOW and objection.code in _OVERTAKEN):
            return self._settled(question, admission_id)
        return self.refused(objection, question)

    def _objection(self, question: Question) -> Trigger | None:
        """Return why an approval cannot be used for this call."""
        if self._run_ended() or question.ended_with_its_run:
            return approval_checks.RUN_ENDED
        if question.status is Status.CANCELLED:
            # Said before the digests are compared: another version label cancels, and changes the digest too.
            return approval_checks.unusable(question)
        if not _is_about(question, self.asked):
            return approval_checks.MISMATCH
        if question.status is Status.APPROVED:
            return None if question.approves(self.asked.digest) else approval_checks.edited(question)
        return approval_checks.unusable(question)

    def asking(self, admission_id: str) -> Consent:
        """Let whatever people have said about the call count, and if that is nothing, ask them."""
        if self.decision.outcome is Outcome.ALLOW:
            return self._allowed()
        if self.decision.outcome is Outcome.DENY:
            return Consent(self.decision)
        return self.held(admission_id)

    def held(self, admission_id: str) -> Consent:
        """Use the approval that there is, or wait for the one that was asked for, or ask."""
        if self._run_ended():
            return self.refused(approval_checks.RUN_ENDED)
        digest, now = self.asked.digest, self.lane.now
        approved = next((found for found in self.about if found.may_be_used_for(digest)), None)
        if approved is not None:
            return self._settled(approved, admission_id)
        replaced = next((found for found in self.about if found.replaced_call(self.asked.key, now)), None)
        if replaced is not None:
            return self.refused(approval_checks.edited(replaced), replaced)
        admission = self.lane.effects.open_of_digest(digest)
        if admission is not None:
            return self.refused(approval_checks.consumed(admission.approval_id, admission.id))
        return self._waiting()

    def _waiting(self) -> Consent:
        lane, asked, decision = self.lane, self.asked, self.decision
        pending = next((found for found in self.about if found.waits_for(asked.digest)), None)
        if pending is not None:
            moves.add_labels(lane, pending, asked.weighing)
            return Consent(decision, pending)
        most = lane.defaults.live_questions
        if lane.approvals.open_count(asked.caller.principal) >= most:
            return self.refused(approval_checks.too_many(most))
        return Consent(decision, moves.open_for(lane, asked, decision), opened=True)

    def _settled(self, question: Question, admission_id: str) -> Consent:
        """Use an approval, unless the policy refuses the call or does not need it, or people no longer stand by it."""
        if self.decision.outcome is not Outcome.REQUIRE_HUMAN:
            return self.asking(admission_id)
        objection = approval_checks.precondition(self.asked, question) or approval_checks.exceeds(self.asked, question)
        if objection is not None:
            return self.refused(objection, question)
        moves.add_labels(self.lane, question, self.asked.weighing)
        if not electorate.reached(self.lane, question, self.lane.now):
            moves.reopen(self.lane, question)
            return self.refused(approval_checks.insufficient(question), question)
        moves.redeem(self.lane, question, admission_id)
        return Consent(replace(self.decision, outcome=Outcome.ALLOW), question, consumed=question.id)

    def _allowed(self) -> Consent:
        """Let the policy's own yes stand, and end the questions that it answers."""
        answered = [question for question in self.about if question.open]
        for question in answered:
            moves.supersede(self.lane, question)
        return Consent(self.decision, superseded=tuple(question.id for question in answered))

    def _run_ended(self) -> bool:
        return self.lane.approvals.run_ended(self.asked.caller.principal, self.asked.call.run_id)

    def refused(self, trigger: Trigger, question: Question | None = None) -> Consent:
        """Return the decision with a further check that fired."""
        return Consent(with_check(self.decision, trigger), question)


_OVERTAKEN = frozenset({Code.APPROVAL_PENDING, Code.APPROVAL_EDITED})
"""What people have still to say, or have said otherwise, of a call that the policy now allows by itself."""


def _about(lane: Lane, asked: Asked) -> list[Question]:
    """Return the caller's questions about this call, under any version label, or edited into it."""
    found = lane.approvals.of_call(asked.key)
    return [question for question in found if question.principal == asked.caller.principal]


def _is_about(question: Question, asked: Asked) -> bool:
    return asked.digest in {question.digest, None if question.edit is None else question.edit.digest}


def of_question(question: Question) -> dict[str, Json]:
    """Return what the requester sees of its question: where it stands, and what it was told."""
    until = question.use_before if question.status is Status.APPROVED else question.expires_at
    seen: dict[str, Json] = {"status": question.status, "expires_at": None if until is None else timestamp(until)}
    if question.decided_by:
        seen |= {"decided_by": question.decided_by, "comment": question.comment}
    edit = question.edit
    if edit is not None and question.status in {Status.APPROVED, Status.CONSUMED}:
        seen["arguments"] = edit.arguments
    return seen


def _voters(question: Question) -> list[Json]:
    return [{"by": vote.voter, "verdict": vote.verdict} for vote in question.votes if not vote.refusal]
