"""Questions as a lane changes them: each move together with its record. There is no other way to move one."""

from collections.abc import Mapping

from app.approvals.questions import NOBODY, Question, Resolved, Vote, Withdrawal
from app.core.calls import to_json
from app.core.chain import timestamp
from app.core.decision import Decision
from app.core.policy.weighing import Weighing
from app.core.summary import shown, summarise
from app.core.values import Json
from app.db.ids import new_id
from app.gate import electorate, notices
from app.gate.asked import Asked
from app.gate.lane import Lane
from app.policies import revisions


def open_for(lane: Lane, asked: Asked, decision: Decision) -> Question:
    """Open the question of a call that is held, and record it."""
    caller, action, weighing, policy = asked.caller, asked.call.action, asked.weighing, asked.policy
    ttl = weighing.terms.ttl or lane.defaults.approval_ttl
    question = Question(
        id=new_id("apr"),
        principal=caller.principal,
        caller={
            "kind": caller.kind,
            "owner": caller.owner,
            "environment": caller.environment,
            "roles": sorted(caller.roles),
            "rights": sorted(caller.rights),
        },
        action=action.name,
        digest=asked.digest,
        key=asked.key,
        call=to_json(asked.call),
        resolved=resolved(weighing),
        created_at=lane.now,
        expires_at=lane.now + ttl,
        ttl=ttl,
        use_within=weighing.terms.use_within or lane.defaults.approval_use_within,
        policy_revision=policy.revision,
        policy_version=policy.policy.version,
        policy_digest=policy.policy.digest,
        reason=decision.reason,
        codes=tuple(trigger.code.value for trigger in decision.triggered),
        summary=summarise(action.arguments),
        shown=shown(action.arguments, weighing.terms.show),
        context=dict(asked.call.approval_context),
        advice=tuple({"outcome": said.outcome, "by": said.by, "note": said.note} for said in asked.call.advice),
        precondition=asked.call.precondition,
        run_id=asked.call.run_id,
    )
    lane.approvals.open(question)
    _record(lane, question, "approval.requested", {"advice": [dict(said) for said in question.advice]})
    return question


def add_labels(lane: Lane, question: Question, weighing: Weighing) -> None:
    """Add to a live question the labels that asking again brought; they can only add people who must agree."""
    joined = question.resolved.joined(resolved(weighing))
    if joined != question.resolved:
        question.resolved = joined
        lane.approvals.touch(question)


def cast(lane: Lane, question: Question, vote: Vote) -> None:
    """Keep a vote, counted or refused, and record it."""
    lane.approvals.cast(question, vote)
    event = "approval.refused" if vote.refusal else "approval.voted"
    _record(lane, question, event, {"vote": _vote(vote)}, principal=vote.cast_by)


def approve(lane: Lane, question: Question, last: Vote) -> None:
    """Let the call be used: every rule has its quorum."""
    question.approve(lane.now, last.cast_by, last.comment)
    _record(lane, question, "approval.approved", _outcome(lane, question), principal=last.cast_by)


def deny(lane: Lane, question: Question, vote: Vote) -> None:
    """Refuse the call: one denial by somebody with authority is final."""
    question.deny(lane.now, vote.cast_by, vote.comment)
    _record(lane, question, "approval.denied", _outcome(lane, question), principal=vote.cast_by)


def meet(lane: Lane, question: Question) -> Question:
    """Expire the question if its wait is over, whether or not a sweep has run, and return it."""
    if question.overdue(lane.now):
        before = question.status
        question.expire(lane.now)
        _record(lane, question, "approval.expired", {"was": before, "by": NOBODY}, principal=NOBODY)
    return question


def reopen(lane: Lane, question: Question) -> None:
    """Take an approval back to the people: counted again today, its quorum does not hold."""
    question.reopen(lane.now)
    _record(lane, question, "approval.requested", {"again": True, "rules": _tallies(lane, question)})


def cancel(lane: Lane, question: Question, by: str, why: Withdrawal) -> None:
    """Withdraw a question."""
    question.cancel(lane.now, by, why)
    _record(lane, question, "approval.cancelled", {"by": by, "why": why}, principal=by)


def supersede(lane: Lane, question: Question) -> None:
    """End a question that the policy does not ask any more."""
    question.supersede()
    _record(lane, question, "approval.superseded", {})


def redeem(lane: Lane, question: Question, admission_id: str) -> None:
    """Use an approval up for an admission."""
    question.consume(admission_id)
    _record(lane, question, "approval.redeemed", {"admission_id": admission_id, **_outcome(lane, question)})


def record_edit(lane: Lane, question: Question, by: str) -> None:
    """Record that an approver gave the call other values; the values themselves are private."""
    if question.edit is None:
        return
    edit = question.edit
    said: dict[str, Json] = {
        "edited_digest": edit.digest,
        "edited_summary": summarise(edit.arguments or {}),
        "edited_labels": sorted(edit.resolved.labels),
        "edited_cost": edit.resolved.written_cost,
    }
    _record(lane, question, "approval.edited", said, principal=by)


def erase(lane: Lane, question: Question) -> None:
    """Forget the private part of a finished question. The chain never held it, so there is nothing to record."""
    question.erase()
    lane.approvals.touch(question)


def resolved(weighing: Weighing) -> Resolved:
    """Return what the policy made of a call."""
    return Resolved(
        cost=weighing.cost,
        blast_radius=weighing.blast_radius,
        effects=frozenset(weighing.effects),
        scopes=frozenset(weighing.scopes),
        asset=weighing.asset,
        labels=frozenset(weighing.labels),
        own_labels=weighing.own_labels,
        caller_labels=weighing.caller_labels,
    )


def _record(
    lane: Lane, question: Question, event: str, also: Mapping[str, Json], *, principal: str | None = None
) -> None:
    who = question.principal if principal is None else principal
    payload = {**_of_question(question), **also}
    question.changed_seq = lane.journal.append(event, payload, principal=who, action=question.action)
    lane.approvals.touch(question)
    notices.post(lane, event, payload, question.decided_by)


def _of_question(question: Question) -> dict[str, Json]:
    """Return what every record of a question says: what it is about, and never an argument."""
    return {
        "approval_id": question.id,
        "status": question.status,
        "principal": question.principal,
        "action": question.action,
        "asset": question.resolved.asset,
        "digest": question.digest,
        "summary": question.summary,
        "labels": sorted(question.resolved.labels),
        "cost": question.resolved.written_cost,
        "codes": list(question.codes),
        "reason": question.reason,
        "run_id": question.run_id,
        "expires_at": timestamp(question.expires_at),
        "use_before": None if question.use_before is None else timestamp(question.use_before),
        "policy": revisions.named(question.policy_revision, question.policy_version, question.policy_digest),
    }


def _outcome(lane: Lane, question: Question) -> dict[str, Json]:
    return {
        "decided_by": question.decided_by,
        "comment": question.comment,
        "votes": [_vote(vote) for vote in question.votes],
        "rules": _tallies(lane, question),
        "edited_digest": None if question.edit is None else question.edit.digest,
    }


def _tallies(lane: Lane, question: Question) -> list[Json]:
    tallies = electorate.tally(lane, question, lane.now)
    return [{"name": tally.rule, "quorum": tally.quorum, "have": tally.have} for tally in tallies]


def _vote(vote: Vote) -> dict[str, Json]:
    return {
        "by": vote.voter,
        "cast_by": vote.cast_by,
        "verdict": vote.verdict,
        "comment": vote.comment,
        "basis": [dict(basis) for basis in vote.bases],
        "refusal": vote.refusal,
        "at": timestamp(vote.at),
    }
