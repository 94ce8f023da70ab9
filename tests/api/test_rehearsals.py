"""Shadows and replays: what another policy would have answered, told from what was really asked."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import httpx
import pytest
from sqlalchemy import text

from app.core.defaults import Defaults
from app.db.database import Database
from app.policies import history
from tests.ask import admit, call, exported, put_in_force, verified

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    labels: {environment: live, kind: payout}
    cost: {amount: "{amount}", currency: EUR}
    effect: "pay:{order}"
    spend: [desk]
    rules:
      - {when: "cost.amount <= 100.0", decision: allow}
      - {decision: deny}
  look: {decision: allow}
limits:
  - {name: desk, scope: desk, limit: {amount: "250", currency: EUR}, window: {calendar: month}}
approvers: [{name: people, roles: [approver]}]
"""
STRICTER = POLICY.replace("<= 100.0", "<= 50.0")


async def bring_in(admin: httpx.AsyncClient, document: str, mode: str) -> int:
    stored = await admin.post("/v1/policies", json={"document": document})
    revision: int = stored.json()["revision"]
    path = f"/v1/policies/{revision}/activate"
    response = await admin.post(path, json={"mode": mode}, headers={"If-Match": "*"})
    assert response.status_code == 200, response.text
    return revision


@pytest.fixture
async def admin(asking: Asking) -> httpx.AsyncClient:
    """A policy administrator who has put the policy above in force."""
    await put_in_force(asking("policy_admin"), POLICY)
    return asking("policy_admin")


async def pay(agent: httpx.AsyncClient, order: str, amount: Any) -> dict[str, Any]:
    return await admit(agent, call("pay", {"order": order, "amount": amount}))


async def replay(admin: httpx.AsyncClient, policy: str | int, last: int = 100) -> dict[str, Any]:
    response = await admin.post("/v1/policies/replay", json={"policy": policy, "last": last})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def a_day_of_calls(agent: httpx.AsyncClient) -> list[str]:
    """Make calls of every kind, and return the outcomes."""
    answers = [
        await pay(agent, "1", 40),
        await pay(agent, "2", 80.25),
        await pay(agent, "2", 80.25),
        await pay(agent, "3", 500),
        await pay(agent, "4", "x"),
        await pay(agent, "5", 99.5),
        await pay(agent, "6", 90),
        await admit(agent, call("look")),
        await admit(agent, call("look", advice=[{"outcome": "deny", "by": "reviewer"}])),
        await admit(agent, call("unheard-of")),
    ]
    return [answer["outcome"] for answer in answers]


async def test_a_replay_under_the_same_policy_changes_nothing(admin: httpx.AsyncClient, asking: Asking) -> None:
    outcomes = await a_day_of_calls(asking("agent"))
    assert outcomes == ["allow", "allow", "deny", "deny", "deny", "allow", "deny", "allow", "deny", "deny"]
    before = await exported(asking("auditor"))

    found = await replay(admin, POLICY)

    assert found == {
        "replayed": 10,
        "same": 10,
        "codes_only": 0,
        "changed": 0,
        "changes": [],
        "not_replayed": 0,
        "why_not": [],
    }
    assert await exported(asking("auditor")) == before


async def test_a_replay_tells_what_would_be_answered_otherwise(admin: httpx.AsyncClient, asking: Asking) -> None:
    await a_day_of_calls(asking("agent"))
    found = await replay(admin, STRICTER)
    assert (found["replayed"], found["changed"]) == (10, 2)
    [change] = found["changes"]
    assert (change["action"], change["from"], change["to"], change["calls"]) == ("pay", "allow", "deny", 2)
    records = {f"dev/{record['seq']}": record for record in await exported(asking("auditor"))}
    assert all(records[example]["payload"]["action"] == "pay" for example in change["examples"])


async def test_a_replay_holds_the_facts_fixed(admin: httpx.AsyncClient, asking: Asking) -> None:
    agent = asking("agent")
    for order in ("1", "2"):
        assert (await pay(agent, order, 100))["outcome"] == "allow"
    assert (await pay(agent, "3", 60))["outcome"] == "deny"

    more = await replay(admin, POLICY.replace('"250"', '"300"'))
    assert [(change["from"], change["to"]) for change in more["changes"]] == [("deny", "allow")]
    less = await replay(admin, POLICY.replace('"250"', '"150"'))
    assert [(change["from"], change["to"], change["calls"]) for change in less["changes"]] == [("allow", "deny", 1)]


async def test_what_was_not_looked_up_cannot_be_replayed(admin: httpx.AsyncClient, asking: Asking) -> None:
    agent = asking("agent")
    await pay(agent, "1", 10)
    await admit(agent, call("look"))
    found = await replay(admin, POLICY.replace("calendar: month", "rolling: 1h"))
    assert (found["replayed"], found["not_replayed"]) == (1, 1)
    assert found["why_not"] == [{"why": "a limit looks at a scope or a window that nobody looked at", "calls": 1}]
    found = await replay(admin, POLICY.replace("pay:{order}", "paid:{order}"))
    assert found["not_replayed"] == 1
    assert (await replay(admin, POLICY, last=1))["replayed"] == 1


async def test_a_shadow_is_weighed_and_never_answers(admin: httpx.AsyncClient, asking: Asking) -> None:
    revision = await bring_in(admin, STRICTER, "shadow")
    outcomes = await a_day_of_calls(asking("agent"))
    assert outcomes[:2] == ["allow", "allow"]

    found = (await admin.get("/v1/policies/shadow")).json()
    assert (found["revision"], found["weighed"], found["diverged"], found["failed"]) == (revision, 10, 2, 0)
    [group] = found["divergences"]
    assert (group["action"], group["from"], group["to"], group["calls"]) == ("pay", "allow", "deny", 2)

    records = await exported(asking("auditor"))
    shadowed = [record for record in records if record["event_type"] == "policy.shadowed"]
    assert [record["payload"]["revision"] for record in shadowed] == [revision]
    [of_a_call] = [record for record in records if f"dev/{record['seq']}" == group["examples"][0]]
    assert of_a_call["payload"]["outcome"] == "allow"
    assert of_a_call["payload"]["shadow"] == {"revision": revision, "outcome": "deny", "codes": ["rule"]}
    await verified(asking("auditor"))


async def test_a_shadow_that_fails_is_a_note(
    admin: httpx.AsyncClient, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bring_in(admin, STRICTER.replace("pay:{order}", "another:{order}"), "shadow")
    agent = asking("agent")
    assert (await pay(agent, "1", 40))["allowed"]
    monkeypatch.setattr("app.gate.rehearsals.rehearse", _broken)
    assert (await pay(agent, "2", 40))["allowed"]
    found = (await admin.get("/v1/policies/shadow")).json()
    assert (found["diverged"], found["failed"]) == (0, 2)
    assert {failure["why"] for failure in found["failures"]} == {
        "its effect key is another, and nobody looked whether that one was free",
        "it failed: ZeroDivisionError",
    }


def _broken(*_: object) -> None:
    raise ZeroDivisionError


async def test_a_shadow_ends(admin: httpx.AsyncClient, asking: Asking) -> None:
    assert (await admin.get("/v1/policies/shadow")).status_code == 404
    assert (await admin.delete("/v1/policies/shadow")).status_code == 404
    await bring_in(admin, STRICTER, "shadow")
    assert (await admin.delete("/v1/policies/shadow")).status_code == 204
    await pay(asking("agent"), "1", 80)
    assert (await admin.get("/v1/policies/shadow")).status_code == 404

    shadow = await bring_in(admin, STRICTER, "shadow")
    path = f"/v1/policies/{shadow}/activate"
    assert (await admin.post(path, json={}, headers={"If-Match": "*"})).status_code == 200
    assert (await admin.get("/v1/policies/shadow")).status_code == 404
    assert not (await pay(asking("agent"), "2", 80))["allowed"]


async def test_what_is_kept_is_forgotten_after_a_week(
    admin: httpx.AsyncClient, asking: Asking, database: Database
) -> None:
    forget = partial(history.forget, keep=Defaults().replay_keep)
    await pay(asking("agent"), "1", 10)
    assert await database.transact(forget) == 0
    await database.transact(lambda tx: tx.write(text("UPDATE weighed_calls SET at = at - interval '8 days'")))
    assert await database.transact(forget) == 1
    assert (await replay(admin, POLICY))["replayed"] == 0
