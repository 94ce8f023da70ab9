"""Groups: one command at fault is alone with it, and tenants are served side by side."""

import asyncio
from dataclasses import dataclass

import pytest
from fastapi import FastAPI

from app.audit import records
from app.audit.heads import UnknownTenantError
from app.db.ids import new_id
from app.gate.desk import Desk, DeskFullError, DeskLimits
from app.gate.group import CommandFailedError
from app.gate.lane import Lane


@dataclass(frozen=True)
class Append:
    """A command that appends one record, about whom it is told."""

    id: str
    principal: str

    def wants(self, lane: Lane) -> None:
        """Need nothing."""

    def run(self, lane: Lane) -> int:
        """Append the record."""
        return lane.journal.append("test.appended", {"by": self.principal}, principal=self.principal)


@dataclass(frozen=True)
class Raise:
    """A command that appends a record and then raises."""

    id: str

    def wants(self, lane: Lane) -> None:
        """Need nothing."""

    def run(self, lane: Lane) -> int:
        """Leave something behind that must not be written."""
        lane.journal.append("test.never", {})
        raise RuntimeError("a condition that nobody thought of")


@pytest.fixture
def desk(app: FastAPI, keys: dict[str, str]) -> Desk:
    """The desk of a running service that has the tenant `dev`."""
    assert keys
    desk: Desk = app.state.house.desk
    return desk


async def _events(app: FastAPI) -> list[str]:
    span = await app.state.house.database.read(lambda reader: records.span(reader, "dev", 0, None))
    text = "".join([line async for line in records.lines(app.state.house.database, "dev", span)])
    return [line.split('"event_type":"')[1].split('"')[0] for line in text.splitlines()]


async def test_a_command_that_raises_never_fails_its_neighbours(desk: Desk, app: FastAPI) -> None:
    good = [desk.submit("dev", Append(new_id("cmd"), f"agent-{number}")) for number in range(20)]
    bad = [desk.submit("dev", Raise(new_id("cmd"))) for _ in range(3)]
    answers = await asyncio.gather(*good[:10], *bad, *good[10:], return_exceptions=True)

    assert [type(answer) for answer in answers] == [int] * 10 + [CommandFailedError] * 3 + [int] * 10
    events = await _events(app)
    assert events.count("test.appended") == 20
    assert events.count("test.never") == 0


async def test_a_value_that_the_database_refuses_never_fails_its_neighbours(desk: Desk, app: FastAPI) -> None:
    commands = [Append(new_id("cmd"), "bad\0name" if number == 7 else "good") for number in range(20)]
    answers = await asyncio.gather(*(desk.submit("dev", command) for command in commands), return_exceptions=True)

    assert isinstance(answers[7], CommandFailedError)
    assert all(isinstance(answer, int) for place, answer in enumerate(answers) if place != 7)
    assert (await _events(app)).count("test.appended") == 19


async def test_an_unknown_tenant_is_an_error_of_its_own(desk: Desk) -> None:
    unknown, known = await asyncio.gather(
        desk.submit("nobody", Append(new_id("cmd"), "a")),
        desk.submit("dev", Append(new_id("cmd"), "a")),
        return_exceptions=True,
    )
    assert isinstance(unknown, UnknownTenantError)
    assert isinstance(known, int)


async def test_a_full_desk_says_so_at_once(app: FastAPI, keys: dict[str, str]) -> None:
    assert keys
    house = app.state.house
    # Nobody serves this desk, so that it fills up.
    desk = Desk(house.database, house.builder, DeskLimits(waiting=2, deadline=0.2))
    waiting = [asyncio.create_task(desk.submit("dev", Append(new_id("cmd"), "a"))) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(DeskFullError):
        await desk.submit("dev", Append(new_id("cmd"), "a"))
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(end).__name__ for end in ends} == {"StoreUnavailableError"}


async def test_what_nobody_waits_for_any_more_is_not_begun(app: FastAPI, keys: dict[str, str]) -> None:
    assert keys
    house = app.state.house
    desk = Desk(house.database, house.builder, DeskLimits(deadline=5))
    gone = asyncio.create_task(desk.submit("dev", Append(new_id("cmd"), "gone")))
    await asyncio.sleep(0)
    gone.cancel()
    serving = asyncio.create_task(desk.run())
    try:
        assert isinstance(await desk.submit("dev", Append(new_id("cmd"), "here")), int)
    finally:
        serving.cancel()
        await asyncio.wait([serving])
    assert (await _events(app)).count("test.appended") == 1
