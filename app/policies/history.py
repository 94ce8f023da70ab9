"""The calls that were weighed lately, with the facts of their moment: what replays and shadows are told from.

They lie outside the chain and hold arguments, so they are kept for a while only, and read by nothing else.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import Row, text

from app.db.books import Rows
from app.db.database import Reader, Writer

KEPT: Final = timedelta(days=7)
"""How long a weighed call is kept."""

_CHUNK: Final = 1_000
_EXAMPLES: Final = 5


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

_SHADOWED = text("""
    SELECT count(*) AS weighed, count(shadow_error) AS failed,
        count(*) FILTER (WHERE shadow_outcome <> outcome) AS diverged, min(at) AS since
    FROM weighed_calls WHERE tenant = :tenant AND shadow_revision = :revision
""")

_DIVERGED = text("""
    SELECT action, outcome AS before, shadow_outcome AS after, count(*) AS calls,
        (array_agg(seq ORDER BY seq DESC))[1:CAST(:examples AS int)] AS examples
    FROM weighed_calls
    WHERE tenant = :tenant AND shadow_revision = :revision AND shadow_outcome <> outcome
    GROUP BY action, outcome, shadow_outcome ORDER BY calls DESC, action, before, after
""")

_FAILED = text("""
    SELECT shadow_error AS why, count(*) AS calls,
        (array_agg(seq ORDER BY seq DESC))[1:CAST(:examples AS int)] AS examples
    FROM weighed_calls WHERE tenant = :tenant AND shadow_revision = :revision AND shadow_error IS NOT NULL
    GROUP BY shadow_error ORDER BY calls DESC, why
""")

_FORGET = text("""
    DELETE FROM weighed_calls WHERE (tenant, seq) IN (
        SELECT tenant, seq FROM weighed_calls
        WHERE at < clock_timestamp() - CAST(:kept AS interval) ORDER BY at LIMIT :chunk
    )
""")


async def latest(reader: Reader, tenant: str, last: int) -> Sequence[Row[Any]]:
    """Return the calls that were weighed last, the newest first."""
    return await reader.rows(_LATEST, {"tenant": tenant, "last": last})


async def shadowed(reader: Reader, tenant: str, revision: int) -> Mapping[str, Any]:
    """Return how a revision did as a shadow: how often it was weighed, failed, and said something else, and what."""
    named = {"tenant": tenant, "revision": revision}
    some = named | {"examples": _EXAMPLES}
    counts = await reader.row(_SHADOWED, named)
    diverged = [dict(row._mapping) for row in await reader.rows(_DIVERGED, some)]  # noqa: SLF001 # its public name
    failed = [dict(row._mapping) for row in await reader.rows(_FAILED, some)]  # noqa: SLF001 # its public name
    return {**(counts._mapping if counts else {}), "divergences": diverged, "failures": failed}  # noqa: SLF001 # its public name


async def forget(tx: Writer) -> int:
    """Delete a chunk of the calls that are older than `KEPT`; return how many."""
    return await tx.write(_FORGET, {"kept": KEPT, "chunk": _CHUNK})
