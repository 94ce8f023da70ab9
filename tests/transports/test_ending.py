"""What runs for as long as the process ends when it is told to, even if a library loses the word on its way."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import pytest

from app.approvals.waits import Waits
from app.audit.lane import Lanes
from app.core.chain import Signer
from app.core.defaults import Defaults
from app.core.permits import PermitIssuer
from app.db.database import Database, Limits, Reader, StoreUnavailableError, Writer
from app.gate.desk import Desk
from app.gate.facts import FactCache
from app.gate.lane import LaneBuilder
from app.gate.question_sweeps import SweepQuestions
from app.outbox.book import Outlets
from app.outbox.sealing import Sealer
from app.transports.addresses import Permitted
from app.transports.courier import Courier, Routes
from app.transports.webhook import WebhookTransport, authorities
from app.worker import Worker

T = TypeVar("T")
Loop = Callable[[Database, Signer, Sealer], Awaitable[None]]


class Lossy(Database):
    """A database that does not answer, and loses the cancellation of whoever waits for it."""

    def __init__(self) -> None:
        super().__init__({}, Limits(), prepared=True)
        self.asked = asyncio.Event()

    async def read(self, query: Callable[[Reader], Awaitable[T]]) -> T:
        """Lose the word."""
        del query
        raise await self._lose()

    async def transact(self, command: Callable[[Writer], Awaitable[T]]) -> T:
        """Lose the word."""
        del command
        raise await self._lose()

    async def _lose(self) -> StoreUnavailableError:
        self.asked.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return StoreUnavailableError()


def courier(database: Database, signer: Signer, sealer: Sealer) -> Courier:
    """Return a courier over the database."""
    return Courier(database, Lanes(database, signer), routes(sealer))


def routes(sealer: Sealer) -> Routes:
    """Return the way to webhooks."""
    return Routes(WebhookTransport(sealer, Permitted(loopback=True), authorities()))


def desk(database: Database, signer: Signer) -> Desk:
    """Return a desk over the database."""
    address = "http://countersign.test"
    builder = LaneBuilder(FactCache.empty(), signer, PermitIssuer(signer, address), Outlets(address), Defaults())
    return Desk(database, builder)


async def deliver(database: Database, signer: Signer, sealer: Sealer) -> None:
    """Deliver until told to end."""
    await courier(database, signer, sealer).run()


async def work(database: Database, signer: Signer, sealer: Sealer) -> None:
    """Sweep, deliver and forget until told to end."""
    worker = Worker(database, desk(database, signer), Lanes(database, signer), routes(sealer), Defaults())
    await worker.run()


async def serve(database: Database, signer: Signer, sealer: Sealer) -> None:
    """Serve a command, and then others, until told to end."""
    del sealer
    served = desk(database, signer)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(served.run())
        asked = asyncio.ensure_future(served.submit("dev", SweepQuestions("swp_1")))
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())


async def look(database: Database, signer: Signer, sealer: Sealer) -> None:
    """Look for what others have changed, for somebody who waits, until told to end."""
    del signer, sealer
    waits = Waits(database)
    waiting = asyncio.create_task(waits.decided("dev", "apr_1", 30))
    await asyncio.sleep(0)
    try:
        await waits.run()
    finally:
        waiting.cancel()


@pytest.mark.parametrize("loop", [deliver, work, serve, look])
async def test_a_loop_ends_though_the_word_was_lost(loop: Loop, signer: Signer, sealer: Sealer) -> None:
    database = Lossy()
    running = asyncio.ensure_future(loop(database, signer, sealer))
    await asyncio.wait_for(database.asked.wait(), 5)
    running.cancel()
    await asyncio.wait({running}, timeout=5)
    assert running.done()
    assert running.cancelled() or running.exception() is None
