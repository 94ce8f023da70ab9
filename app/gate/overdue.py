"""Which tenants have something whose time is over: looked for without any lock, so that idle tenants stay alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import text

from app.approvals.rows import OPEN
from app.db.database import Reader
from app.db.statements import Row
from app.gate.group import Command
from app.gate.lapses import SweepLapses
from app.gate.question_sweeps import EraseQuestions, SweepQuestions

_SWEEPS: Final[dict[str, Callable[[str], Command[int]]]] = {
    "lapsed": SweepLapses,
    "due": SweepQuestions,
    "erasable": EraseQuestions,
}

# The least of an index is one step into it; EXISTS with a bound that the planner cannot estimate may read the table.
_FIND = text(f"""
    SELECT * FROM (
        SELECT h.tenant,
            (SELECT min(a.expires_at) FROM admissions a
                WHERE a.tenant = h.tenant AND a.state = 'reserved') <= h.now AS lapsed,
            (SELECT min(a.due_at) FROM approvals a
                WHERE a.tenant = h.tenant AND a.{OPEN}) <= h.now AS due,
            (SELECT min(a.due_at) FROM approvals a
                WHERE a.tenant = h.tenant AND NOT a.{OPEN} AND a.call IS NOT NULL)
                <= h.now - CAST(:kept AS interval) AS erasable
        FROM (SELECT tenant, clock_timestamp() AS now FROM heads) AS h
    ) AS found WHERE lapsed OR due OR erasable
""")  # noqa: S608 - constants of a room


@dataclass(frozen=True, slots=True)
class Overdue:
    """A tenant, and the sweep that it needs."""

    tenant: str
    sweep: Callable[[str], Command[int]]


async def find(reader: Reader, approval_keep: timedelta) -> Sequence[Overdue]:
    """Return what is overdue, by tenant and kind; finished questions are when they were kept for so long."""
    found = await reader.rows(_FIND, {"kept": approval_keep})
    return [overdue for row in found for overdue in _of(row)]


def _of(row: Row) -> list[Overdue]:
    return [Overdue(row.tenant, sweep) for kind, sweep in _SWEEPS.items() if getattr(row, kind)]
