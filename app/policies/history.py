"""The calls that were weighed lately, with the facts of their moment: what replays and shadows are told from.

They lie outside the chain and hold arguments, so they are kept for a while only, and read by nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import text

from app.db.books import Rows
from app.db.database import Reader, Writer
from app.db.statements import Row

_CHUNK: Final = 1_000


class HistoryBook:
    """The weighed calls of one group; a book that only writes."""

    READS: ClassVar[Mapping[str, str]] = {}
    WRITES: ClassVar[Mapping[str, str]] = {
        "weighed_calls_kept": """
            INSERT INTO weighed_calls (tenant, seq, at, revision, action, outcome, codes, call, caller, facts,
                shadow_revision, shadow_outcome, shadow_codes, shadow_error)
            SELECT :tenant, seq, at, revision, action, outcome, codes, call, caller, facts,
                shadow_revision, shadow_outcome, shadow_codes, shadow_error
            FROM jsonb_to_recordset(CAST(:weighed_calls_kept AS jsonb)) AS kept
                (seq bigint, at timestamptz, revision bigint, action text, outcome text, codes jsonb, call jsonb,
                 caller jsonb, facts jsonb, shadow_revision bigint, shadow_outcome text, shadow_codes jsonb,
                 shadow_error text)
        """,
    }

    def __init__(self) -> None:
        self._kept: list[Mapping[str, Any]] = []

    def keep(self, row: Mapping[str, Any]) -> None:
        """Keep a call that was weighed; the members of the row are the columns."""
        self._kept.append(row)

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return nothing: replays read it, and no command does."""
        return {}

    def load(self, name: str, rows: Rows) -> None:
        """Refuse rows: the book reads none."""
        raise LookupError(f"{len(rows)} rows of {name}")

    def writes(self) -> Mapping[str, Rows]:
        """Return the calls to keep."""
        return {"weighed_calls_kept": self._kept} if self._kept else {}


_LATEST = text("""
    SELECT seq, at, action, outcome, codes, call, caller, facts FROM weighed_calls
    WHERE tenant = :tenant ORDER BY seq DESC LIMIT :last
""")

_SHADOW = text("SELECT shadow_revision FROM heads WHERE tenant = :tenant")

_WEIGHED = text("""
    SELECT count(*) AS weighed, min(at) AS since
    FROM weighed_calls WHERE tenant = :tenant AND shadow_revision = :revision
""")

_DIVERGED = text("""
    SELECT jsonb_build_object('action', action, 'from', outcome, 'to', shadow_outcome, 'calls', count(*),
        'examples', (array_agg(seq ORDER BY seq DESC))[1:5]) AS found
    FROM weighed_calls
    WHERE tenant = :tenant AND shadow_revision = :revision AND shadow_outcome <> outcome
    GROUP BY action, outcome, shadow_outcome ORDER BY count(*) DESC, action, outcome, shadow_outcome
""")

_FAILED = text("""
    SELECT jsonb_build_object('why', shadow_error, 'calls', count(*),
        'examples', (array_agg(seq ORDER BY seq DESC))[1:5]) AS found
    FROM weighed_calls WHERE tenant = :tenant AND shadow_revision = :revision AND shadow_error IS NOT NULL
    GROUP BY shadow_error ORDER BY count(*) DESC, shadow_error
""")

_FORGET = text("""
    DELETE FROM weighed_calls WHERE (tenant, seq) IN (
        SELECT tenant, seq FROM weighed_calls
        WHERE at < clock_timestamp() - CAST(:kept AS interval) ORDER BY at LIMIT :chunk
    )
""")


async def latest(reader: Reader, tenant: str, last: int) -> Sequence[Row]:
    """Return the calls that were weighed last, the newest first."""
    return await reader.rows(_LATEST, {"tenant": tenant, "last": last})


@dataclass(frozen=True, slots=True)
class Shadowed:
    """How a revision did as a shadow: on how many calls, since when.

    `divergences` are what it would have answered otherwise (`action`, `from`, `to`), `failures` why it could not be
    told (`why`); each group with its number of `calls`, and `examples`: seqs of records.
    """

    weighed: int
    since: datetime | None
    divergences: Sequence[Mapping[str, Any]]
    failures: Sequence[Mapping[str, Any]]


async def shadow_revision(reader: Reader, tenant: str) -> int | None:
    """Return the revision that is weighed beside the one in force, if there is one."""
    row = await reader.row(_SHADOW, {"tenant": tenant})
    return None if row is None else row.shadow_revision


async def shadowed(reader: Reader, tenant: str, revision: int) -> Shadowed:
    """Return how a revision did as a shadow, as far as calls are kept."""
    named = {"tenant": tenant, "revision": revision}
    counts = await reader.row(_WEIGHED, named)
    return Shadowed(
        weighed=0 if counts is None else counts.weighed,
        since=None if counts is None else counts.since,
        divergences=[row.found for row in await reader.rows(_DIVERGED, named)],
        failures=[row.found for row in await reader.rows(_FAILED, named)],
    )


async def forget(tx: Writer, keep: timedelta) -> int:
    """Delete a chunk of the calls that were kept for longer than this; return how many."""
    return await tx.write(_FORGET, {"kept": keep, "chunk": _CHUNK})
