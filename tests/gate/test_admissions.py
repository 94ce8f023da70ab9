"""The life of an admission: leases, reports, late ones, contradictions, resolving, and replays that permit nothing."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.db.database import Database
from countersign import verify_permit
from tests.ask import admit, call, exported, put_in_force

Clients = Callable[[str], httpx.AsyncClient]

_POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    cost: {currency: EUR}
    spend: ["till"]
    effect: "invoice:{invoice}"
    decision: allow
  trusted.pay:
    cost: {currency: EUR}
    spend: ["till"]
    effect: "trusted:{invoice}"
    decision: allow
    outcome_by: report
  note: {decision: allow}
limits:
  - {name: till, scope: till, limit: {amount: "1000.00", currency: EUR}}
"""


@pytest.fixture
async def clients(asking: Clients) -> Clients:
    """Clients of a service with the policy above in force, and one more with the right to report."""
    await put_in_force(asking("policy_admin"), _POLICY)
    return asking


async def _reporter(clients: Clients) -> httpx.AsyncClient:
    made = await clients("admin").post(
        "/v1/keys", json={"principal": "bank-feed", "kind": "service", "rights": ["report"]}
    )
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    agent = clients("agent")
    return httpx.AsyncClient(transport=agent._transport, base_url=agent.base_url, headers=headers)  # noqa: SLF001


async def _pay(clients: Clients, invoice: str, **more: Any) -> dict[str, Any]:
    return await admit(clients("agent"), call("pay", {"invoice": invoice}, cost="10", **more))


async def _report(client: httpx.AsyncClient, answer: dict[str, Any], outcome: str, **more: Any) -> httpx.Response:
    path = f"/v1/admissions/{answer['admission']['id']}/outcome"
    return await client.post(path, json={"outcome": outcome, **more})


async def _till(clients: Clients) -> dict[str, Any]:
    found = (await clients("operator").get("/v1/spend/scope", params={"scope": "till"})).json()["limits"][0]
    return {name: found[name] for name in ("held", "spent", "left")}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _codes(answer: dict[str, Any]) -> list[str]:
    return [trigger["code"] for trigger in answer["triggered"]]


@pytest.mark.parametrize(
    ("outcome", "till"),
    [
        ("executed", {"held": "0.00", "spent": "10.00", "left": "990.00"}),
        ("not_executed", {"held": "0.00", "spent": "0.00", "left": "1000.00"}),
        ("unknown", {"held": "10.00", "spent": "0.00", "left": "990.00"}),
    ],
)
async def test_a_report_settles_releases_or_keeps(clients: Clients, outcome: str, till: dict[str, str]) -> None:
    answer = await _pay(clients, "1")
    reported = await _report(clients("agent"), answer, outcome)

    assert reported.status_code == 200
    assert reported.json()["state"] == outcome
    assert await _till(clients) == till
    assert (await _report(clients("agent"), answer, outcome)).status_code == 200


async def test_a_report_that_contradicts_is_a_conflict_and_changes_nothing(clients: Clients) -> None:
    answer = await _pay(clients, "2")
    await _report(clients("agent"), answer, "executed")
    contradiction = await _report(clients("agent"), answer, "not_executed")

    assert contradiction.status_code == 409
    assert (await _till(clients))["spent"] == "10.00"


async def test_an_ended_lease_is_unknown_and_a_late_report_is_taken(clients: Clients) -> None:
    answer = await _pay(clients, "3", lease="1s")
    await asyncio.sleep(1.1)
    read = await clients("agent").get(f"/v1/admissions/{answer['admission']['id']}")
    assert read.json()["state"] == "unknown"
    again = await _pay(clients, "3")
    assert _codes(again) == ["effect_unknown"]
    assert (await _till(clients))["held"] == "10.00"

    late = await _report(clients("agent"), answer, "not_executed")
    assert late.json()["state"] == "not_executed"
    retried = await _pay(clients, "3")
    assert (retried["allowed"], retried["admission"]["attempt"]) == (True, 2)
    events = [record["event_type"] for record in await exported(clients("auditor"))]
    assert events.count("admission.lapsed") == 1


async def test_each_effect_counts_its_own_attempts(clients: Clients) -> None:
    """Somebody else's key, or one that was tried in vain beside it, must not use up the attempts of a fresh one."""
    for invoice in ("31", "32", "33"):
        answer = await _pay(clients, invoice, effect="mine")
        await _report(clients("agent"), answer, "not_executed")
    fresh = await admit(clients("agent2"), call("pay", {"invoice": "33"}, cost="10"))
    assert (fresh["allowed"], fresh["admission"]["attempt"]) == (True, 2)
    worn = await _pay(clients, "34", effect="mine")
    assert _codes(worn) == ["attempts_exhausted"]


async def test_extending_moves_the_lease_within_its_caps(clients: Clients) -> None:
    answer = await _pay(clients, "4", lease="1m")
    path = f"/v1/admissions/{answer['admission']['id']}/extend"
    extended = await clients("agent").post(path, json={"lease": "30m"})
    assert extended.json()["expires_at"] > answer["admission"]["expires_at"]
    capped = await clients("agent").post(path, json={"lease": "10d"})
    lease = _moment(capped.json()["expires_at"]) - _moment(extended.json()["expires_at"])
    assert timedelta(minutes=29) < lease < timedelta(minutes=31)

    over = await _pay(clients, "5", lease="1s")
    await asyncio.sleep(1.1)
    late = await clients("agent").post(f"/v1/admissions/{over['admission']['id']}/extend", json={"lease": "5m"})
    assert late.status_code == 409


async def test_no_lease_lasts_longer_than_a_day_however_it_came_about(clients: Clients, database: Database) -> None:
    asked = (await _pay(clients, "52", lease="10d"))["admission"]
    read = (await clients("agent").get(f"/v1/admissions/{asked['id']}")).json()
    assert _moment(read["expires_at"]) - _moment(read["created_at"]) == timedelta(hours=24)

    worked_on = (await _pay(clients, "53", lease="24h"))["admission"]
    later = text("""
        UPDATE admissions SET created_at = created_at - interval '1410 min',
            expires_at = expires_at - interval '1410 min'
    """)
    await database.transact(lambda tx: tx.write(later))
    extended = (await clients("agent").post(f"/v1/admissions/{worked_on['id']}/extend", json={"lease": "3h"})).json()
    assert _moment(extended["expires_at"]) - _moment(extended["created_at"]) == timedelta(hours=24)


async def test_a_holder_of_report_extends_what_others_do_and_nobody_else_does(clients: Clients) -> None:
    answer = await _pay(clients, "51", lease="1m")
    path = f"/v1/admissions/{answer['admission']['id']}/extend"
    assert (await clients("agent2").post(path, json={"lease": "30m"})).status_code == 404
    assert (await clients("operator").post(path, json={"lease": "30m"})).status_code == 403
    async with await _reporter(clients) as reporter:
        extended = await reporter.post(path, json={"lease": "30m"})
    assert extended.status_code == 200
    assert extended.json()["expires_at"] > answer["admission"]["expires_at"]


async def test_only_who_may_resolve_can_and_it_is_final(clients: Clients) -> None:
    answer = await _pay(clients, "6")
    await _report(clients("agent"), answer, "unknown")
    path = f"/v1/admissions/{answer['admission']['id']}/resolve"
    body = {"outcome": "not_executed", "reason": "the bank says that it never arrived"}

    assert (await clients("agent").post(path, json=body)).status_code == 403
    assert (await clients("operator").post(path, json={"outcome": "not_executed"})).status_code == 400
    resolved = await clients("operator").post(path, json=body)
    assert resolved.json()["state"] == "not_executed"
    assert (await _till(clients))["left"] == "1000.00"
    assert (await _report(clients("agent"), answer, "executed")).status_code == 409
    assert (await clients("operator").post(path, json=body)).status_code == 200
    assert (await _pay(clients, "6"))["allowed"]


async def test_to_other_agents_an_admission_does_not_exist(clients: Clients) -> None:
    answer = await _pay(clients, "7")
    unknown = await clients("agent2").get("/v1/admissions/adm_00000000000000000000000000")
    foreign = await clients("agent2").get(f"/v1/admissions/{answer['admission']['id']}")
    assert (unknown.status_code, foreign.status_code) == (404, 404)
    assert (await _report(clients("agent2"), answer, "executed")).status_code == 404
    assert (await _report(clients("operator"), answer, "executed")).status_code == 403
    listed = (await clients("agent2").get("/v1/admissions")).json()["data"]
    assert answer["admission"]["id"] not in {entry["id"] for entry in listed}


async def test_where_others_must_say_the_agents_word_frees_nothing(clients: Clients) -> None:
    answer = await admit(clients("agent"), call("trusted.pay", {"invoice": "8"}, cost="10"))
    reported = await _report(clients("agent"), answer, "not_executed")
    assert reported.json()["state"] == "unknown"
    assert (await _till(clients))["held"] == "10.00"

    trusted = await _report(await _reporter(clients), answer, "not_executed")
    assert trusted.json()["state"] == "not_executed"
    assert (await _till(clients))["left"] == "1000.00"
    again = await _report(clients("agent"), answer, "not_executed")
    assert (again.status_code, again.json()["state"]) == (200, "not_executed")


async def test_a_lower_actual_cost_needs_a_trusted_reporter(clients: Clients) -> None:
    cheap = {"actual_cost": {"amount": "0.01", "currency": "EUR"}}
    await _report(clients("agent"), await _pay(clients, "9"), "executed", **cheap)
    assert (await _till(clients))["spent"] == "10.00"
    await _report(await _reporter(clients), await _pay(clients, "10"), "executed", **cheap)
    assert (await _till(clients))["spent"] == "10.01"
    dear = {"actual_cost": {"amount": "25", "currency": "EUR"}}
    await _report(clients("agent"), await _pay(clients, "11"), "executed", **dear)
    assert (await _till(clients))["spent"] == "35.01"


async def test_an_actual_cost_in_another_currency_is_bad_input(clients: Clients) -> None:
    answer = await _pay(clients, "12")
    refused = await _report(clients("agent"), answer, "executed", actual_cost={"amount": "1", "currency": "USD"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "/actual_cost/currency"
    assert (await _till(clients))["held"] == "10.00"


async def test_what_was_not_executed_cost_nothing(clients: Clients) -> None:
    cost = {"actual_cost": {"amount": "4", "currency": "EUR"}}
    answer = await _pay(clients, "13")
    path = f"/v1/admissions/{answer['admission']['id']}"

    async def refused(client: httpx.AsyncClient, way: str, **more: str) -> None:
        told = await client.post(f"{path}/{way}", json={"outcome": "not_executed", **cost, **more})
        assert (told.status_code, told.json()["errors"][0]["pointer"]) == (400, "/actual_cost")

    await refused(clients("agent"), "outcome")
    assert (await clients("agent").get(path)).json()["state"] == "reserved"
    await _report(clients("agent"), answer, "unknown", **cost)
    await refused(await _reporter(clients), "outcome")
    await refused(clients("operator"), "resolve", reason="the bank never saw it")
    seen = (await clients("agent").get(path)).json()
    assert (seen["state"], seen["actual_cost"]) == ("unknown", cost["actual_cost"] | {"amount": "4.00"})
    assert (await _till(clients))["held"] == "10.00"

    found = {"outcome": "not_executed", "reason": "none was sent"}
    resolved = await clients("operator").post(f"{path}/resolve", json=found)
    assert (resolved.json()["state"], resolved.json()["actual_cost"]) == ("not_executed", None)
    await refused(clients("agent"), "outcome")
    assert (await _till(clients))["left"] == "1000.00"


async def test_a_replay_permits_while_the_admission_is_open_and_never_after(clients: Clients) -> None:
    first = await _pay(clients, "13", idempotency_key="k")
    open_ = await _pay(clients, "13", idempotency_key="k")
    assert (open_["allowed"], open_["replayed"]) == (True, True)
    assert open_["admission"] == first["admission"]

    await _report(clients("agent"), first, "executed")
    after = await _pay(clients, "13", idempotency_key="k")
    assert (after["allowed"], after["admission"], _codes(after)) == (False, None, ["effect_already_done"])
    other = await clients("agent").post(
        "/v1/admit", json=call("pay", {"invoice": "14"}, cost="10", idempotency_key="k")
    )
    assert other.status_code == 409
    assert (await _pay(clients, "15"))["allowed"]


@pytest.mark.parametrize(("outcome", "code"), [("not_executed", "admission_closed"), ("unknown", "effect_unknown")])
async def test_a_replay_of_a_closed_admission_says_how_it_ended(clients: Clients, outcome: str, code: str) -> None:
    first = await _pay(clients, "16", idempotency_key="k2")
    await _report(clients("agent"), first, outcome)
    assert _codes(await _pay(clients, "16", idempotency_key="k2")) == [code]


async def test_a_revocation_stops_asking_replaying_and_extending(clients: Clients) -> None:
    first = await _pay(clients, "17", idempotency_key="k3")
    whoami = (await clients("agent").get("/v1/whoami")).json()
    placed = await clients("operator").post(
        "/v1/revocations", json={"principal": whoami["principal"], "reason": "it went astray"}
    )
    assert placed.status_code == 201

    assert _codes(await _pay(clients, "18")) == ["revoked"]
    replayed = await _pay(clients, "17", idempotency_key="k3")
    assert (replayed["allowed"], _codes(replayed)) == (False, ["revoked"])
    path = f"/v1/admissions/{first['admission']['id']}"
    assert (await clients("agent").post(f"{path}/extend", json={"lease": "5m"})).status_code == 409
    assert (await _report(clients("agent"), first, "executed")).status_code == 200

    await clients("operator").delete(f"/v1/revocations/{placed.json()['id']}")
    assert (await _pay(clients, "18"))["allowed"]


async def test_a_caller_that_looks_at_the_status_runs_on_201_only(clients: Clients) -> None:
    agent = clients("agent")
    run = await agent.post("/v1/admissions", json=call("pay", {"invoice": "19"}, cost="10"))
    assert run.status_code == 201
    assert run.headers["location"].endswith(run.json()["admission"]["id"])
    denied = await agent.post("/v1/admissions", json=call("pay", {"invoice": "19"}, cost="10"))
    assert denied.status_code == 403
    assert denied.json()["type"].endswith("/problems/denied")
    held = await agent.post(
        "/v1/admissions", json=call("note", {}, advice=[{"outcome": "require_human", "by": "me", "note": "unsure"}])
    )
    assert held.status_code == 403
    assert held.json()["type"].endswith("/problems/approval-required")
    assert held.json()["approval_id"]


async def test_totals_are_not_for_agents(clients: Clients) -> None:
    denied = await admit(clients("agent"), call("pay", {"invoice": "20"}, cost="1001"))
    (trigger,) = denied["triggered"]
    assert trigger["code"] == "spend_limit_exceeded"
    assert not {"held", "spent", "left"} & set(trigger)
    (recorded,) = [
        record["payload"]["triggered"]
        for record in await exported(clients("auditor"))
        if record["event_type"] == "admission.decided"
    ]
    assert recorded[0]["left"] == "1000.00"


async def test_decide_stores_nothing_and_says_what_it_left_out(clients: Clients) -> None:
    before = (await clients("auditor").get("/v1/audit/head")).json()
    said = await clients("agent").post("/v1/decide", json=call("pay", {"invoice": "21"}, cost="1001"))
    assert (said.json()["outcome"], said.json()["allowed"]) == ("allow", False)
    assert {"spend", "effects", "approvals"} <= set(said.json()["not_weighed"])
    assert said.headers["cache-control"] == "no-store"
    assert (await clients("auditor").get("/v1/audit/head")).json() == before


async def test_a_permit_is_given_when_asked_for_and_its_keys_are_public(clients: Clients) -> None:
    answer = await _pay(clients, "22", permit=True)
    jwks = (await clients("agent").get("/.well-known/jwks.json")).json()
    permit = verify_permit(answer["decision_token"], "pay", {"invoice": "22"}, keys=jwks, tenant="dev")
    assert permit is not None
    assert "decision_token" not in await _pay(clients, "23")
