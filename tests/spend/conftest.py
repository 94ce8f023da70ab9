"""A spend book over a real database, one group at a time."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import TypeAlias

import pytest

from app.core.policy.limits import Limit
from app.db import books
from app.db.database import Database, Writer
from app.spend.book import SpendBook

TENANT = "acme"
Group: TypeAlias = Callable[[SpendBook], object]
RunGroup: TypeAlias = Callable[[datetime, Iterable[tuple[Limit, str]], Group], Awaitable[SpendBook]]


@pytest.fixture
def run_group(database: Database) -> RunGroup:
    """Run one group at a time of the clock, with the limits that it looks at, and commit it."""

    async def run(now: datetime, limits: Iterable[tuple[Limit, str]], group: Group) -> SpendBook:
        async def inside(tx: Writer) -> SpendBook:
            book = SpendBook(now)
            book.want(limits)
            await books.read(tx, TENANT, [book])
            group(book)
            await books.write(tx, TENANT, [book])
            return book

        return await database.transact(inside)

    return run
