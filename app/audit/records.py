"""Reading the chain: as lines of an export, and as a search."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from app.core.chain import GENESIS
from app.db.database import Database, Reader
from app.db.statements import Row

_CHUNK = 500

_LINES = text("""
    SELECT seq, canonical, hash, key_id, signature FROM audit_records
    WHERE tenant = :tenant AND seq >= :first AND seq <= :last ORDER BY seq LIMIT :limit
""")

_HEAD = text("SELECT tenant, seq, hash, key_id, signature FROM heads WHERE tenant = :tenant")

_HASH = text("SELECT hash FROM audit_records WHERE tenant = :tenant AND seq = :seq")

_RECORD = text("""
    SELECT seq, canonical, hash, key_id, signature FROM audit_records WHERE tenant = :tenant AND seq = :seq
""")

_SEARCH = text("""
    SELECT seq, canonical, hash, key_id, signature FROM audit_records
    WHERE tenant = :tenant AND seq < :before
    AND (CAST(:event_type AS text) IS NULL OR event_type = :event_type)
    AND (CAST(:principal AS text) IS NULL OR principal = :principal)
    AND (CAST(:action AS text) IS NULL OR action = :action)
    AND (CAST(:since AS timestamptz) IS NULL OR ts >= :since)
    AND (CAST(:until AS timestamptz) IS NULL OR ts < :until)
    ORDER BY seq DESC LIMIT :limit
""")


_FIELDS: Final = frozenset({"seq", "ts", "event_type", "payload", "prev_hash"})


class UnreadableRecordError(Exception):
    """What stands in a record's place is none: somebody has been at the table."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain. `seq` is the last record's, -1 before the first; `hash` is then 64 zeros."""

    tenant: str
    seq: int
    hash: str
    key_id: str | None
    signature: str | None


@dataclass(frozen=True, slots=True)
class Range:
    """What an export holds: records `first` to `last`, both included; none if last < first.

    `prev` is the hash before the first of them and `head` the last one's.
    """

    first: int
    last: int
    prev: str
    head: str

    @property
    def records(self) -> int:
        """Return the number of records."""
        return max(0, self.last - self.first + 1)


@dataclass(frozen=True, slots=True)
class Search:
    """What records to find: any filter that is None finds all."""

    event_type: str | None = None
    principal: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def line(row: Row) -> str:
    """Return a record as one line of an export; its first five fields are the bytes that were hashed."""
    seal = json.dumps({"hash": row.hash, "key_id": row.key_id, "signature": row.signature}, separators=(",", ":"))
    return f"{row.canonical[:-1]},{seal[1:]}\n"


async def head(reader: Reader, tenant: str) -> ChainHead | None:
    """Return the end of the tenant's chain, or None if there is no tenant."""
    row = await reader.row(_HEAD, {"tenant": tenant})
    return None if row is None else ChainHead(row.tenant, row.seq - 1, row.hash, row.key_id, row.signature)


async def record(reader: Reader, tenant: str, seq: int) -> dict[str, Any] | None:
    """Return one record, or None if the chain does not reach that far.

    Raises:
        UnreadableRecordError: what is there is no record.
    """
    row = await reader.row(_RECORD, {"tenant": tenant, "seq": seq})
    return None if row is None else _read(row)


async def search(reader: Reader, tenant: str, wanted: Search, before: int, limit: int) -> Sequence[dict[str, Any]]:
    """Return up to `limit` records that match, the newest first, all older than `before`. A search proves nothing.

    Raises:
        UnreadableRecordError: something that it finds is no record.
    """
    parameters = {
        "tenant": tenant,
        "before": before,
        "limit": limit,
        "event_type": wanted.event_type,
        "principal": wanted.principal,
        "action": wanted.action,
        "since": wanted.since,
        "until": wanted.until,
    }
    return [_read(row) for row in await reader.rows(_SEARCH, parameters)]


def _read(row: Row) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line(row))
    except json.JSONDecodeError:
        raise UnreadableRecordError from None
    if not found.keys() >= _FIELDS:
        raise UnreadableRecordError
    return found


async def span(reader: Reader, tenant: str, first: int, last: int | None) -> Range:
    """Return what an export from `first` to `last`, or to the end, holds now.

    The end is fixed here, so that records appended while it is streamed are not in it.
    """
    end = await head(reader, tenant)
    newest = -1 if end is None else end.seq
    upto = newest if last is None else min(last, newest)
    prev = await hash_at(reader, tenant, min(first, newest + 1) - 1)
    return Range(first, upto, prev, await hash_at(reader, tenant, upto) if upto >= first else prev)


async def hash_at(reader: Reader, tenant: str, seq: int) -> str:
    """Return the hash of a record; that of the genesis before the first, and where there is none."""
    row = None if seq < 0 else await reader.row(_HASH, {"tenant": tenant, "seq": seq})
    return GENESIS if row is None else str(row.hash)


async def lines(database: Database, tenant: str, span_: Range) -> AsyncIterator[str]:
    """Yield the lines of a range, in chunks; no connection is held between two chunks, however slow the reader."""
    first = span_.first
    while first <= span_.last:
        rows = await database.read(_chunk(tenant, first, span_.last))
        if not rows:
            return
        yield "".join(map(line, rows))
        first = rows[-1].seq + 1


def _chunk(tenant: str, first: int, last: int) -> Callable[[Reader], Awaitable[Sequence[Row]]]:
    async def query(reader: Reader) -> Sequence[Row]:
        return await reader.rows(_LINES, {"tenant": tenant, "first": first, "last": last, "limit": _CHUNK})

    return query
