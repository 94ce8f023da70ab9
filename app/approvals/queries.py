"""Reading questions outside any lane: what is, without changing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.approvals import rows
from app.approvals.questions import Question
from app.db.database import Reader

_ONE = text(f"SELECT {rows.QUESTION} AS item FROM approvals a WHERE a.tenant = :tenant AND a.id = :id")

# What is overdue has expired, whether or not a sweep has said so.
_MANY = text(f"""
    SELECT {rows.QUESTION} AS item FROM approvals a
    WHERE a.tenant = :tenant AND a.id > :after
    AND (CAST(:principal AS text) IS NULL OR a.principal = :principal)
    AND (CAST(:status AS text) IS NULL OR (a.status = :status AND NOT {rows.OVERDUE})
        OR (:status = 'expired' AND {rows.OVERDUE}))
    ORDER BY a.id LIMIT :limit
""")

_FINISHED = text(f"""
    SELECT {rows.QUESTION} AS item FROM approvals a
    WHERE a.tenant = :tenant AND a.id < :before AND (a.status NOT IN ('pending', 'approved') OR {rows.OVERDUE})
    ORDER BY a.id DESC LIMIT :limit
""")

_LATEST = text("SELECT coalesce(max(changed_seq), -1) AS seq FROM approvals WHERE tenant = :tenant")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which questions to list; None is any. Ids grow with time, so `after` is where the last page ended."""

    now: datetime
    status: str | None = None
    principal: str | None = None
    after: str = ""


async def question(reader: Reader, tenant: str, question_id: str) -> Question | None:
    """Return a question by its id."""
    row = await reader.row(_ONE, {"tenant": tenant, "id": question_id})
    return None if row is None else rows.question(row.item)


async def questions(reader: Reader, tenant: str, wanted: Filter, limit: int) -> Sequence[Question]:
    """Return up to `limit` questions, the oldest first."""
    parameters = {
        "tenant": tenant,
        "now": wanted.now,
        "status": wanted.status,
        "principal": wanted.principal,
        "after": wanted.after,
        "limit": limit,
    }
    return [rows.question(row.item) for row in await reader.rows(_MANY, parameters)]


async def finished(reader: Reader, tenant: str, now: datetime, before: str, limit: int) -> Sequence[Question]:
    """Return up to `limit` questions that are over, made before the one of an id, the newest first."""
    parameters = {"tenant": tenant, "now": now, "before": before, "limit": limit}
    return [rows.question(row.item) for row in await reader.rows(_FINISHED, parameters)]


async def latest_change(reader: Reader, tenant: str) -> int:
    """Return the seq of the record of the last change to any question, or -1."""
    row = await reader.row(_LATEST, {"tenant": tenant})
    return -1 if row is None else int(row.seq)
