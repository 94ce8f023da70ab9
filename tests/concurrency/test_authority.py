"""What is taken away is gone with the next request, on every replica, in the middle of any load."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from tests.ask import call, exported, put_in_force
from tests.live import LiveService

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  read: {decision: allow}
  stop: {decision: allow}
  wire: {labels: {kind: payout}, decision: require_human}
approvers:
  - {name: payouts, labels: [payout], roles: [payer], quorum: 1}
"""

Connect = Callable[[int, str], httpx.AsyncClient]


@pytest.fixture
async def replicas(serve: Callable[..., LiveService], keys: dict[str, str]) -> AsyncIterator[Connect]:
    """Clients of two services over one database: `replicas(0, key)`."""
    services = (serve(), serve())
    async with AsyncExitStack() as stack:
        opened: list[httpx.AsyncClient] = []

        def connect(service: int, key: str) -> httpx.AsyncClient:
            headers = {"Authorization": f"Bearer {keys.get(key, key)}"}
            opened.append(httpx.AsyncClient(base_url=services[service].url, headers=headers, timeout=30))
            return opened[-1]

        stack.push_async_callback(_close, opened)
        await put_in_force(connect(0, "policy_admin"), POLICY)
        yield connect


async def _close(opened: list[httpx.AsyncClient]) -> None:
    for client in opened:
        await client.aclose()


async def key_of(replicas: Connect, principal: str, kind: str = "agent", **said: object) -> dict[str, Any]:
    body = {"principal": principal, "kind": kind, "bundles": ["agent" if kind == "agent" else "approver"], **said}
    made = await replicas(0, "admin").post("/v1/keys", json=body)
    assert made.status_code == 201, made.text
    return dict(made.json())


async def load(clients: list[httpx.AsyncClient], until: asyncio.Event) -> list[int]:
    """Ask for `stop` from every client, over and over, until the event is set; return the statuses."""

    async def one(client: httpx.AsyncClient) -> list[int]:
        statuses = []
        while not until.is_set():
            statuses.append((await client.post("/v1/admit", json=call("stop"))).status_code)
        return statuses

    return [status for statuses in await asyncio.gather(*map(one, clients)) for status in statuses]


def after(records: list[dict[str, Any]], event_type: str) -> list[dict[str, Any]]:
    """Return the records after the last one of that type."""
    last = max(place for place, record in enumerate(records) if record["event_type"] == event_type)
    return records[last + 1 :]


async def test_a_key_works_on_every_replica_as_soon_as_it_is_made(replicas: Connect) -> None:
    for number in range(5):
        made = await key_of(replicas, f"bot{number}")
        other = replicas(1, made["key"])
        for path in ("/v1/admit", "/v1/decide"):
            assert (await other.post(path, json=call("read"))).status_code == 200
        assert (await other.get("/v1/whoami")).status_code == 200


async def test_a_revoked_key_is_refused_on_every_replica_with_the_next_request(replicas: Connect) -> None:
    made = await key_of(replicas, "bot")
    other = replicas(1, made["key"])
    assert (await other.post("/v1/decide", json=call("read"))).status_code == 200
    assert (await replicas(0, "admin").delete(f"/v1/keys/{made['id']}")).status_code == 204
    revoked_at = time.monotonic()
    assert (await other.post("/v1/admit", json=call("read"))).status_code == 401
    assert (await other.post("/v1/admissions", json=call("read"))).status_code == 401
    assert (await other.get("/v1/whoami")).status_code == 401
    while (await other.post("/v1/decide", json=call("read"))).status_code == 200:
        assert time.monotonic() - revoked_at < 1.1
        await asyncio.sleep(0.05)


async def test_nothing_is_allowed_of_what_is_revoked_until_it_is_lifted(replicas: Connect) -> None:
    until = asyncio.Event()
    clients = [replicas(number % 2, "agent") for number in range(8)]
    loading = asyncio.create_task(load(clients, until))
    operator = replicas(0, "operator")
    await asyncio.sleep(0.3)
    placed = await operator.post("/v1/revocations", json={"action": "stop", "reason": "it went wrong"})
    await asyncio.sleep(0.3)
    until.set()
    assert set(await loading) == {200}
    records = await exported(replicas(1, "auditor"))
    decided = [record for record in after(records, "revocation.placed") if record["event_type"] == "admission.decided"]
    assert decided
    assert {record["payload"]["outcome"] for record in decided} == {"deny"}
    assert (await operator.delete(f"/v1/revocations/{placed.json()['id']}")).status_code == 204
    assert (await replicas(1, "agent").post("/v1/admit", json=call("stop"))).json()["allowed"] is True


async def test_no_vote_is_taken_after_its_role_was_taken_away(replicas: Connect) -> None:
    made = await key_of(replicas, "ana", "human", roles=["payer"])
    agent, admin = replicas(0, "agent"), replicas(0, "admin")
    asked = [(await agent.post("/v1/admit", json=call("wire", {"n": n}))).json()["approval_id"] for n in range(10)]
    voters = (replicas(0, made["key"]), replicas(1, made["key"]))

    async def vote(number: int) -> int:
        path = f"/v1/approvals/{asked[number]}/decision"
        return (await voters[number % 2].post(path, json={"decision": "approve"})).status_code

    assert [await vote(number) for number in range(5)] == [200] * 5
    taken = await admin.post("/v1/principals", json={"principal": "ana", "kind": "human", "roles": []})
    assert taken.status_code == 200
    assert [await vote(number) for number in range(5, 10)] == [403] * 5
    records = after(await exported(replicas(1, "auditor")), "principal.changed")
    assert not {"approval.voted", "approval.approved"} & {record["event_type"] for record in records}
    again = await agent.post("/v1/admit", json=call("wire", {"n": 0}))
    assert again.json()["allowed"] is False, "the quorum is counted again under today's authority"
