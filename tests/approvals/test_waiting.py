"""Waiting for people: long polls and hints, over real connections."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import httpx
import pytest
from sqlalchemy import text

from app.approvals.waits import Waits
from app.db.database import Database
from tests.approvals.conftest import POLICY, voucher
from tests.ask import admit, put_in_force
from tests.live import LiveService

Clients = Callable[[str], httpx.AsyncClient]
Serve = Callable[..., LiveService]

_CONNECTIONS = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")


@pytest.fixture
async def open_clients(keys: dict[str, str]) -> AsyncIterator[Callable[[LiveService], Clients]]:
    """Clients of a running service, by name."""
    async with AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=4_000)

        def clients(service: LiveService) -> Clients:
            opened: dict[str, httpx.AsyncClient] = {}

            def client(name: str) -> httpx.AsyncClient:
                if name not in opened:
                    headers = {"Authorization": f"Bearer {keys[name]}"}
                    made = httpx.AsyncClient(base_url=service.url, headers=headers, limits=limits, timeout=60)
                    stack.push_async_callback(made.aclose)
                    opened[name] = made
                return opened[name]

            return client

        yield clients


async def asked(clients: Clients) -> str:
    """Put the policy in force, ask, and return the question's id."""
    policy = {**POLICY, "approvers": [{"name": "all", "roles": ["approver"]}]}
    await put_in_force(clients("policy_admin"), policy)
    approval_id: str = (await admit(clients("agent"), voucher()))["approval_id"]
    return approval_id


async def vote(clients: Clients, approval_id: str) -> None:
    answer = await clients("approver").post(f"/v1/approvals/{approval_id}/decision", json={"decision": "approve"})
    assert answer.status_code == 200, answer.text


async def test_a_decision_ends_the_wait_at_once(serve: Serve, open_clients: Callable[[LiveService], Clients]) -> None:
    clients = open_clients(serve())
    approval_id = await asked(clients)
    waiting = asyncio.create_task(clients("agent").get(f"/v1/approvals/{approval_id}?wait=30"))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await vote(clients, approval_id)
    answer = await asyncio.wait_for(waiting, 0.5)
    assert answer.json()["status"] == "approved"
    began = time.monotonic()
    await clients("agent").get(f"/v1/approvals/{approval_id}?wait=30")
    assert time.monotonic() - began < 0.5


async def test_whoever_waits_in_the_same_process_is_woken_without_a_look_at_the_database(database: Database) -> None:
    waits = Waits(database)
    waiting = asyncio.create_task(waits.decided("dev", "apr_1", 30))
    watching = asyncio.ensure_future(anext(waits.changes("dev", 30)))
    await asyncio.sleep(0)
    waits.poke("other", "apr_1")
    waits.poke("dev", "apr_2")
    assert await asyncio.wait_for(watching, 1)
    assert not waiting.done()
    waits.poke("dev", "apr_1")
    await asyncio.wait_for(waiting, 1)


async def test_one_taken_by_another_process_does_within_a_second(
    serve: Serve, open_clients: Callable[[LiveService], Clients]
) -> None:
    here, there = open_clients(serve()), open_clients(serve())
    approval_id = await asked(here)
    waiting = asyncio.create_task(here("agent").get(f"/v1/approvals/{approval_id}?wait=30"))
    await asyncio.sleep(0.3)
    await vote(there, approval_id)
    assert (await asyncio.wait_for(waiting, 2)).json()["status"] == "approved"


async def test_without_one_it_ends_with_what_is(serve: Serve, open_clients: Callable[[LiveService], Clients]) -> None:
    clients = open_clients(serve())
    approval_id = await asked(clients)
    began = time.monotonic()
    answer = await clients("agent").get(f"/v1/approvals/{approval_id}?wait=1")
    assert (answer.status_code, answer.json()["status"]) == (200, "pending")
    assert 0.9 < time.monotonic() - began < 2
    for wait in ("31", "-1", "soon"):
        assert (await clients("agent").get(f"/v1/approvals/{approval_id}?wait={wait}")).status_code == 400


async def test_two_thousand_wait_in_one_process_without_a_database_connection(
    serve: Serve, open_clients: Callable[[LiveService], Clients], database: Database, keys: dict[str, str]
) -> None:
    service = serve()
    clients = open_clients(service)
    approval_id = await asked(clients)
    waiting = [asyncio.create_task(_wait(service, keys["agent"], approval_id)) for _ in range(2_000)]
    await asyncio.sleep(8)
    assert not any(task.done() for task in waiting)

    began = time.monotonic()
    assert (await clients("approver").get("/v1/whoami")).status_code == 200
    assert time.monotonic() - began < 1
    row = await database.read(lambda reader: reader.row(_CONNECTIONS))
    assert row is not None
    assert row[0] < 20

    await vote(clients, approval_id)
    answers = await asyncio.wait_for(asyncio.gather(*waiting), 15)
    assert all(answer.startswith("HTTP/1.1 200") and '"status":"approved"' in answer for answer in answers)


async def test_hints_say_that_something_changed_and_resume(
    serve: Serve, open_clients: Callable[[LiveService], Clients]
) -> None:
    clients = open_clients(serve())
    approval_id = await asked(clients)
    async with clients("approver").stream("GET", "/v1/approvals/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.aiter_lines()
        assert (await anext(lines)).startswith("retry:")
        await vote(clients, approval_id)
        last = await asyncio.wait_for(_event(lines), 3)
    await admit(clients("agent"), voucher())
    headers = {"Last-Event-ID": str(last)}
    async with clients("approver").stream("GET", "/v1/approvals/events", headers=headers) as stream:
        assert await asyncio.wait_for(_event(stream.aiter_lines()), 3) > last


async def test_a_key_that_ends_ends_its_stream_and_its_wait(
    serve: Serve, open_clients: Callable[[LiveService], Clients]
) -> None:
    clients = open_clients(serve())
    approval_id = await asked(clients)
    waiting = asyncio.create_task(clients("agent2").get(f"/v1/approvals/{approval_id}?wait=30"))
    assert (await waiting).status_code == 404
    own = (await admit(clients("agent2"), voucher()))["approval_id"]
    waiting = asyncio.create_task(clients("agent2").get(f"/v1/approvals/{own}?wait=30"))
    await asyncio.sleep(0.3)
    key = (await clients("agent2").get("/v1/whoami")).json()["credential"]
    assert (await clients("admin").delete(f"/v1/keys/{key}")).status_code == 204
    await vote(clients, own)
    assert (await asyncio.wait_for(waiting, 2)).status_code == 401


async def test_sigterm_ends_waits_early(serve: Serve, open_clients: Callable[[LiveService], Clients]) -> None:
    service = serve()
    clients = open_clients(service)
    approval_id = await asked(clients)
    waiting = asyncio.create_task(clients("agent").get(f"/v1/approvals/{approval_id}?wait=30"))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    status = await asyncio.to_thread(service.stop)
    assert (await waiting).json()["status"] == "pending"
    assert time.monotonic() - began < 5
    assert status in {0, -15}


async def _event(lines: AsyncIterator[str]) -> int:
    async for line in lines:
        if line.startswith("id: "):
            return int(line.removeprefix("id: "))
    raise EOFError


async def _wait(service: LiveService, key: str, approval_id: str) -> str:
    """Wait over a connection of one's own, without a client's pool, and return the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    writer.write(
        f"GET /v1/approvals/{approval_id}?wait=30 HTTP/1.1\r\nHost: countersign.test\r\n"
        f"Authorization: Bearer {key}\r\nConnection: close\r\n\r\n".encode()
    )
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.decode()
