"""What the service does by itself: ends what time has ended, and delivers what waits to leave."""

import asyncio
from typing import Final

import structlog

from app.audit.lane import Lanes
from app.db.database import Database, StoreUnavailableError
from app.db.ids import new_id
from app.gate import overdue
from app.gate.desk import Desk, DeskFullError
from app.gate.group import CommandFailedError
from app.gate.overdue import CHUNK, Overdue
from app.transports.courier import Courier, Routes

_log = structlog.get_logger(__name__)

_PAUSE: Final = 1.0
"""Seconds between two looks. Nothing depends on them but timeliness: whoever meets what is over ends it first."""


class Worker:
    """Sweeps and delivers for all tenants. Any number may run: a sweep finds nothing that another has ended."""

    def __init__(self, database: Database, desk: Desk, lanes: Lanes, routes: Routes) -> None:
        self._database = database
        self._desk = desk
        self._routes = routes
        self._courier = Courier(database, lanes, routes)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._courier.run())
                tasks.create_task(self._sweep_for_ever())
        finally:
            await self._routes.close()

    async def sweep(self) -> int:
        """End everything that is over now, and return how much it was.

        Raises:
            StoreUnavailableError: the database did not answer; what was ended by then is.
        """
        found = await self._database.read(overdue.find)
        return sum([await self._end(each) for each in found])

    async def _end(self, found: Overdue) -> int:
        ended = 0
        while (now := await self._desk.submit(found.tenant, found.sweep(new_id("swp")))) == CHUNK:
            ended += now
        return ended + now

    async def _sweep_for_ever(self) -> None:
        while True:
            try:
                await self.sweep()
            except (StoreUnavailableError, DeskFullError) as error:
                _log.warning("sweep_postponed", reason=type(error).__name__)
            except CommandFailedError:
                _log.exception("sweep_failed")
            await asyncio.sleep(_PAUSE)
