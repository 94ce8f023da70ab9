"""Another signing key, told in every chain: the last record of one key and the first of the next are side by side."""

from typing import Final

from sqlalchemy import text

from app.audit import keys
from app.audit.lane import Lane, Lanes
from app.core.chain import Signer
from app.db.database import Database, Reader

_CHUNK: Final = 500

_OF_OTHERS = text("""
    SELECT tenant FROM heads WHERE tenant > :after AND key_id <> :key_id ORDER BY tenant LIMIT :limit
""")


async def introduce(database: Database, lanes: Lanes, signer: Signer) -> int:
    """Make known what will sign, before it signs anything else; return how many chains had to be told.

    Its public half is announced, and `key.rotated` appended to each chain whose last record another key has signed.
    That is done a lane at a time: so a service that is ended in between goes on where it was when it is started again,
    and of several that start at once one appends.

    Raises:
        KeyNameTakenError: the name belongs to another key.
        StoreUnavailableError: the database did not answer; what was appended by then is.
    """
    await database.transact(lambda tx: keys.announce(tx, signer))
    appended, after = 0, ""
    while tenants := await database.read(lambda reader, after=after: _of_others(reader, signer, after)):  # type: ignore[misc]
        for tenant in tenants:
            appended += await lanes.run(tenant, lambda lane: _append(lane, signer))
        after = tenants[-1]
    return appended


async def _of_others(reader: Reader, signer: Signer, after: str) -> list[str]:
    """Return the next tenants whose last record another key has signed; a chain without records is of none."""
    found = await reader.rows(_OF_OTHERS, {"after": after, "key_id": signer.key_id, "limit": _CHUNK})
    return [row.tenant for row in found]


async def _append(lane: Lane, signer: Signer) -> bool:
    before = lane.head.key_id
    if before is None or before == signer.key_id:
        return False
    lane.journal.append("key.rotated", {"from": before, "to": signer.key_id})
    return True
