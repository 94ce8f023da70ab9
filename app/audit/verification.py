"""The service's own look at a chain: every hash, link and signature, and the head."""

import json
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sqlalchemy import text

from app.audit import keys, records
from app.audit.records import ChainHead
from app.core import chain
from app.db.database import Database, Reader
from app.db.statements import Row

_CHUNK = 1_000

_ROWS = text("""
    SELECT seq, event_type, canonical, hash, key_id, signature FROM audit_records
    WHERE tenant = :tenant AND seq >= :first ORDER BY seq LIMIT :limit
""")


async def verify(database: Database, tenant: str) -> dict[str, Any]:
    """Return `{ok, records, head, broken_at, reason}`: the first record that does not hold, if there is one.

    What it cannot show is that the end was cut together with the head: for that a head must be kept elsewhere.
    """
    public = await _public_keys(database)
    expected = await _head(database, tenant)
    seq, prev = 0, chain.GENESIS
    while rows := await database.read(lambda reader, first=seq: _rows(reader, tenant, first)):  # type: ignore[misc]
        for row in rows:
            reason = _why_broken(row, seq, prev, public) or _not_as_expected(row, expected)
            if reason is not None:
                return {"ok": False, "records": seq, "head": prev, "broken_at": seq, "reason": reason}
            seq, prev = seq + 1, row.hash
    return await _against_heads(database, tenant, expected, seq, prev)


async def _head(database: Database, tenant: str) -> ChainHead | None:
    return await database.read(lambda reader: records.head(reader, tenant))


def _not_as_expected(row: Row, expected: ChainHead | None) -> str | None:
    if expected is None or row.seq != expected.seq or row.hash == expected.hash:
        return None
    return "its hash is not the one that the head has"


async def _against_heads(
    database: Database, tenant: str, before: ChainHead | None, seq: int, prev: str
) -> dict[str, Any]:
    """Compare with both heads: the chain reaches the one from before it was read, and not beyond the one after.

    Records that were appended meanwhile lie between the two.
    """
    after = await _head(database, tenant)
    reached = before is not None and after is not None and before.seq < seq <= after.seq + 1
    reason = None if reached else "the chain does not end where its head says"
    return {"ok": reached, "records": seq, "head": prev, "broken_at": None, "reason": reason}


async def _public_keys(database: Database) -> dict[str, Ed25519PublicKey]:
    published = await database.read(keys.published)
    loaded = {key_id: load_pem_public_key(entry["pem"].encode()) for key_id, entry in published.items()}
    return {key_id: key for key_id, key in loaded.items() if isinstance(key, Ed25519PublicKey)}


async def _rows(reader: Reader, tenant: str, first: int) -> Sequence[Row]:
    return await reader.rows(_ROWS, {"tenant": tenant, "first": first, "limit": _CHUNK})


def _why_broken(row: Row, seq: int, prev: str, public: dict[str, Ed25519PublicKey]) -> str | None:
    if row.seq != seq:
        return "a record is missing before this one"
    if not _hashed(row):
        return "it is not what was hashed"
    if not _signed(row, public.get(row.key_id)):
        return "its signature does not hold"
    # Only what is signed is sure to be a record, and not something else that somebody has put in its place.
    said = json.loads(row.canonical)
    if said["seq"] != seq or said["prev_hash"] != prev:
        return "it does not follow the record before it"
    return None if said["event_type"] == row.event_type else "a search finds it as an event that it is not"


def _hashed(row: Row) -> bool:
    return bool(row.canonical.isascii() and chain.hash_of(row.canonical) == row.hash)


def _signed(row: Row, key: Ed25519PublicKey | None) -> bool:
    if key is None:
        return False
    try:
        key.verify(chain.decoded_signature(row.signature), row.hash.encode("ascii"))
    except (InvalidSignature, ValueError):
        return False
    return True
