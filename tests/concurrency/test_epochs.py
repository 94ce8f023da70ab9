"""What is changed in the middle of a load acts on everything that comes after it in the chain."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.ask import admit, call, exported, put_in_force, verified
from tests.concurrency.conftest import POLICY, Clients

_LATER = POLICY.replace("  pay:\n", "  pay:\n    description: the same, in another revision\n")


async def _during_a_load(agent: httpx.AsyncClient, change: Callable[[], Awaitable[Any]]) -> list[httpx.Response]:
    """Send calls from sixteen hands until a while after the change; return all responses."""
    responses: list[httpx.Response] = []
    over = asyncio.Event()

    async def hand() -> None:
        while not over.is_set():
            responses.append(await agent.post("/v1/admit", json=call("pay", {"desk": "load"}, cost="0.01")))

    hands = [asyncio.create_task(hand()) for _ in range(16)]
    await asyncio.sleep(0.3)
    await change()
    await asyncio.sleep(0.3)
    over.set()
    await asyncio.gather(*hands)
    return responses


def _place(records: list[dict[str, Any]], event_type: str) -> int:
    """Return the seq of the last record of a type."""
    return max(int(record["seq"]) for record in records if record["event_type"] == event_type)


async def test_no_decision_after_an_activation_is_of_the_revision_before(racing: Clients) -> None:
    await _during_a_load(racing("agent"), lambda: put_in_force(racing("policy_admin"), _LATER))

    records = await exported(racing("auditor"))
    activated = _place(records, "policy.activated")
    decided = [record for record in records if record["event_type"] == "admission.decided"]
    assert {record["payload"]["policy"]["revision"] for record in decided if record["seq"] < activated} == {1}
    assert {record["payload"]["policy"]["revision"] for record in decided if record["seq"] > activated} == {2}
    await verified(racing("auditor"))


async def test_nothing_is_decided_for_a_key_after_it_is_revoked(racing: Clients) -> None:
    made = await racing("admin").post(
        "/v1/keys", json={"principal": "short-lived", "kind": "agent", "bundles": ["agent"]}
    )
    assert made.status_code == 201, made.text
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    async with httpx.AsyncClient(base_url=racing("agent").base_url, headers=headers, timeout=30) as agent:
        responses = await _during_a_load(agent, lambda: racing("admin").delete(f"/v1/keys/{made.json()['id']}"))
        assert (await agent.post("/v1/admit", json=call("pay", {"desk": "late"}))).status_code == 401

    assert {response.status_code for response in responses} == {200, 401}
    records = await exported(racing("auditor"))
    revoked = _place(records, "credential.revoked")
    decided = [record["seq"] for record in records if record["payload"].get("principal") == "short-lived"]
    assert [seq for seq in decided if seq < revoked]
    assert not [seq for seq in decided if seq > revoked]


async def test_no_approval_is_used_after_the_role_behind_it_is_taken_away(racing: Clients) -> None:
    bodies = [call("wire", {"to": f"role-{number}"}) for number in range(16)]
    for body in bodies:
        asked = await admit(racing("agent"), body)
        path = f"/v1/approvals/{asked['approval_id']}/decision"
        assert (await racing("approver").post(path, json={"decision": "approve"})).status_code == 200
    whoami = (await racing("approver").get("/v1/whoami")).json()

    async def redeem(number: int) -> dict[str, Any]:
        await asyncio.sleep(number * 0.01)
        return await admit(racing("agent"), bodies[number])

    async def take_away() -> None:
        await asyncio.sleep(0.07)
        changed = await racing("admin").post(
            "/v1/principals", json={"principal": whoami["principal"], "kind": "human", "roles": []}
        )
        assert changed.status_code == 200, changed.text

    await asyncio.gather(take_away(), *(redeem(number) for number in range(15)))
    late = await admit(racing("agent"), bodies[15])
    assert "approval_insufficient" in {trigger["code"] for trigger in late["triggered"]}

    records = await exported(racing("auditor"))
    changed = _place(records, "principal.changed")
    redeemed = [record["seq"] for record in records if record["event_type"] == "approval.redeemed"]
    assert not [seq for seq in redeemed if seq > changed]
    await verified(racing("auditor"))
