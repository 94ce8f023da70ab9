"""Crashes: what was answered as allowed is in the record, once, wherever the power was cut."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.ask import admit, call, exported, put_in_force, verified
from tests.concurrency.conftest import POLICY
from tests.live import LiveService
from tests.proxy import wired

_LOCK, _WRITE, _COMMIT = b"FROM heads WHERE tenant", b"admissions_made", b"COMMIT"

_STEPS: dict[str, tuple[tuple[bytes, ...], bool, bool]] = {
    "before the head is locked": ((_LOCK,), False, False),
    "before anything is written": ((_LOCK,), True, False),
    "after everything is written": ((_WRITE,), True, False),
    "before the commit": ((_WRITE, _COMMIT), False, False),
    "after the commit, before the answers": ((_WRITE, _COMMIT), True, True),
}
"""Where the service is killed: after which messages, whether Postgres answers the last, and if the group happened."""


def _client(url: str, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=15)


def _paid(number: int) -> dict[str, Any]:
    return call("pay", {"desk": "crash"}, cost="10", idempotency_key=f"key-{number}")


@pytest.mark.parametrize("step", _STEPS)
async def test_killed_in_the_middle_of_a_group_and_started_again(
    step: str, database_url: str, serve: Callable[..., LiveService], keys: dict[str, str]
) -> None:
    marks, keeps_answer, happened = _STEPS[step]
    async with wired(database_url) as (wire, url):
        service = await asyncio.to_thread(serve, database_url=url, pgbouncer="true")
        async with _client(service.url, keys["policy_admin"]) as admin, _client(service.url, keys["agent"]) as agent:
            await put_in_force(admin, POLICY)
            await admit(agent, call("pay", {"desk": "warm"}, cost="1"))
            wire.stop_at(*marks, keeps_answer=keeps_answer)
            lost = [asyncio.create_task(agent.post("/v1/admit", json=_paid(number))) for number in range(20)]
            async with asyncio.timeout(10):
                await wire.reached.wait()
            service.kill()
            wire.cut()
            assert all(isinstance(end, httpx.HTTPError) for end in await asyncio.gather(*lost, return_exceptions=True))
        await asyncio.to_thread(service.start)
        async with _client(service.url, keys["agent"]) as agent, _client(service.url, keys["auditor"]) as auditor:
            before = _decided(await exported(auditor))
            assert (len(before) > 1) is happened
            again = [await admit(agent, _paid(number)) for number in range(20)]
            assert all(answer["allowed"] for answer in again)
            replayed = sum(answer.get("replayed", False) for answer in again)
            assert replayed == len(before) - 1
            after = _decided(await exported(auditor))
            assert set(Counter(after).values()) == {1}
            assert {answer["admission"]["id"] for answer in again} <= set(after)
            await verified(auditor)


async def test_a_backend_killed_after_its_commit_gives_the_request_its_own_admission(
    database_url: str, serve: Callable[..., LiveService], keys: dict[str, str]
) -> None:
    async with wired(database_url) as (wire, url):
        service = await asyncio.to_thread(serve, database_url=url, pgbouncer="true")
        async with (
            _client(service.url, keys["policy_admin"]) as admin,
            _client(service.url, keys["agent"]) as agent,
            _client(service.url, keys["auditor"]) as auditor,
        ):
            await put_in_force(admin, POLICY)
            await admit(agent, call("pay", {"desk": "warm"}, cost="1"))
            wire.stop_at(_WRITE, _COMMIT, keeps_answer=True)
            waiting = asyncio.create_task(admit(agent, _paid(1)))
            async with asyncio.timeout(10):
                await wire.reached.wait()
            wire.cut()
            answer = await waiting

            assert answer["allowed"]
            assert "replayed" not in answer
            decided = _decided(await exported(auditor))
            assert decided.count(answer["admission"]["id"]) == 1
            await verified(auditor)


async def test_without_a_database_nothing_is_allowed_and_with_it_everything_works_again(
    database_url: str, serve: Callable[..., LiveService], keys: dict[str, str]
) -> None:
    async with wired(database_url) as (wire, url):
        service = await asyncio.to_thread(serve, database_url=url)
        async with _client(service.url, keys["policy_admin"]) as admin, _client(service.url, keys["agent"]) as agent:
            await put_in_force(admin, POLICY)
            assert (await admit(agent, _paid(1)))["allowed"]
            socket = wire.directory / ".s.PGSQL.5432"
            away = socket.rename(socket.with_suffix(".away"))
            wire.cut()
            async with asyncio.timeout(5):
                gone = await asyncio.gather(*(agent.post("/v1/admit", json=_paid(number)) for number in range(2, 10)))
            assert {response.status_code for response in gone} == {503}
            assert all(response.headers["retry-after"] for response in gone)
            async with asyncio.timeout(5):
                assert (await agent.post("/v1/decide", json=_paid(1))).status_code in {200, 503}
            away.rename(socket)
            async with asyncio.timeout(15):
                while (await agent.post("/v1/admit", json=_paid(2))).status_code != 200:  # noqa: ASYNC110 - in another process
                    await asyncio.sleep(0.2)
            assert (await admit(agent, _paid(3)))["allowed"]


async def test_callers_that_hang_up_leave_everything_as_it_was(
    serve: Callable[..., LiveService], keys: dict[str, str]
) -> None:
    service = serve()
    async with (
        _client(service.url, keys["policy_admin"]) as admin,
        _client(service.url, keys["operator"]) as operator,
        _client(service.url, keys["auditor"]) as auditor,
    ):
        await put_in_force(admin, POLICY)
        async with httpx.AsyncClient(
            base_url=service.url,
            headers={"Authorization": f"Bearer {keys['agent']}"},
            limits=httpx.Limits(max_connections=200),
        ) as agent:
            calls = [asyncio.create_task(agent.post("/v1/admit", json=_paid(number))) for number in range(200)]
            await asyncio.sleep(0.05)
            for task in calls:
                task.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        async with _client(service.url, keys["agent"]) as agent:
            for number in range(200):
                # The cap of a thousand holds a hundred of ten, whoever was there to hear of it.
                response = await agent.post("/v1/admit", json=_paid(number))
                assert response.status_code == 200
        scope = (await operator.get("/v1/spend/scope", params={"scope": "desk:crash"})).json()["limits"][0]
        assert (scope["held"], scope["left"]) == ("1000.00", "0.00")
        assert max(Counter(_decided(await exported(auditor))).values()) == 1
        await verified(auditor)


def _decided(records: list[dict[str, Any]]) -> list[str]:
    """Return the ids of all admissions that the record says were allowed."""
    decided = [record["payload"] for record in records if record["event_type"] == "admission.decided"]
    return [payload["admission"]["admission_id"] for payload in decided if payload["outcome"] == "allow"]
