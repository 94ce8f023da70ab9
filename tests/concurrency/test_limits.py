"""Limits of every kind under load: windows, counts, reservations beside admissions, and one that is lowered."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from app.db.database import Database
from tests.ask import call, exported, put_in_force, verified
from tests.concurrency.conftest import Clients, together
from tests.spend.recounting import differences


def policy(*limits: str) -> str:
    """A policy that allows payments on a desk's scope, under these limits."""
    return "\n".join(
        (
            "schema: countersign.policy/v1",
            "defaults: {require_verification_score: 0, require_human_for: []}",
            "actions:",
            '  pay: {cost: {currency: EUR}, spend: ["desk:{desk}", all], decision: allow}',
            "limits:",
            *(f"  - {limit}" for limit in limits),
        )
    )


async def settle(agent: httpx.AsyncClient, answers: list[dict[str, Any]], *outcomes: str) -> None:
    """Report the outcomes of all that was allowed, in turn."""
    allowed = [answer["admission"]["id"] for answer in answers if answer["allowed"]]
    await asyncio.gather(
        *(
            agent.post(f"/v1/admissions/{admission}/outcome", json={"outcome": outcomes[number % len(outcomes)]})
            for number, admission in enumerate(allowed)
        )
    )


@pytest.mark.parametrize("window", ["{rolling: 1h}", "{calendar: day, timezone: Europe/Berlin}"])
async def test_a_window_holds_what_was_spent_and_what_is_held(racing: Clients, window: str) -> None:
    limit = f'{{scope: "desk:*", limit: {{amount: "1000", currency: EUR}}, window: {window}}}'
    await put_in_force(racing("policy_admin"), policy(limit))
    agent, body = racing("agent"), call("pay", {"desk": "a"}, cost="30")

    first = await together(agent, [body] * 20)
    await settle(agent, first, "executed", "unknown")
    answers = await together(agent, [body] * 44)

    assert sum(answer["allowed"] for answer in (*first, *answers)) == 33


async def test_a_pace_counts_calls_and_not_their_cost(racing: Clients) -> None:
    pace = '{name: pace, scope: "desk:*", metric: count, limit: 40, window: {rolling: 1h}}'
    await put_in_force(racing("policy_admin"), policy(pace))

    answers = await together(racing("agent"), [call("pay", {"desk": "a"}, cost=str(n)) for n in range(64)])

    assert sum(answer["allowed"] for answer in answers) == 40


async def test_a_rolling_window_makes_room_again(racing: Clients) -> None:
    await put_in_force(
        racing("policy_admin"),
        policy('{scope: "desk:*", limit: {amount: "90", currency: EUR}, window: {rolling: 3s}}'),
    )
    agent, body = racing("agent"), call("pay", {"desk": "a"}, cost="30")
    first = await together(agent, [body] * 8)
    await settle(agent, first, "executed")
    assert sum(answer["allowed"] for answer in first) == 3

    again = await together(agent, [body])
    async with asyncio.timeout(20):
        while not again[0]["allowed"]:
            again = await together(agent, [body])
    admitted = [
        datetime.fromisoformat(record["ts"])
        for record in await exported(racing("auditor"))
        if record["event_type"] == "admission.decided" and record["payload"]["outcome"] == "allow"
    ]
    assert admitted[3] - admitted[0] >= timedelta(seconds=3)


async def test_reservations_and_admissions_share_the_room(racing: Clients, database: Database) -> None:
    await put_in_force(racing("policy_admin"), policy('{scope: all, limit: {amount: "1000", currency: EUR}}'))
    reservation = {"scopes": ["all"], "amount": "30", "currency": "EUR", "expires_in": "5m"}

    reserving = [racing("operator").post("/v1/spend/reservations", json=reservation) for _ in range(32)]
    bodies = [call("pay", {"desk": str(number)}, cost="30") for number in range(32)]
    answers, reserved = await asyncio.gather(together(racing("agent"), bodies), asyncio.gather(*reserving))

    statuses = Counter(response.status_code for response in reserved)
    assert sum(answer["allowed"] for answer in answers) + statuses[201] == 33
    assert statuses[201] + statuses[403] == 32
    assert await database.read(lambda reader: differences(reader, "dev")) == []


async def test_a_limit_lowered_in_the_middle_of_a_load_holds_for_what_comes_after(racing: Clients) -> None:
    admin, agent = racing("policy_admin"), racing("agent")
    await put_in_force(admin, policy('{scope: "desk:*", limit: {amount: "1000", currency: EUR}}'))

    async def lower() -> int | None:
        await asyncio.sleep(0.05)
        return await put_in_force(admin, policy('{scope: "desk:*", limit: {amount: "400", currency: EUR}}'))

    async def load() -> None:
        for _ in range(6):
            await together(agent, [call("pay", {"desk": "a"}, cost="10")] * 12)

    lowered, *_ = await asyncio.gather(lower(), *(load() for _ in range(2)))
    held = [(r["policy"]["revision"], r["outcome"], r["totals"][0]["held"]) for r in await _decisions(racing)]
    revisions = [revision for revision, _, _ in held]
    assert len(set(revisions)) == 2
    assert revisions == sorted(revisions)
    assert revisions[-1] == lowered
    assert all(float(sum_) <= 400 for revision, outcome, sum_ in held if (revision, outcome) == (lowered, "allow"))
    assert held[-1][1] == "deny"
    await verified(racing("auditor"))


async def _decisions(racing: Clients) -> list[dict[str, Any]]:
    records = await exported(racing("auditor"))
    return [record["payload"] for record in records if record["event_type"] == "admission.decided"]


async def test_totals_equal_the_entries_after_a_load_of_everything(racing: Clients, database: Database) -> None:
    await put_in_force(
        racing("policy_admin"),
        policy(
            '{name: money, scope: "desk:*", limit: {amount: "500", currency: EUR}, window: {rolling: 1h}}',
            "{name: pace, scope: all, metric: count, limit: 100, window: {calendar: hour, timezone: Asia/Kathmandu}}",
        ),
    )

    async def work(name: str, desk: str) -> None:
        agent = racing(name)
        for cost in ("10", "0.01", "99.99999999"):
            answers = await together(agent, [call("pay", {"desk": desk}, cost=cost)] * 8)
            await settle(agent, answers, "executed", "not_executed", "unknown")

    async def enter() -> None:
        for kind in ("record", "credit") * 8:
            entry = {"scope": "desk:a", "amount": "1.5", "currency": "EUR", "kind": kind}
            assert (await racing("operator").post("/v1/spend/entries", json=entry)).status_code == 201

    await asyncio.gather(work("agent", "a"), work("agent2", "a"), work("agent", "b"), work("agent2", "c"), enter())

    assert await database.read(lambda reader: differences(reader, "dev")) == []
    await verified(racing("auditor"))
