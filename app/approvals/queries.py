"""Reading questions outside any lane: what is, without changing it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.approvals import rows
from app.approvals.questions import Matter, Question
from app.db.database import Reader
from app.db.statements import Row

# What is overdue has expired, whether or not a sweep has said so.
_STATUS = f"""(CAST(:status AS text) IS NULL OR (a.status = :status AND NOT {rows.OVERDUE})
    OR (:status = 'expired' AND {rows.OVERDUE}))"""

_THESE = text(f"""
    SELECT a.tenant, {rows.QUESTION} AS item
    FROM jsonb_to_recordset(CAST(:wanted AS jsonb)) AS wanted (tenant text, id text)
    CROSS JOIN LATERAL (SELECT * FROM approvals WHERE tenant = wanted.tenant AND id = wanted.id OFFSET 0) AS a
""")

_MATTERS = text(f"""
    SELECT principal, kind, owner, own, callers, edited_own, edited_callers, array_agg(id) AS ids
    FROM (
        SELECT a.id, a.principal, a.caller ->> 'kind' AS kind, a.caller ->> 'owner' AS owner,
            a.resolved -> 'own_labels' AS own, a.resolved -> 'caller_labels' AS callers,
            a.edited_resolved -> 'own_labels' AS edited_own, a.edited_resolved -> 'caller_labels' AS edited_callers
        FROM approvals a
        WHERE a.tenant = :tenant AND a.id > :after AND {_STATUS}
        AND (CAST(:principal AS text) IS NULL OR a.principal = :principal)
        ORDER BY a.id LIMIT :limit
    ) AS listed
    GROUP BY principal, kind, owner, own, callers, edited_own, edited_callers
""")

_FINISHED = text(f"""
    SELECT {rows.QUESTION} AS item FROM approvals a
    WHERE a.tenant = :tenant AND a.id < :before AND (NOT a.{rows.OPEN} OR {rows.OVERDUE})
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


async def these(reader: Reader, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], Question]:
    """Return questions by tenant and id; what does not exist is not among them."""
    keys = [{"tenant": tenant, "id": question_id} for tenant, question_id in wanted]
    found = await reader.rows(_THESE, {"wanted": keys})
    return {(row.tenant, row.item["id"]): rows.question(row.item) for row in found}


async def matters(reader: Reader, tenant: str, wanted: Filter, limit: int) -> list[tuple[Matter, Sequence[str]]]:
    """Return the first `limit` questions, the oldest first, as ids by what says who may decide them.

    There are few such matters among many questions, so that whether somebody may is asked of each only once.
    """
    parameters = {
        "tenant": tenant,
        "now": wanted.now,
        "status": wanted.status,
        "principal": wanted.principal,
        "after": wanted.after,
        "limit": limit,
    }
    return [(_matter(row), row.ids) for row in await reader.rows(_MATTERS, parameters)]


def _matter(row: Row) -> Matter:
    forms = [(row.own, row.callers)] + ([] if row.edited_own is None else [(row.edited_own, row.edited_callers)])
    labels = tuple((frozenset(own), frozenset(callers)) for own, callers in forms)
    return Matter(row.principal, row.kind, row.owner, labels)


async def finished(reader: Reader, tenant: str, now: datetime, before: str, limit: int) -> Sequence[Question]:
    """Return up to `limit` questions that are over, made before the one of an id, the newest first."""
    parameters = {"tenant": tenant, "now": now, "before": before, "limit": limit}
    return [rows.question(row.item) for row in await reader.rows(_FINISHED, parameters)]


async def latest_change(reader: Reader, tenant: str) -> int:
    """Return the seq of the record of the last change to any question, or -1."""
    row = await reader.row(_LATEST, {"tenant": tenant})
    return -1 if row is None else int(row.seq)
