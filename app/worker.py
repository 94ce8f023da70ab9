"""What the service does by itself: ends what time has ended, delivers what waits to leave, forgets what is old."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import structlog

from app.audit.lane import Lanes
from app.core.defaults import Defaults
from app.db.books import SWEEP
from app.db.database import Database, StoreUnavailableError
from app.db.ids import new_id
from app.db.loops import told_to_end
from app.gate import overdue
from app.gate.desk import Desk, DeskFullError
from app.gate.group import CommandFailedError
from app.gate.overdue import Overdue
from app.outbox import deliveries
from app.policies import history
from app.transports.courier import Courier, Routes

_log = structlog.get_logger(__name__)

_PAUSE: Final = 1.0
"""Seconds between two sweeps. Nothing depends on them but timeliness: whoever meets what is over ends it first."""

_FORGETTING: Final = 600.0
"""Seconds between two looks for what is old enough to be forgotten."""


class Worker:
    """Sweeps and delivers for all tenants. Any number may run: a sweep finds nothing that another has ended."""

    def __init__(self, database: Database, desk: Desk, lanes: Lanes, routes: Routes, defaults: Defaults) -> None:
        self._database = database
        self._desk = desk
        self._routes = routes
        self._defaults = defaults
        self._courier = Courier(database, lanes, routes)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_again_and_again(self._courier.run, _PAUSE))
                tasks.create_task(_again_and_again(self.sweep, _PAUSE))
                tasks.create_task(_again_and_again(self.forget, _FORGETTING))
        finally:
            await self._routes.close()

    async def sweep(self) -> int:
        """End everything that is over now, and return how much it was.

        Raises:
            StoreUnavailableError: the database did not answer; what was ended by then is.
        """
        found = await self._database.read(partial(overdue.find, approval_keep=self._defaults.approval_keep))
        return sum([await self._end(each) for each in found])

    async def forget(self) -> int:
        """Delete the messages and weighed calls that are old enough, a chunk at a time; return how many there were.

        Raises:
            StoreUnavailableError: the database did not answer; what was deleted by then is.
        """
        forgotten = 0
        for forget in (deliveries.forget, partial(history.forget, keep=self._defaults.replay_keep)):
            while now := await self._database.transact(forget):
                forgotten += now
        return forgotten

    async def _end(self, found: Overdue) -> int:
        """End what is over in one tenant; a fault there is its own, and the other tenants' turn comes."""
        ended = 0
        try:
            while (now := await self._desk.submit(found.tenant, found.sweep(new_id("swp")))) == SWEEP:
                ended += now
        except CommandFailedError:
            _log.exception("sweep_failed", tenant=found.tenant)
            return ended
        return ended + now


async def _again_and_again(work: Callable[[], Awaitable[object]], pause: float) -> None:
    """Do the work, pause, and begin again, whatever becomes of it: one fault must not end the rest for good."""
    while not told_to_end():
        try:
            await work()
        except (StoreUnavailableError, DeskFullError) as error:
            _log.warning("work_postponed", reason=type(error).__name__)
        except Exception:  # noqa: BLE001 - whatever it was, the rest goes on and so does this
            _log.exception("work_failed")
        if not told_to_end():
            await asyncio.sleep(pause)
