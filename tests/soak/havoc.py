"""What goes wrong meanwhile: processes that die, connections that break, backends that are ended."""

import asyncio
import random
from collections import Counter

from sqlalchemy import text

from app.db.database import Database
from tests.live import LiveService
from tests.proxy import Wire
from tests.soak.replicas import Replicas

_END_ONE = text("""
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
""")


class Havoc:
    """Breaks something every second or so, and counts what."""

    def __init__(self, replicas: Replicas, wire: Wire, database: Database) -> None:
        self._replicas = replicas
        self._wire = wire
        self._database = database
        self.done: Counter[str] = Counter()

    async def wreak(self, seconds: float) -> None:
        """Break things for so long; all processes run again when it ends."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(random.uniform(0.3, 2))
            what = random.choice((self._kill, self._cut, self._end_backend))
            await what()

    async def _kill(self) -> None:
        service = random.choice(self._replicas.services)
        await asyncio.to_thread(_again, service)
        self.done["processes killed"] += 1

    async def _cut(self) -> None:
        self._wire.cut()
        self.done["times all connections cut"] += 1

    async def _end_backend(self) -> None:
        await self._database.transact(lambda tx: tx.rows(_END_ONE))
        self.done["backends ended"] += 1


def _again(service: LiveService) -> None:
    service.kill()
    service.start()
