"""A tenant's lane for one administrative command: the head locked, the journal open, written at the end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from app.audit import heads
from app.audit.heads import Head
from app.audit.journal import Journal
from app.core.chain import Signer
from app.db import books
from app.db.database import Database, Writer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lane:
    """What an administrative command works with: its transaction, the locked head, the clock, and the journal."""

    tx: Writer
    head: Head
    now: datetime
    journal: Journal


class Lanes:
    """Runs administrative commands: each in one transaction, under its tenant's lock, with its records."""

    def __init__(self, database: Database, signer: Signer) -> None:
        self._database = database
        self._signer = signer

    async def run(self, tenant: str, command: Callable[[Lane], Awaitable[T]]) -> T:
        """Run the command in the tenant's lane and commit what it wrote and appended.

        A command that changes policy or authority must append a record: the epochs are written with it.

        Raises:
            UnknownTenantError: there is no such tenant.
            StoreUnavailableError: the database did not answer.
        """
        return await self._database.transact(lambda tx: self._inside(tx, tenant, command))

    async def begin(self, tenant: str, command: Callable[[Lane], Awaitable[T]]) -> T | None:
        """Begin the chain of a new tenant and run its first command; return None, and run nothing, if it has one.

        Raises:
            StoreUnavailableError: the database did not answer.
        """

        async def first(tx: Writer) -> T | None:
            return await self._inside(tx, tenant, command) if await heads.create(tx, tenant) else None

        return await self._database.transact(first)

    async def _inside(self, tx: Writer, tenant: str, command: Callable[[Lane], Awaitable[T]]) -> T:
        head, now = await heads.lock(tx, tenant)
        journal = Journal(head, now, self._signer)
        result = await command(Lane(tx, head, now, journal))
        await books.write(tx, tenant, [journal])
        return result
