"""The two doors to Postgres: what a caller gets when it is slow, absent, broken or busy, and what is left behind."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from app.db.database import CommitLostError, Database, Limits, Reader, StoreUnavailableError, Writer
from app.db.loops import told_to_end
from app.db.statements import Row
from tests.proxy import Wire, wired

_HASTY = Limits(connections=2, pool_wait=0.5, connect=1.0, statement=1.0)
_MAKE = text("CREATE TABLE notes (note text, extra jsonb)")
_WRITE = text("INSERT INTO notes VALUES (:note, :extra)")
_COUNT = text("SELECT count(*) AS number FROM notes")
_ONE = text("SELECT 1 AS one")
_SLEEP = text("SELECT pg_sleep(30)")


@pytest.fixture
async def wire(database_url: str) -> AsyncIterator[tuple[Wire, Database]]:
    """A hasty database behind a wire, with a table for notes."""
    async with wired(database_url) as (wire, url):
        database = Database.at(url, _HASTY)
        await database.transact(lambda tx: tx.write(_MAKE))
        yield wire, database
        await database.close()


async def one(reader: Reader) -> Row | None:
    """Ask for a row."""
    return await reader.row(_ONE)


async def count(database: Database) -> int:
    """Return how many notes there are."""
    row = await database.read(lambda reader: reader.row(_COUNT))
    return 0 if row is None else int(row.number)


async def note(tx: Writer) -> str:
    """Write a note."""
    await tx.write(_WRITE, {"note": "a", "extra": None})
    return "written"


@pytest.mark.parametrize("keeps_answer", [False, True])
async def test_a_connection_that_breaks_in_a_statement_changes_nothing(
    wire: tuple[Wire, Database], *, keeps_answer: bool
) -> None:
    cable, database = wire
    cable.stop_at(b"INSERT INTO notes", keeps_answer=keeps_answer)
    writing = asyncio.create_task(database.transact(note))
    await cable.reached.wait()
    cable.cut()
    with pytest.raises(StoreUnavailableError) as raised:
        await writing
    assert not isinstance(raised.value, CommitLostError)
    assert await count(database) == 0


@pytest.mark.parametrize("happened", [False, True])
async def test_a_connection_that_breaks_while_committing_says_so(
    wire: tuple[Wire, Database], *, happened: bool
) -> None:
    cable, database = wire
    cable.stop_at(b"COMMIT;", keeps_answer=happened)
    writing = asyncio.create_task(database.transact(note))
    await cable.reached.wait()
    cable.cut()
    with pytest.raises(CommitLostError):
        await writing
    assert await count(database) == happened


async def test_a_server_that_falls_silent_is_given_up_in_time(wire: tuple[Wire, Database]) -> None:
    cable, database = wire
    cable.stop_at(b"INSERT INTO notes", keeps_answer=True)
    async with asyncio.timeout(5):
        with pytest.raises(StoreUnavailableError):
            await database.transact(note)
    assert await count(database) == 0


async def test_a_server_that_is_silent_from_the_start_is_given_up_in_time(database_url: str) -> None:
    async with wired(database_url) as (cable, url):
        cable.stop_at(b"BEGIN", keeps_answer=True)  # of learning to speak JSON
        database = Database.at(url, _HASTY)
        async with asyncio.timeout(3):
            with pytest.raises(StoreUnavailableError):
                await database.read(one)
        assert (await database.read(one)) is not None
        await database.close()


async def test_what_is_committed_is_answered_whatever_becomes_of_the_connection(
    wire: tuple[Wire, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, database = wire
    release = asyncpg.pool.PoolConnectionHolder.release

    async def fail(holder: Any, timeout: float | None) -> None:  # noqa: ASYNC109 - the driver's own signature
        await release(holder, timeout)
        raise TimeoutError

    with monkeypatch.context() as patched:
        patched.setattr(asyncpg.pool.PoolConnectionHolder, "release", fail)
        assert await database.transact(note) == "written"
    assert await count(database) == 1


@pytest.mark.parametrize("lost", ["got result for unknown protocol state 0", "cannot switch to state 12"])
@pytest.mark.parametrize(("at", "committing"), [("INSERT", False), ("COMMIT", True)])
async def test_a_driver_that_has_lost_its_place_is_an_absent_database(
    database: Database, monkeypatch: pytest.MonkeyPatch, at: str, lost: str, *, committing: bool
) -> None:
    await database.transact(lambda tx: tx.write(_MAKE))
    execute = asyncpg.Connection.execute

    async def lose(connection: Any, query: str, *values: Any) -> Any:
        if query.startswith(at):
            raise asyncpg.InternalClientError(lost)
        return await execute(connection, query, *values)

    with monkeypatch.context() as patched:
        patched.setattr(asyncpg.Connection, "execute", lose)
        with pytest.raises(StoreUnavailableError) as raised:
            await database.transact(note)
    assert isinstance(raised.value, CommitLostError) is committing
    assert await count(database) == 0


async def test_who_is_cancelled_leaves_no_connection_behind(wire: tuple[Wire, Database]) -> None:
    _, database = wire
    for _ in range(3 * _HASTY.connections):
        sleeping = asyncio.create_task(database.transact(lambda tx: tx.rows(_SLEEP)))
        await asyncio.sleep(0.05)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        assert await database.transact(note) == "written"
    assert await count(database) == 3 * _HASTY.connections


async def test_when_all_connections_are_taken_others_are_refused_and_served_later(
    wire: tuple[Wire, Database],
) -> None:
    _, database = wire
    done = asyncio.Event()

    async def hold(reader: Reader) -> None:
        await reader.row(_ONE)
        await done.wait()

    holding = [asyncio.create_task(database.read(hold)) for _ in range(_HASTY.connections)]
    await asyncio.sleep(0.1)
    async with asyncio.timeout(2):
        with pytest.raises(StoreUnavailableError):
            await database.read(one)
    done.set()
    await asyncio.gather(*holding)
    assert (await database.read(one)) is not None


async def test_a_fault_of_the_command_is_its_own_and_rolls_back(wire: tuple[Wire, Database]) -> None:
    _, database = wire

    async def fail(tx: Writer) -> None:
        await note(tx)
        raise LookupError("its own")

    with pytest.raises(LookupError, match="its own"):
        await database.transact(fail)
    with pytest.raises(asyncpg.PostgresError):
        await database.transact(lambda tx: tx.rows(text("SELECT 1 / 0")))
    assert await count(database) == 0


async def test_a_statement_is_prepared_anew_when_its_table_has_changed(wire: tuple[Wire, Database]) -> None:
    _, database = wire
    everything = text("SELECT * FROM notes")
    await database.transact(note)
    for _ in range(2):
        await database.transact(lambda tx: tx.rows(everything))
    await database.transact(lambda tx: tx.write(text("ALTER TABLE notes ALTER COLUMN note TYPE varchar(90)")))
    assert len(await database.transact(lambda tx: tx.rows(everything))) == 1


async def test_a_closed_database_is_absent(database_url: str) -> None:
    database = Database.at(database_url)
    assert (await database.read(one)) is not None
    await database.close()
    with pytest.raises(StoreUnavailableError):
        await database.read(one)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"a": [1, 2.5, "é", None, True]}, {"a": [1, 2.5, "é", None, True]}),
        ("text", "text"),
        (2**70, 2**70),
        ([Decimal("1.50"), datetime(2026, 11, 29, tzinfo=UTC)], ["1.50", "2026-11-29T00:00:00Z"]),
    ],
)
async def test_a_jsonb_is_a_value(database: Database, value: object, read: object) -> None:
    await database.transact(lambda tx: tx.write(_MAKE))
    assert await database.transact(lambda tx: tx.write(_WRITE, {"note": "a", "extra": value})) == 1
    row = await database.read(lambda reader: reader.row(text("SELECT note, extra FROM notes")))
    assert row is not None
    assert row.extra == read
    found, extra = row
    assert (found, extra) == ("a", read)
    with pytest.raises(AttributeError):
        _ = row.nothing


async def test_none_is_null_and_not_a_json_null(database: Database) -> None:
    await database.transact(lambda tx: tx.write(_MAKE))
    await database.transact(note)
    row = await database.read(lambda reader: reader.row(text("SELECT extra IS NULL AS absent FROM notes")))
    assert row is not None
    assert row.absent


@pytest.mark.parametrize("value", [float("nan"), "half \ud800", "nul \0"])
async def test_what_postgres_cannot_hold_is_the_commands_own_fault(database: Database, value: object) -> None:
    await database.transact(lambda tx: tx.write(_MAKE))
    with pytest.raises(Exception, match=r".") as raised:
        await database.transact(lambda tx: tx.write(_WRITE, {"note": "a", "extra": value}))
    assert not isinstance(raised.value, StoreUnavailableError)
    assert await count(database) == 0


async def test_a_parameter_that_is_missing_is_not_taken_for_an_absent_database(database: Database) -> None:
    with pytest.raises(KeyError):
        await database.read(lambda reader: reader.row(text("SELECT CAST(:name AS text)")))


async def test_a_time_out_and_a_group_of_tasks_are_no_word_to_end() -> None:
    async def fail() -> None:
        raise LookupError

    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(1)
    except TimeoutError:
        pass
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())
            await asyncio.sleep(1)
    except* LookupError:
        pass
    assert not told_to_end()
