"""Whether this process can decide: each thing that it needs, looked at, and a sentence about each that is amiss."""

from sqlalchemy import text

from app.audit import keys, records
from app.core.chain import GENESIS, Signer, public_pem
from app.core.policy import DocumentError
from app.db import schema
from app.db.database import Database, Reader, StoreUnavailableError
from app.db.statements import Row
from app.identity.watch import Watch
from app.policies.active import MissingRevisionError, PolicyCache

_HEADS = text("SELECT tenant, seq, hash, policy_revision FROM heads WHERE tenant = ANY(:tenants)")


class Readiness:
    """Looks at what the process needs, and remembers where the chains ended that it serves.

    A database that was restored from a backup has a head behind one that was signed: to go on from there would fork
    the record, so the process says that it is not ready until somebody has looked, however far the fork has grown.
    """

    def __init__(self, database: Database, signer: Signer, watch: Watch, policies: PolicyCache) -> None:
        self._database = database
        self._signer = signer
        self._watch = watch
        self._policies = policies
        self._seen: dict[str, tuple[int, str]] = {}

    async def findings(self) -> list[str]:
        """Return what is amiss, in sentences; nothing means ready."""
        try:
            return await self._database.read(self._look)
        except StoreUnavailableError:
            return ["the database does not answer"]

    async def _look(self, reader: Reader) -> list[str]:
        found = await schema.version(reader)
        if schema.is_behind(found):
            return [f"the schema is {found or 'missing'} and has to be {schema.newest()}: run `countersignd migrate`"]
        findings = await self._of_signing_key(reader)
        for head in await reader.rows(_HEADS, {"tenants": self._watch.tenants()}):
            findings += [*await self._of_chain(reader, head), *await self._of_policy(reader, head)]
        return findings

    async def _of_chain(self, reader: Reader, head: Row) -> list[str]:
        """Look whether the chain still holds the record that it ended with when it was seen last."""
        length, last = self._seen.get(head.tenant, (0, GENESIS))
        if head.seq < length:
            return [f"the record of the tenant {head.tenant} is shorter than it was"]
        if await records.hash_at(reader, head.tenant, length - 1) != last:
            return [f"the record of the tenant {head.tenant} is not the one that it was"]
        self._seen[head.tenant] = (head.seq, head.hash)
        return []

    async def _of_signing_key(self, reader: Reader) -> list[str]:
        published = (await keys.published(reader)).get(self._signer.key_id)
        if published is None or published["pem"] != public_pem(self._signer.public_key):
            return ["the signing key is not the one that is published under its name"]
        return ["the signing key was retired by a service that signs with another"] if published["until"] else []

    async def _of_policy(self, reader: Reader, head: Row) -> list[str]:
        """Compile what is in force: a process of an older version may not know all that its document says."""
        if head.policy_revision is None:
            return []
        try:
            await self._policies.get(reader, head.tenant, head.policy_revision)
        except (DocumentError, MissingRevisionError):
            return [
                f"the policy in force of the tenant {head.tenant} does not load here: revision {head.policy_revision}"
            ]
        return []
