"""The service's own look at a chain: every hash, link and signature, and the head."""

import json
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sqlalchemy import Row, text

from app.audit import keys, records
from app.core import chain
from app.db.database import Database, Reader

_CHUNK = 1_000

_ROWS = text("""
    SELECT seq, canonical, hash, key_id, signature FROM audit_records
    WHERE tenant = :tenant AND seq >= :first ORDER BY seq LIMIT :limit
""")


async def verify(database: Database, tenant: str) -> dict[str, Any]:
    """Return `{ok, records, head, broken_at, reason}`: the first record that does not hold, if there is one.

    What it cannot show is that the end was cut together with the head: for that a head must be kept elsewhere.
    """
    public = await _public_keys(database)
    seq, prev = 0, chain.GENESIS
    while rows := await database.read(lambda reader, first=seq: _rows(reader, tenant, first)):  # type: ignore[misc]
        for row in rows:
            reason = _why_broken(row, seq, prev, public)
            if reason is not None:
                return {"ok": False, "records": seq, "head": prev, "broken_at": seq, "reason": reason}
            seq, prev = seq + 1, row.hash
    return await _against_head(database, tenant, seq, prev)


async def _against_head(database: Database, tenant: str, seq: int, prev: str) -> dict[str, Any]:
    head = await database.read(lambda reader: records.head(reader, tenant))
    # Records may have been appended since the last one was read; then the head is ahead of what was verified.
    reached = head is not None and (head.seq >= seq or (head.seq == seq - 1 and head.hash == prev))
    reason = None if reached else "the chain does not end where its head says"
    return {"ok": reached, "records": seq, "head": prev, "broken_at": None, "reason": reason}


async def _public_keys(database: Database) -> dict[str, Ed25519PublicKey]:
    published = await database.read(keys.published)
    loaded = {key_id: load_pem_public_key(entry["pem"].encode()) for key_id, entry in published.items()}
    return {key_id: key for key_id, key in loaded.items() if isinstance(key, Ed25519PublicKey)}


async def _rows(reader: Reader, tenant: str, first: int) -> Sequence[Row[Any]]:
    return await reader.rows(_ROWS, {"tenant": tenant, "first": first, "limit": _CHUNK})


def _why_broken(row: Row[Any], seq: int, prev: str, public: dict[str, Ed25519PublicKey]) -> str | None:
    if row.seq != seq:
        return "a record is missing before this one"
    if not _hashed(row):
        return "it is not what was hashed"
    if not _signed(row, public.get(row.key_id)):
        return "its signature does not hold"
    # Only what is signed is sure to be a record, and not something else that somebody has put in its place.
    said = json.loads(row.canonical)
    follows = said["seq"] == seq and said["prev_hash"] == prev
    return None if follows else "it does not follow the record before it"


def _hashed(row: Row[Any]) -> bool:
    return bool(row.canonical.isascii() and chain.hash_of(row.canonical) == row.hash)


def _signed(row: Row[Any], key: Ed25519PublicKey | None) -> bool:
    if key is None:
        return False
    try:
        key.verify(chain.decoded_signature(row.signature), row.hash.encode("ascii"))
    except (InvalidSignature, ValueError):
        return False
    return True
