"""One group of commands of one tenant, in one transaction; and what is done when that fails."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import structlog
from sqlalchemy import text

from app.audit import heads
from app.audit.heads import UnknownTenantError
from app.db import books
from app.db.database import CommitLostError, Database, StoreUnavailableError, Writer
from app.gate.lane import Lane, LaneBuilder

T = TypeVar("T")
Answer_co = TypeVar("Answer_co", covariant=True)

_log = structlog.get_logger(__name__)

_COMMITTED = text("SELECT command_id FROM audit_records WHERE tenant = :tenant AND command_id = ANY(:ids)")
_RECOVERIES = 5
_RECOVERY_PAUSE = 0.2


class Command(Protocol[Answer_co]):
    """One change of a tenant's state.

    `id` is made before the first try and is unique. A command may be run several times before its answer leaves, each
    time in a fresh lane, so it keeps nothing of a run but what is a function of the policy's revision.
    """

    @property
    def id(self) -> str:
        """Return the id under which the command's first record is found."""
        ...

    def wants(self, lane: Lane) -> None:
        """Tell the books what has to be read; once more if what was read of grants makes more of it wanted."""
        ...

    def run(self, lane: Lane) -> Answer_co:
        """Change the books, append the records, and return the answer."""
        ...


class CommandFailedError(Exception):
    """The command raised, or the database refused a value of it: its own fault, and nobody else's."""


class _FaultyError(Exception):
    """Inside a group: which command raised. Rolls the group back, so that it can run again without it."""

    def __init__(self, command: Command[Any]) -> None:
        super().__init__()
        self.command = command


Answers = dict[str, Any]
"""By command id: what it returned, or the exception that is its answer."""


async def serve(database: Database, builder: LaneBuilder, tenant: str, commands: Sequence[Command[Any]]) -> Answers:
    """Run the commands in one transaction and return an answer for each.

    A command at fault is answered with `CommandFailedError` and the others run again without it. If the connection
    breaks while committing, the commands' ids are looked up under the lock, and only what is absent runs again.

    Raises:
        StoreUnavailableError: the database did not answer; unless it was committing, nothing was changed.
        UnknownTenantError: there is no such tenant.
    """
    try:
        return await _serve_together(database, builder, tenant, commands)
    except _FaultyError as fault:
        _log.error("command_failed", command=type(fault.command).__name__, exc_info=fault.__cause__)
        rest = [command for command in commands if command is not fault.command]
        answers = await serve(database, builder, tenant, rest) if rest else {}
        return answers | {fault.command.id: CommandFailedError()}
    except (StoreUnavailableError, UnknownTenantError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it was, whose it is shows when each runs alone
        if len(commands) == 1:
            _log.error("command_not_written", command=type(commands[0]).__name__, error=type(error).__name__)
            return {commands[0].id: CommandFailedError()}
        return await _serve_one_by_one(database, builder, tenant, commands)


async def _serve_one_by_one(
    database: Database, builder: LaneBuilder, tenant: str, commands: Sequence[Command[Any]]
) -> Answers:
    answers: Answers = {}
    for command in commands:
        answers |= await serve(database, builder, tenant, [command])
    return answers


async def _serve_together(
    database: Database, builder: LaneBuilder, tenant: str, commands: Sequence[Command[Any]]
) -> Answers:
    answers: Answers = {}

    async def together(tx: Writer) -> Answers:
        answers.clear()
        answers.update(await _run(tx, builder, tenant, commands))
        return answers

    try:
        return await database.transact(together)
    except CommitLostError:
        return await _recover(database, builder, tenant, commands, answers)


async def _run(tx: Writer, builder: LaneBuilder, tenant: str, commands: Sequence[Command[Any]]) -> Answers:
    lane = await builder.open(tx, tenant)
    await _read(tx, lane, commands)
    answers = {}
    for command in commands:
        lane.journal.begin(command.id)
        answers[command.id] = _guarded(command, command.run, lane)
    await books.write(tx, tenant, lane.books)
    return answers


async def _read(tx: Writer, lane: Lane, commands: Sequence[Command[Any]]) -> None:
    """Read what the commands want. Grants that memory lacks come first: they say what else a call is charged to."""
    _ask(lane, commands)
    if any(lane.grants.wants().values()):
        await books.read(tx, lane.tenant, [lane.grants])
        _ask(lane, commands)
    await books.read(tx, lane.tenant, lane.books)


def _ask(lane: Lane, commands: Sequence[Command[Any]]) -> None:
    for command in commands:
        _guarded(command, command.wants, lane)


def _guarded(command: "Command[Any]", step: Callable[[Lane], T], lane: Lane) -> T:
    try:
        return step(lane)
    except Exception as error:
        raise _FaultyError(command) from error


async def _recover(
    database: Database, builder: LaneBuilder, tenant: str, commands: Sequence[Command[Any]], answers: Answers
) -> Answers:
    """After a lost COMMIT: answer what is in the record, and run the rest, under one lock.

    A transaction is whole or absent, so one id that is found proves all of them. Commands that append nothing change
    nothing, and may run again.
    """
    ids = [command.id for command in commands]

    async def look_up(tx: Writer) -> Answers:
        await heads.lock(tx, tenant)
        if await tx.rows(_COMMITTED, {"tenant": tenant, "ids": ids}):
            return answers
        return await _run(tx, builder, tenant, commands)

    for _ in range(_RECOVERIES):
        try:
            return await database.transact(look_up)
        except StoreUnavailableError:
            await asyncio.sleep(_RECOVERY_PAUSE)
    return await database.transact(look_up)
