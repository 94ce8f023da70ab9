"""Budgets of grants, under races; and ten thousand grants that nobody waits for."""

import asyncio
import time
from typing import Any

import httpx
from sqlalchemy import text

from app.db.database import Database, Writer
from tests.ask import admit, call, verified
from tests.concurrency.conftest import Clients, together

_MANY = text("""
    INSERT INTO grants (tenant, id, parent, subject, bounds, delegable, granted_at, granted_by)
    SELECT 'dev', 'grt_many_' || number, :root, 'other-' || number, '{"actions": ["pay"]}', false, now(), 'agent'
    FROM generate_series(1, 10000) AS number
""")


async def _grant(client: httpx.AsyncClient, subject: str, within: str = "", **more: Any) -> str:
    path = f"/v1/grants/{within}/delegations" if within else "/v1/grants"
    made = await client.post(path, json={"subject": subject, "actions": ["pay"], **more})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def _budget(amount: str) -> list[dict[str, str]]:
    return [{"amount": amount, "currency": "EUR"}]


async def test_two_branches_never_spend_more_than_their_root(racing: Clients) -> None:
    await racing("admin").put("/v1/grants/required", json={"required": True})
    root = await _grant(racing("admin"), "agent", budgets=_budget("100.00"), delegable=True)
    await _grant(racing("agent"), "agent2", root, budgets=_budget("80.00"))

    both = await asyncio.gather(
        together(racing("agent"), [call("pay", {"desk": "a", "n": n}, cost="3") for n in range(40)]),
        together(racing("agent2"), [call("pay", {"desk": "b", "n": n}, cost="3") for n in range(40)]),
    )
    allowed = [sum(answer["allowed"] for answer in answers) for answers in both]
    assert sum(allowed) == 33
    assert allowed[1] <= 26
    refused = [answer for answers in both for answer in answers if not answer["allowed"]]
    assert {trigger["code"] for answer in refused for trigger in answer["triggered"]} == {"grant_budget"}
    scope = (await racing("operator").get("/v1/spend/scope", params={"scope": f"system:grant:{root}"})).json()
    assert scope["sums"][0]["held"] == "99.00"
    assert scope["limits"] == []
    await verified(racing("auditor"))


async def test_ten_thousand_delegations_cost_a_call_nothing(racing: Clients, database: Database) -> None:
    await racing("admin").put("/v1/grants/required", json={"required": True})
    root = await _grant(racing("admin"), "agent", delegable=True)
    few = await _typical(racing)

    async def many(tx: Writer) -> None:
        await tx.write(_MANY, {"root": root})

    await database.transact(many)
    assert await _typical(racing) < 2 * few + 0.05


async def _typical(racing: Clients) -> float:
    """Return how long a call takes, each right after a grant has been changed, so that nothing is in memory."""
    times = []
    for _ in range(15):
        await racing("admin").delete(f"/v1/grants/{await _grant(racing('admin'), 'agent2')}")
        begin = time.perf_counter()
        assert (await admit(racing("agent"), call("pay", {"desk": "c"}, cost="0.01")))["allowed"]
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]
