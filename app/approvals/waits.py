"""Waiting for people without holding a database connection.

Whoever waits is woken by a change made in this process at once, and by one made in another within a second: one
statement a second asks for everything that anybody here waits for.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

import structlog
from sqlalchemy import text

from app.db.database import Database, Reader, StoreUnavailableError
from app.db.loops import told_to_end

_log = structlog.get_logger(__name__)

MOST: Final = 2_000
_PAUSE: Final = 1.0

_DECIDED = text("""
    SELECT a.tenant, a.id
    FROM jsonb_to_recordset(CAST(:waited AS jsonb)) AS waited (tenant text, id text)
    CROSS JOIN LATERAL (SELECT * FROM approvals WHERE tenant = waited.tenant AND id = waited.id OFFSET 0) AS a
    WHERE a.status <> 'pending' OR a.expires_at <= clock_timestamp()
""")

_CHANGED = text("""
    SELECT watched.tenant, watched.seq FROM (
        SELECT w.tenant, (SELECT max(a.changed_seq) FROM approvals a WHERE a.tenant = w.tenant) AS seq
        FROM jsonb_array_elements_text(CAST(:watched AS jsonb)) AS w (tenant)
    ) AS watched WHERE watched.seq IS NOT NULL
""")

K = TypeVar("K", bound=Hashable)


class TooManyWaitersError(Exception):
    """This process holds as many waiting requests as it takes."""


class Waits:
    """Those who wait in this process: for one question to be decided, or for any change in a tenant's queue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[tuple[str, str], set[asyncio.Event]] = defaultdict(set)
        self._watching: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._seen: dict[str, int] = {}
        self._held = 0
        self._closed = False

    async def run(self) -> None:
        """Look once a second for what others have changed, until cancelled."""
        while not told_to_end():
            await asyncio.sleep(_PAUSE)
            if not self._waiting and not self._watching:
                continue
            try:
                await self._database.read(self._look)
            except StoreUnavailableError:
                _log.warning("waits_look_failed")

    def close(self) -> None:
        """Wake everybody and let nobody wait any more: the process is about to end."""
        self._closed = True
        for events in (*self._waiting.values(), *self._watching.values()):
            _wake(events)

    def poke(self, tenant: str, question_id: str) -> None:
        """Say that a question has changed."""
        _wake(self._waiting.get((tenant, question_id), ()))
        _wake(self._watching.get(tenant, ()))

    async def decided(self, tenant: str, question_id: str, seconds: float) -> None:
        """Return when the question may have been decided, or after so many seconds.

        Raises:
            TooManyWaitersError: too many wait already.
        """
        with self._place(self._waiting, (tenant, question_id)) as changed:
            await _until(changed, seconds)

    async def changes(self, tenant: str, pause: float) -> AsyncIterator[bool]:
        """Yield True whenever a question of the tenant may have changed, and False after each pause without.

        Raises:
            TooManyWaitersError: too many wait already.
        """
        with self._place(self._watching, tenant) as changed:
            while not self._closed:
                yield await _until(changed, pause)
                changed.clear()

    @contextmanager
    def _place(self, places: dict[K, set[asyncio.Event]], key: K) -> Iterator[asyncio.Event]:
        if self._held >= MOST or self._closed:
            raise TooManyWaitersError
        event = asyncio.Event()
        places[key].add(event)
        self._held += 1
        try:
            yield event
        finally:
            self._held -= 1
            places[key].discard(event)
            if not places[key]:
                del places[key]

    async def _look(self, reader: Reader) -> None:
        if self._waiting:
            waited = [{"tenant": tenant, "id": question_id} for tenant, question_id in self._waiting]
            for row in await reader.rows(_DECIDED, {"waited": waited}):
                _wake(self._waiting.get((row.tenant, row.id), ()))
        if self._watching:
            found = await reader.rows(_CHANGED, {"watched": [*self._watching]})
            self._notice({row.tenant: row.seq for row in found})

    def _notice(self, latest: Mapping[str, int]) -> None:
        for tenant, seq in latest.items():
            if self._seen.get(tenant) != seq:
                _wake(self._watching.get(tenant, ()))
        self._seen = dict(latest)


def _wake(events: Iterable[asyncio.Event]) -> None:
    for event in events:
        event.set()


async def _until(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
