"""Reading admissions and effects outside any lane: what is, without changing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from app.db.database import Reader
from app.effects.admissions import Admission, from_row
from app.effects.book import ADMISSION

_ONE = text(f"SELECT {ADMISSION} AS item FROM admissions a WHERE a.tenant = :tenant AND a.id = :id")

# A lease that has ended is unknown, whether or not a sweep has said so.
_MANY = text(f"""
    SELECT {ADMISSION} AS item FROM admissions a
    WHERE a.tenant = :tenant AND a.id > :after
    AND (CAST(:principal AS text) IS NULL OR a.principal = :principal)
    AND (CAST(:run_id AS text) IS NULL OR a.run_id = :run_id)
    AND (CAST(:state AS text) IS NULL OR :state = CASE
        WHEN a.state = 'reserved' AND a.expires_at <= clock_timestamp() THEN 'unknown' ELSE a.state END)
    ORDER BY a.id LIMIT :limit
""")

_EFFECT = text("""
    SELECT e.key, e.attempt, e.admission_id, coalesce(a.closed_at, a.created_at) AS since,
        CASE WHEN a.state = 'reserved' AND a.expires_at <= clock_timestamp() THEN 'unknown' ELSE a.state END AS state
    FROM effects e JOIN admissions a ON a.tenant = e.tenant AND a.id = e.admission_id
    WHERE e.tenant = :tenant AND e.key = :key
""")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which admissions to list; None is any. Ids grow with time, so `after` is where the last page ended."""

    principal: str | None = None
    state: str | None = None
    run_id: str | None = None
    after: str = ""


async def admission(reader: Reader, tenant: str, admission_id: str) -> Admission | None:
    """Return an admission by its id."""
    row = await reader.row(_ONE, {"tenant": tenant, "id": admission_id})
    return None if row is None else from_row(row.item)


async def admissions(reader: Reader, tenant: str, wanted: Filter, limit: int) -> Sequence[Admission]:
    """Return up to `limit` admissions, the oldest first."""
    parameters = {
        "tenant": tenant,
        "limit": limit,
        "principal": wanted.principal,
        "state": wanted.state,
        "run_id": wanted.run_id,
        "after": wanted.after,
    }
    return [from_row(row.item) for row in await reader.rows(_MANY, parameters)]


async def effect(reader: Reader, tenant: str, key: str) -> dict[str, Any] | None:
    """Return an effect by its key: `{key, state, attempt, admission_id, since}`."""
    row = await reader.row(_EFFECT, {"tenant": tenant, "key": key})
    if row is None:
        return None
    return {
        "key": row.key,
        "state": row.state,
        "attempt": row.attempt,
        "admission_id": row.admission_id,
        "since": row.since,
    }
