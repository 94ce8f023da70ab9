"""How recently this process has looked at a tenant's epochs, and what they stood for then."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.audit import heads
from app.audit.heads import Epochs, UnknownTenantError
from app.db.database import Database, Reader
from app.identity.authority import Authority, AuthorityCache

_MOST_AT_ONCE = 3
"""Looks of a process at once: keys that nobody has made, of tenants that are none, must not use up the connections."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A tenant's authority and epochs, and when they were looked at, in seconds of the event loop's clock."""

    authority: Authority
    epochs: Epochs
    at: float

    def age(self) -> float:
        """Return the seconds since."""
        return asyncio.get_running_loop().time() - self.at

    def now(self) -> datetime:
        """Return the database's clock as it must stand now, without asking it."""
        return self.epochs.now + timedelta(seconds=self.age())


class Watch:
    """What this process knows of each tenant's authority, and the way to know it as of now.

    A look is one small statement. However many requests want one, a tenant has at most one in flight: whoever comes
    while one runs shares the next, since the one that runs may have seen less than what was committed by then.
    """

    def __init__(self, database: Database, authorities: AuthorityCache) -> None:
        self._database = database
        self._authorities = authorities
        self._last: dict[str, Sight] = {}
        self._running: dict[str, asyncio.Task[Sight | None]] = {}
        self._at_once = asyncio.Semaphore(_MOST_AT_ONCE)
        self._next: dict[str, asyncio.Task[Sight | None]] = {}

    def last(self, tenant: str) -> Sight | None:
        """Return what was seen last, however long ago, or what a lane has read since; None if it was never seen."""
        last = self._last.get(tenant)
        newest = self._authorities.newest(tenant)
        if last is None or newest is None or newest.epoch <= last.authority.epoch:
            return last
        return replace(last, authority=newest)

    def tenants(self) -> list[str]:
        """Return the tenants that this process has seen."""
        return sorted(self._last)

    async def within(self, tenant: str, seconds: float) -> Sight | None:
        """Return what was seen at most so many seconds ago, looking only if that is needed; None: no such tenant."""
        last = self._last.get(tenant)
        return last if last is not None and last.age() <= seconds else await self.fresh(tenant)

    async def fresh(self, tenant: str) -> Sight | None:
        """Return what a look that began after this call saw; None if there is no such tenant.

        Raises:
            StoreUnavailableError: the database did not answer.
        """
        look = self._next.get(tenant)
        if look is None:
            look = self._next[tenant] = _spawn(self._look(tenant, self._running.get(tenant)))
        return await asyncio.shield(look)

    async def _look(self, tenant: str, before: "asyncio.Task[Sight | None] | None") -> Sight | None:
        if before is not None:
            await asyncio.wait([before])
        running = self._running[tenant] = self._next.pop(tenant)
        try:
            async with self._at_once:
                at = asyncio.get_running_loop().time()
                found = await self._database.read(lambda reader: self._see(reader, tenant, at))
        finally:
            if self._running.get(tenant) is running:
                del self._running[tenant]
        if found is not None:
            self._last[tenant] = found
        return found

    async def _see(self, reader: Reader, tenant: str, at: float) -> Sight | None:
        try:
            epochs = await heads.epochs(reader, tenant)
            authority = await self._authorities.at(reader, tenant, epochs.authority_epoch)
        except UnknownTenantError:
            return None
        return Sight(authority, epochs, at)


def _spawn(look: Coroutine[Any, Any, Sight | None]) -> "asyncio.Task[Sight | None]":
    task = asyncio.create_task(look)
    # Everybody who waited may have gone away, and then nobody else retrieves what it raised.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
