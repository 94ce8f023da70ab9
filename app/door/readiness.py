"""Whether this process can decide: each thing that it needs, looked at, and a sentence about each that is amiss."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, text

from app.audit import keys
from app.core.chain import public_pem
from app.core.policy import DocumentError
from app.db import schema
from app.db.database import Reader, StoreUnavailableError
from app.policies.active import MissingRevisionError

if TYPE_CHECKING:
    from app.door.house import House

_HEADS = text("SELECT tenant, seq, policy_revision FROM heads WHERE tenant = ANY(:tenants)")


@dataclass(slots=True)
class Readiness:
    """What the process remembers of the chains it serves, to tell when a database has gone back in time.

    A database that was restored from a backup has a head behind one that was signed: to go on from there would fork
    the record, so the process says that it is not ready until somebody has looked.
    """

    _furthest: dict[str, int] = field(default_factory=dict)

    async def findings(self, house: "House") -> list[str]:
        """Return what is amiss, in sentences; nothing means ready."""
        try:
            return await house.database.read(lambda reader: self._look(house, reader))
        except StoreUnavailableError:
            return ["the database does not answer"]

    async def _look(self, house: "House", reader: Reader) -> list[str]:
        found = await schema.version(reader)
        if found != schema.newest():
            return [f"the schema is {found or 'missing'} and has to be {schema.newest()}: run `countersignd migrate`"]
        findings = await _of_signing_key(house, reader)
        for head in await reader.rows(_HEADS, {"tenants": house.watch.tenants()}):
            findings += [*self._of_chain(head), *await _of_policy(house, reader, head)]
        return findings

    def _of_chain(self, head: Row[Any]) -> list[str]:
        furthest = self._furthest.get(head.tenant, 0)
        self._furthest[head.tenant] = max(head.seq, furthest)
        return [f"the record of the tenant {head.tenant} is shorter than it was"] if head.seq < furthest else []


async def _of_signing_key(house: "House", reader: Reader) -> list[str]:
    published = (await keys.published(reader)).get(house.signer.key_id)
    if published is None or published["pem"] != public_pem(house.signer.public_key):
        return ["the signing key is not the one that is published under its name"]
    return ["the signing key was retired by a service that signs with another"] if published["until"] else []


async def _of_policy(house: "House", reader: Reader, head: Row[Any]) -> list[str]:
    """Compile what is in force: a process of an older version may not know all that its document says."""
    if head.policy_revision is None:
        return []
    try:
        await house.facts.policies.get(reader, head.tenant, head.policy_revision)
    except (DocumentError, MissingRevisionError):
        return [f"the policy in force of the tenant {head.tenant} does not load here: revision {head.policy_revision}"]
    return []
