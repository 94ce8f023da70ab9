"""Questions and votes as the JSON of their rows, in both directions."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from app.approvals import questions
from app.approvals.questions import Edit, Question, Resolved, Status, Verdict, Vote

QUESTION = """
    (to_jsonb(a) - 'tenant') || jsonb_build_object('votes', (
        SELECT coalesce(jsonb_agg((to_jsonb(v) - 'tenant') ORDER BY v.number), '[]') FROM approval_votes v
        WHERE v.tenant = a.tenant AND v.approval_id = a.id))
"""
"""The SELECT list of a question: one jsonb object of `approvals a`, its votes included."""


def _one_of(statuses: Iterable[Status]) -> str:
    quoted = (f"'{status}'" for status in statuses)
    return f"status IN ({', '.join(quoted)})"


OPEN = _one_of(questions.OPEN)
"""Whether something can still come of a row; of `approvals a`, `a.{OPEN}`. Indexes are found by these very words."""

STANDING = _one_of(questions.STANDING)
"""Whether a row answers its call when that is sent again, if its time is not over."""

OVERDUE = f"(a.{OPEN} AND a.due_at <= :now)"
"""Whether the time of `approvals a` is over at `:now`."""

COLUMNS = """
    id text, status text, principal text, caller jsonb, action text, asset text, digest text, key text, call jsonb,
    resolved jsonb, edited_digest text, edited_key text, edited_arguments jsonb, edited_resolved jsonb, reason text,
    codes jsonb, summary text, shown jsonb, context jsonb, advice jsonb, precondition text, run_id text,
    policy_revision bigint, policy_version text, policy_digest text, ttl integer, use_within integer,
    created_at timestamptz, expires_at timestamptz, use_before timestamptz, due_at timestamptz,
    decided_at timestamptz, decided_by text, comment text, admission_id text, changed_seq bigint
"""

VOTE_COLUMNS = """
    approval_id text, number integer, voter text, cast_by text, verdict text, comment text, bases jsonb, refusal text,
    edited_key text, at timestamptz
"""


def names(columns: str) -> str:
    """Return the names of a list of columns with types."""
    return ", ".join(column.split()[0] for column in columns.split(","))


_SAME = (
    "id", "status", "principal", "caller", "action", "digest", "key", "call", "reason", "codes", "summary", "shown",
    "context", "advice", "precondition", "run_id", "policy_revision", "policy_version", "policy_digest", "decided_by",
    "comment", "admission_id", "changed_seq",
)  # fmt: skip
_MOMENTS = ("created_at", "expires_at", "use_before", "decided_at")
_SPANS = ("ttl", "use_within")


def of_question(question: Question) -> dict[str, Any]:
    """Return the row of a question, without its votes."""
    edit = question.edit
    return {
        **{name: getattr(question, name) for name in _SAME},
        **{name: _text(getattr(question, name)) for name in _MOMENTS},
        **{name: int(getattr(question, name).total_seconds()) for name in _SPANS},
        "asset": question.resolved.asset,
        "due_at": _text(question.due_at),
        "resolved": question.resolved.as_json(),
        "edited_digest": edit and edit.digest,
        "edited_key": edit and edit.key,
        "edited_arguments": edit and edit.arguments,
        "edited_resolved": edit and edit.resolved.as_json(),
    }


def of_vote(question: Question, number: int) -> dict[str, Any]:
    """Return the row of a question's vote of that number."""
    vote = question.votes[number]
    return {
        "approval_id": question.id,
        "number": number,
        "voter": vote.voter,
        "cast_by": vote.cast_by,
        "verdict": vote.verdict,
        "comment": vote.comment,
        "bases": vote.bases,
        "refusal": vote.refusal,
        "edited_key": vote.edited_key,
        "at": _text(vote.at),
    }


def question(row: Mapping[str, Any]) -> Question:
    """Return the question of a row that came as JSON."""
    fields: dict[str, Any] = {
        **{name: row[name] for name in _SAME if name not in {"status", "codes", "advice"}},
        **{name: _moment(row[name]) for name in _MOMENTS},
        **{name: timedelta(seconds=row[name]) for name in _SPANS},
    }
    return Question(
        **fields,
        status=Status(row["status"]),
        codes=tuple(row["codes"]),
        advice=tuple(row["advice"]),
        resolved=Resolved.from_json(row["resolved"]),
        edit=_edit(row),
        votes=[_vote(vote) for vote in row["votes"]],
    )


def _edit(row: Mapping[str, Any]) -> Edit | None:
    if row["edited_key"] is None:
        return None
    resolved = Resolved.from_json(row["edited_resolved"])
    return Edit(row["edited_digest"], row["edited_key"], resolved, row["edited_arguments"])


def _vote(row: Mapping[str, Any]) -> Vote:
    return Vote(
        voter=row["voter"],
        cast_by=row["cast_by"],
        verdict=Verdict(row["verdict"]),
        at=datetime.fromisoformat(row["at"]),
        comment=row["comment"],
        bases=tuple(row["bases"]),
        refusal=row["refusal"],
        edited_key=row["edited_key"],
    )


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
