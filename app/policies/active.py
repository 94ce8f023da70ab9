"""The revision in force of each tenant, compiled, and where it is kept."""

import asyncio
from dataclasses import dataclass

from app.core import policy as policies
from app.core.policy import Policy
from app.core.values import Json
from app.db.database import Reader
from app.policies import revisions

_MOST = 256


@dataclass(frozen=True, slots=True)
class ActivePolicy:
    """A compiled policy and the revision that it is."""

    revision: int
    policy: Policy

    @property
    def named(self) -> dict[str, Json]:
        """Its revision, label and hash."""
        return revisions.named(self.revision, self.policy.version, self.policy.digest)


class MissingRevisionError(LookupError):
    """A head names a revision that is not stored."""


class PolicyCache:
    """Compiled revisions by tenant; a revision never changes, so none is ever stale."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], ActivePolicy] = {}
        self._newest: dict[str, ActivePolicy] = {}

    def newest(self, tenant: str) -> ActivePolicy | None:
        """Return the revision that was in force when somebody last looked; the desk looks again."""
        return self._newest.get(tenant)

    async def at(self, reader: Reader, tenant: str, revision: int | None) -> ActivePolicy | None:
        """Return a revision as the one in force, reading and compiling it if it is not in memory; None for None.

        Raises:
            MissingRevisionError: there is no such revision.
        """
        if revision is None:
            return None
        found = await self.get(reader, tenant, revision)
        self._newest[tenant] = found
        return found

    async def get(self, reader: Reader, tenant: str, revision: int) -> ActivePolicy:
        """Return any revision, compiled.

        Raises:
            MissingRevisionError: there is no such revision.
        """
        found = self._held.get((tenant, revision))
        if found is None:
            stored = await revisions.read(reader, tenant, revision)
            if stored is None:
                raise MissingRevisionError(f"revision {revision}")
            # A large document takes a while to compile, and other tenants are served meanwhile.
            found = ActivePolicy(revision, await asyncio.to_thread(policies.load, stored.document))
            self._keep(tenant, found)
        return found

    def _keep(self, tenant: str, found: ActivePolicy) -> None:
        while len(self._held) >= _MOST:
            self._held.pop(next(iter(self._held)))
        self._held[tenant, found.revision] = found
