"""The desk: takes the commands that wait for a tenant and serves them in groups.

One queue a tenant, served round robin; one group in flight a tenant and process; several tenants side by side. A
single command is a group of one: there is no second path. Processes meet only at the head row, so nothing here is
needed for correctness; it is here because a commit costs the same for one command and for a hundred.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.db.database import Database, StoreUnavailableError
from app.db.loops import told_to_end
from app.gate import group, measures
from app.gate.group import Command
from app.gate.lane import LaneBuilder

T = TypeVar("T")


class DeskFullError(Exception):
    """More commands wait than the desk takes. Nothing was changed; try again a little later."""


@dataclass(frozen=True, slots=True)
class DeskLimits:
    """Bounds of the desk: commands a group, commands waiting, groups in flight, and seconds until a 503."""

    group: int = 128
    waiting: int = 4096
    in_flight: int = 6
    deadline: float = 4.5


@dataclass(slots=True)
class _Ticket:
    command: Command[Any]
    answer: "asyncio.Future[Any]"


@dataclass(slots=True)
class _Queue:
    tickets: deque[_Ticket] = field(default_factory=deque)
    scheduled: bool = False
    """Whether the tenant waits for its turn or has a group in flight."""


class Desk:
    """Serves commands in groups; `run` for as long as the service runs, `submit` from any request."""

    def __init__(self, database: Database, builder: LaneBuilder, limits: DeskLimits | None = None) -> None:
        self._database = database
        self._builder = builder
        self._limits = limits or DeskLimits()
        self._queues: dict[str, _Queue] = {}
        self._turns: asyncio.Queue[str] = asyncio.Queue()
        self._waiting = 0

    async def run(self) -> None:
        """Serve groups until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._limits.in_flight):
                workers.create_task(self._work())

    async def submit(self, tenant: str, command: Command[T]) -> T:
        """Return the command's answer once it is committed. A caller that goes away changes nothing.

        Raises:
            DeskFullError: too many commands wait.
            StoreUnavailableError: there was no answer in time; what was not begun by then is not run.
            CommandFailedError: the command's own fault; nothing of it was changed.
        """
        if self._waiting >= self._limits.waiting:
            raise DeskFullError
        loop = asyncio.get_running_loop()
        ticket = _Ticket(command, loop.create_future())
        expiry = loop.call_later(self._limits.deadline, _give_up, ticket)
        self._enqueue(tenant, ticket)
        try:
            answer: T = await ticket.answer
        finally:
            expiry.cancel()
        return answer

    def _enqueue(self, tenant: str, ticket: _Ticket) -> None:
        queue = self._queues.setdefault(tenant, _Queue())
        queue.tickets.append(ticket)
        self._waiting += 1
        if not queue.scheduled:
            queue.scheduled = True
            self._turns.put_nowait(tenant)

    async def _work(self) -> None:
        while not told_to_end():
            tenant = await self._turns.get()
            await self._serve(tenant, self._take(self._queues[tenant]))
            self._yield_turn(tenant)

    def _take(self, queue: _Queue) -> list[_Ticket]:
        number = min(len(queue.tickets), self._limits.group)
        self._waiting -= number
        return [queue.tickets.popleft() for _ in range(number)]

    def _yield_turn(self, tenant: str) -> None:
        queue = self._queues[tenant]
        if queue.tickets:
            self._turns.put_nowait(tenant)
        else:
            del self._queues[tenant]

    async def _serve(self, tenant: str, tickets: Sequence[_Ticket]) -> None:
        # Whoever gave up, or went away, before its turn is not served: nobody would hear of what was reserved.
        waiting = [ticket for ticket in tickets if not ticket.answer.done()]
        if not waiting:
            return
        try:
            with measures.group(len(waiting)):
                commands = [ticket.command for ticket in waiting]
                answers = await group.serve(self._database, self._builder, tenant, commands)
        except Exception as error:  # noqa: BLE001 - whatever it was, every caller gets it and the desk goes on
            answers = {ticket.command.id: error for ticket in waiting}
        for ticket in waiting:
            _answer(ticket, answers[ticket.command.id])


def _answer(ticket: _Ticket, answer: object) -> None:
    if ticket.answer.done():
        return
    if isinstance(answer, Exception):
        ticket.answer.set_exception(answer)
    else:
        ticket.answer.set_result(answer)


def _give_up(ticket: _Ticket) -> None:
    _answer(ticket, StoreUnavailableError())
