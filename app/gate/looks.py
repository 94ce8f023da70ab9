"""Looks at single questions: however many want one at a time, a statement is in flight and the rest share the next."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final

from app.approvals import queries
from app.approvals.questions import Question
from app.db.database import Database, Reader
from app.outbox import deliveries
from app.outbox.deliveries import Standing

_MOST: Final = 500

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """A question, and how the messages about it went. It is shared by all who looked: nobody changes it."""

    question: Question
    delivery: Standing


class Looks:
    """Reads questions for requests of all tenants, in batches.

    Thousands wait for people, and one activation may wake all of them: each look of its own would take every
    connection for seconds. A look begins after it was asked for, so it sees what was committed by then.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wanted: dict[_Key, asyncio.Future[Found | None]] = {}
        self._serving: asyncio.Task[None] | None = None

    async def at(self, tenant: str, question_id: str) -> Found | None:
        """Return the question, or None if there is none.

        Raises:
            StoreUnavailableError: the database did not answer.
        """
        key = (tenant, question_id)
        look = self._wanted.get(key)
        if look is None:
            look = self._wanted[key] = asyncio.get_running_loop().create_future()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        return await asyncio.shield(look)

    async def _serve(self) -> None:
        while self._wanted:
            keys = [*self._wanted][:_MOST]
            looks = {key: self._wanted.pop(key) for key in keys}
            try:
                found = await self._database.read(partial(_read, keys=keys))
            except Exception as error:  # noqa: BLE001 - whatever it was, everybody who looked gets it
                _answer_all(looks, error)
            else:
                for key, look in looks.items():
                    look.set_result(found.get(key))


def _answer_all(looks: dict[_Key, "asyncio.Future[Found | None]"], error: Exception) -> None:
    for look in looks.values():
        look.set_exception(error)
        # Everybody may be gone, and then nobody retrieves it.
        look.exception()


async def _read(reader: Reader, keys: list[_Key]) -> dict[_Key, Found]:
    questions = await queries.these(reader, keys)
    standings: dict[_Key, Standing] = {}
    for tenant in {tenant for tenant, _ in questions}:
        ids = [question_id for of, question_id in questions if of == tenant]
        told = await deliveries.standings(reader, tenant, ids)
        standings |= {(tenant, question_id): standing for question_id, standing in told.items()}
    return {key: Found(question, standings.get(key, Standing.NONE)) for key, question in questions.items()}
