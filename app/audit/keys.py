"""The public keys that records were signed with: announced by the service that signs, kept for ever."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.core.chain import Signer, public_pem, timestamp
from app.db.database import Reader, Writer

_ANNOUNCE = text("""
    INSERT INTO signing_keys (key_id, pem, valid_from) VALUES (:key_id, :pem, clock_timestamp())
    ON CONFLICT (key_id) DO UPDATE SET valid_until = NULL WHERE signing_keys.pem = excluded.pem
""")

_RETIRE = text("""
    UPDATE signing_keys SET valid_until = clock_timestamp() WHERE key_id <> :key_id AND valid_until IS NULL
""")

_IN_FORCE = text("SELECT key_id FROM signing_keys WHERE valid_until IS NULL ORDER BY valid_from DESC, key_id")

_ALL = text("SELECT key_id, pem, valid_from, valid_until FROM signing_keys ORDER BY valid_from, key_id")


class KeyNameTakenError(ValueError):
    """Another key was announced under this name before; a name stands for one key for ever."""


async def announce(tx: Writer, signer: Signer) -> None:
    """Make the signer's public key known and retire the others.

    Raises:
        KeyNameTakenError: the name belongs to another key.
    """
    pem = public_pem(signer.public_key)
    if not await tx.write(_ANNOUNCE, {"key_id": signer.key_id, "pem": pem}):
        raise KeyNameTakenError(signer.key_id)
    await tx.write(_RETIRE, {"key_id": signer.key_id})


async def in_force(reader: Reader) -> Sequence[str]:
    """Return the names of the keys that are not retired, the newest first: one, once a service has started."""
    return [row.key_id for row in await reader.rows(_IN_FORCE)]


async def published(reader: Reader) -> dict[str, dict[str, Any]]:
    """Return every key by its name: `{pem, from, until}`, `until` None while it signs."""
    return {
        row.key_id: {
            "pem": row.pem,
            "from": timestamp(row.valid_from),
            "until": None if row.valid_until is None else timestamp(row.valid_until),
        }
        for row in await reader.rows(_ALL)
    }
