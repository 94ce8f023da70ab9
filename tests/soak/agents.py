"""What agents, an approver and an operator do, over and over, in any order."""

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.soak.answers import Answers
from tests.soak.replicas import Replicas

AGENTS = ("agent", "agent2")
_EACH = 8
"""How many of each agent work at once: fewer than the questions that a principal may have open."""

_LATE = 2.5
"""Seconds after which a lease of two is over."""


class Staff:
    """Everybody who works, until told to stop."""

    def __init__(self, replicas: Replicas, answers: Answers) -> None:
        self._replicas = replicas
        self._answers = answers
        self._numbers = itertools.count(1)
        self._began = time.monotonic()
        self._stops = asyncio.Event()

    def stop(self) -> None:
        """Let everybody finish what they are at, and begin nothing more."""
        self._stops.set()

    async def work(self) -> None:
        """Work until stopped; every request has its answer then."""
        async with asyncio.TaskGroup() as tasks:
            for who in AGENTS * _EACH:
                tasks.create_task(self._again_and_again(self._agent, who))
            tasks.create_task(self._again_and_again(self._operator, "operator"))

    async def _again_and_again(self, work: Callable[[str], Awaitable[None]], who: str) -> None:
        while not self._stops.is_set():
            await work(who)

    async def _agent(self, who: str) -> None:
        chores = [self._pay, self._race, self._wire, self._repeat]
        await random.choices(chores, weights=(5, 1, 4, 2))[0](who)

    # what an agent does

    async def _pay(self, who: str) -> None:
        """Pay, and again where it did not happen."""
        payment = self._new("payment")
        for _ in range(random.choice((1, 1, 4))):
            answer = await self._call(who, self._payment("soak.pay", payment))
            if not answer["allowed"] or await self._report(who, answer) != "not_executed":
                return

    async def _race(self, who: str) -> None:
        """Pay the same three times at once."""
        payment = self._new("payment")
        bodies = [self._payment("soak.pay", payment) for _ in range(3)]
        answers = await asyncio.gather(*(self._call(who, body) for body in bodies))
        for answer in answers:
            if answer["allowed"]:
                await self._report(who, answer)

    async def _wire(self, who: str) -> None:
        """Ask people, and use what they said, more than once at the same time."""
        body = self._payment("soak.wire", self._new("payment"))
        asked = await self._call(who, body)
        if asked["approval_id"] is None or asked["outcome"] != "require_human":
            return
        await self._answer(who, asked["approval_id"])
        again = [{**body, "idempotency_key": self._new("key")} for _ in range(random.choice((1, 1, 3)))]
        for answer in await asyncio.gather(*(self._call(who, each) for each in again)):
            if answer["allowed"]:
                await self._report(who, answer)

    async def _answer(self, who: str, question: str) -> None:
        """Approve or deny a question, take it back, or leave it until nobody has answered in time."""
        match random.choices(("approve", "deny", "cancel", "leave"), weights=(6, 1, 1, 1))[0]:
            case "cancel":
                taken = await self._replicas.ask(who, "POST", f"/v1/approvals/{question}/cancel", {})
                _expect(taken, 200, 409)
            case "leave":
                await asyncio.sleep(random.uniform(0, 5))
            case verdict:
                vote = {"decision": verdict}
                said = await self._replicas.ask("approver", "POST", f"/v1/approvals/{question}/decision", vote)
                _expect(said, 200, 409)

    async def _repeat(self, _who: str) -> None:
        """Send again what anybody sent before, under its key."""
        if self._answers.requests:
            first, body = random.choice(list(self._answers.requests.values()))
            await self._call(first, body)
        await asyncio.sleep(0)

    async def _report(self, who: str, answer: dict[str, Any]) -> str:
        """Say what came of an admission, in time or too late, or say nothing."""
        outcome = random.choices(("executed", "not_executed", "unknown", "silence"), weights=(6, 2, 1, 1))[0]
        if outcome == "silence":
            return outcome
        if random.random() < 0.1:
            await asyncio.sleep(_LATE)
        admission_id = answer["admission"]["id"]
        said = await self._replicas.ask(who, "POST", f"/v1/admissions/{admission_id}/outcome", {"outcome": outcome})
        _expect(said, 200, 409)  # 409: an operator was faster
        if said.status_code == httpx.codes.OK:
            self._answers.tell(admission_id, said.json()["state"])
        return outcome

    # what an operator does

    async def _operator(self, who: str) -> None:
        """Resolve half of what nobody knows the outcome of."""
        listed = await self._replicas.ask(who, "GET", "/v1/admissions", state="unknown")
        _expect(listed, 200)
        for admission in listed.json()["data"]:
            if random.random() < 0.5:
                await self._resolve(who, admission["id"])
        await asyncio.sleep(0.5)

    async def _resolve(self, who: str, admission_id: str) -> None:
        body = {"outcome": random.choice(("executed", "not_executed")), "reason": "looked it up"}
        said = await self._replicas.ask(who, "POST", f"/v1/admissions/{admission_id}/resolve", body)
        _expect(said, 200, 409)  # 409: a late report was faster
        if said.status_code == httpx.codes.OK:
            self._answers.tell(admission_id, said.json()["state"])

    # how it is said

    async def _call(self, who: str, body: dict[str, Any]) -> dict[str, Any]:
        key = body["idempotency_key"]
        self._answers.requests[key] = who, body
        response = await self._replicas.ask(who, "POST", "/v1/admit", body)
        _expect(response, 200)
        answer: dict[str, Any] = response.json()
        self._answers.answered(key, answer)
        return answer

    def _payment(self, action: str, payment: str) -> dict[str, Any]:
        cost = {"amount": f"{random.randint(1, 2000) / 100:.2f}", "currency": "EUR"}
        arguments = {"desk": self._desk(), "payment": payment}
        return {
            "action": {"name": action, "arguments": arguments, "cost": cost},
            "idempotency_key": self._new("key"),
        }

    def _desk(self) -> str:
        """Return the desk that is open now: its cap is reached soon, and then there is another."""
        return f"d{int((time.monotonic() - self._began) / 2)}"

    def _new(self, what: str) -> str:
        return f"{what}-{next(self._numbers)}"


def _expect(response: httpx.Response, *statuses: int) -> None:
    assert response.status_code in statuses, f"{response.request.url}: {response.status_code} {response.text}"
