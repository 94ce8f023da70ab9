"""Money over HTTP: what is held and spent, who may see it, entries, and reservations without an action."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

import httpx
import pytest

from app.db.database import Database
from tests.ask import admit, call, exported, put_in_force
from tests.spend.recounting import differences

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    cost: {currency: EUR}
    spend: ["desk", "booking:{booking}"]
    decision: allow
  look:
    spend: ["desk"]
    decision: allow
limits:
  - name: desk
    scope: desk
    limit: {amount: "1000", currency: EUR}
    window: {calendar: month, timezone: Europe/Berlin}
  - {name: pace, scope: desk, metric: count, limit: 3, window: {rolling: 1h}}
  - {name: per-booking, scope: "booking:*", limit: {amount: "100.00", currency: EUR}}
  - {name: tokens, scope: "tokens:*", limit: {amount: "10", currency: USD}}
"""


@pytest.fixture
async def people(asking: Asking) -> Asking:
    """Clients of a service with the policy above in force."""
    await put_in_force(asking("policy_admin"), POLICY)
    return asking


async def limits_of(people: Asking, scope: str) -> dict[str, Any]:
    response = await people("operator").get("/v1/spend/scope", params={"scope": scope})
    assert response.status_code == 200, response.text
    return {limit["name"]: limit for limit in response.json()["limits"]}


async def entries_of(people: Asking, scope: str) -> list[dict[str, Any]]:
    response = await people("operator").get("/v1/spend/entries", params={"scope": scope})
    assert response.status_code == 200, response.text
    entries: list[dict[str, Any]] = response.json()["data"]
    return entries


async def report(client: httpx.AsyncClient, admission_id: str, outcome: str, actual: str | None = None) -> None:
    body: dict[str, Any] = {"outcome": outcome}
    if actual is not None:
        body["actual_cost"] = {"amount": actual, "currency": "EUR"}
    response = await client.post(f"/v1/admissions/{admission_id}/outcome", json=body)
    assert response.status_code == 200, response.text


def reservation(amount: str = "4.00", *scopes: str, currency: str = "USD") -> dict[str, Any]:
    return {"scopes": scopes or ["tokens:a"], "amount": amount, "currency": currency, "expires_in": "5m"}


async def test_a_scope_shows_what_each_of_its_limits_sees(people: Asking) -> None:
    agent = people("agent")
    paid = await admit(agent, call("pay", {"booking": "A"}, cost="30"))
    await admit(agent, call("look"))
    await report(agent, paid["admission"]["id"], "executed")

    assert await limits_of(people, "desk") == {
        "desk": {
            "name": "desk",
            "metric": "money",
            "limit": {"amount": "1000.00", "currency": "EUR"},
            "window": {"calendar": "month", "timezone": "Europe/Berlin"},
            "held": "0.00",
            "spent": "30.00",
            "left": "970.00",
        },
        "pace": {
            "name": "pace",
            "metric": "count",
            "limit": 3,
            "window": {"rolling": "1h"},
            "held": 1,
            "spent": 1,
            "left": 1,
        },
    }
    assert (await limits_of(people, "booking:A"))["per-booking"]["left"] == "70.00"
    assert (await limits_of(people, "booking:never seen"))["per-booking"]["left"] == "100.00"


async def test_a_count_limit_counts_calls_without_a_cost(people: Asking) -> None:
    answers = [await admit(people("agent"), call("look")) for _ in range(4)]

    assert [answer["allowed"] for answer in answers] == [True, True, True, False]
    assert answers[3]["triggered"][0]["code"] == "spend_limit_exceeded"


async def test_an_agent_never_sees_a_total(people: Asking) -> None:
    agent = people("agent")
    await admit(agent, call("pay", {"booking": "A"}, cost="95"))
    refused = await admit(agent, call("pay", {"booking": "A"}, cost="5.01"))

    assert refused["outcome"] == "deny"
    assert refused["triggered"] == [
        {
            "code": "spend_limit_exceeded",
            "outcome": "deny",
            "message": "the limit per-booking has no room left for this on booking:A",
            "limit": "per-booking",
            "scope": "booking:A",
            "cost": "5.01",
            "amount": "100.00",
            "currency": "EUR",
        }
    ]
    for path in ("/v1/spend", "/v1/spend/scope?scope=desk", "/v1/spend/entries?scope=desk"):
        assert (await agent.get(path)).status_code == 403


async def test_the_record_has_the_totals(people: Asking) -> None:
    await admit(people("agent"), call("pay", {"booking": "A"}, cost="95"))
    await admit(people("agent"), call("pay", {"booking": "A"}, cost="6"))

    first, second = [
        record["payload"] for record in await exported(people("auditor")) if record["event_type"] == "admission.decided"
    ]
    after = [
        {"scope": "desk", "held": "95.00", "spent": "0.00"},
        {"scope": "booking:A", "held": "95.00", "spent": "0.00"},
    ]
    assert first["totals"] == after
    assert second["totals"] == after
    assert [(found["code"], found["left"]) for found in second["triggered"]] == [("spend_limit_exceeded", "5.00")]


@pytest.mark.parametrize(
    ("outcome", "actual", "spent", "overrun"),
    [
        ("executed", None, "30.00", False),
        ("executed", "30.5", "30.50", True),
        ("executed", "0.01", "30.00", False),
        ("not_executed", None, "0.00", False),
    ],
)
async def test_what_an_agent_reports_is_what_counts_unless_it_is_less(
    people: Asking, outcome: str, actual: str | None, spent: str, *, overrun: bool
) -> None:
    agent = people("agent")
    paid = await admit(agent, call("pay", {"booking": "A"}, cost="30"))
    await report(agent, paid["admission"]["id"], outcome, actual)

    limit = (await limits_of(people, "booking:A"))["per-booking"]
    assert (limit["held"], limit["spent"]) == ("0.00", spent)
    last = (await entries_of(people, "booking:A"))[0]
    assert (last["overrun"], last["admission_id"]) == (overrun, paid["admission"]["id"])


async def test_a_cost_that_nobody_foresaw_counts_in_its_currency(people: Asking) -> None:
    agent = people("agent")
    looked = await admit(agent, call("look"))
    path = f"/v1/admissions/{looked['admission']['id']}"
    body = {"outcome": "executed", "actual_cost": {"amount": "2", "currency": "EUR"}}
    assert (await agent.post(f"{path}/outcome", json=body)).status_code == 200

    assert (await agent.get(path)).json()["actual_cost"] == {"amount": "2.00", "currency": "EUR"}
    assert (await limits_of(people, "desk"))["desk"]["spent"] == "2.00"
    last = (await exported(people("auditor")))[-1]["payload"]
    assert (last["spent"], last["overrun"]) == ({"amount": "2.00", "currency": "EUR"}, True)


async def test_an_actual_cost_is_in_the_currency_that_is_held(people: Asking) -> None:
    agent = people("agent")
    paid = await admit(agent, call("pay", {"booking": "A"}, cost="30"))
    body = {"outcome": "executed", "actual_cost": {"amount": "2", "currency": "USD"}}
    refused = await agent.post(f"/v1/admissions/{paid['admission']['id']}/outcome", json=body)

    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/actual_cost/currency")
    assert (await limits_of(people, "desk"))["desk"]["held"] == "30.00"


async def test_an_unknown_outcome_stays_held(people: Asking) -> None:
    agent = people("agent")
    paid = await admit(agent, call("pay", {"booking": "A"}, cost="30"))
    await report(agent, paid["admission"]["id"], "unknown")
    assert (await limits_of(people, "desk"))["desk"]["held"] == "30.00"

    body = {"outcome": "executed", "actual_cost": {"amount": "10", "currency": "EUR"}, "reason": "the bank says so"}
    resolved = await people("operator").post(f"/v1/admissions/{paid['admission']['id']}/resolve", json=body)
    assert resolved.status_code == 200, resolved.text
    desk = (await limits_of(people, "desk"))["desk"]
    assert (desk["held"], desk["spent"]) == ("0.00", "10.00")


async def test_a_limit_that_is_new_starts_with_the_truth(people: Asking) -> None:
    agent = people("agent")
    paid = await admit(agent, call("pay", {"booking": "A"}, cost="30"))
    await report(agent, paid["admission"]["id"], "executed")
    await admit(agent, call("pay", {"booking": "A"}, cost="20"))

    await put_in_force(
        people("policy_admin"), POLICY + '  - {name: late, scope: "book*", limit: {amount: "60", currency: EUR}}\n'
    )
    late = (await limits_of(people, "booking:A"))["late"]
    assert (late["held"], late["spent"], late["left"]) == ("20.00", "30.00", "10.00")
    assert not (await admit(agent, call("pay", {"booking": "A"}, cost="10.01")))["allowed"]
    assert (await admit(agent, call("pay", {"booking": "A"}, cost="10")))["allowed"]


async def test_scopes_are_listed_by_prefix_in_pages(people: Asking) -> None:
    operator = people("operator")
    scopes = ["a:1", "a:2", "a:\u00e9", "a:\U0001f600", "a%3", "b"]
    for scope in scopes:
        entry = {"scope": scope, "amount": "1.5", "currency": "EUR", "kind": "record"}
        assert (await operator.post("/v1/spend/entries", json=entry)).status_code == 201

    seen, cursor = [], None
    while True:
        query = {"prefix": "a:", "limit": "3"} | ({"cursor": cursor} if cursor else {})
        page = (await operator.get("/v1/spend", params=query)).json()
        seen += [row["scope"] for row in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["a:1", "a:2", "a:\u00e9", "a:\U0001f600"]
    found = (await operator.get("/v1/spend", params={"prefix": "b"})).json()["data"]
    assert found == [
        {
            "scope": "b",
            "sums": [
                {
                    "currency": "EUR",
                    "held": "0.00",
                    "held_count": 0,
                    "spent": "1.50",
                    "spent_count": 1,
                    "credited": "0.00",
                }
            ],
        }
    ]


async def test_entries_are_recorded_and_read_newest_first(people: Asking) -> None:
    operator = people("operator")
    record = {"scope": "desk", "amount": "12.5", "currency": "EUR", "kind": "record", "action": "invoice"}
    answered = await operator.post("/v1/spend/entries", json=record)
    assert answered.status_code == 201
    assert answered.json()["amount"] == "12.50"
    assert answered.json()["audit_id"].startswith("dev/")
    await operator.post("/v1/spend/entries", json=record | {"kind": "credit", "amount": "2"})

    desk = (await limits_of(people, "desk"))["desk"]
    assert (desk["spent"], desk["left"]) == ("12.50", "987.50")
    entries = await entries_of(people, "desk")
    assert [(entry["kind"], entry["amount"], entry["action"]) for entry in entries] == [
        ("credit", "2.00", "invoice"),
        ("record", "12.50", "invoice"),
    ]
    first = (await operator.get("/v1/spend/entries", params={"scope": "desk", "limit": 1})).json()
    rest = {"scope": "desk", "limit": 1, "cursor": first["next_cursor"]}
    second = (await operator.get("/v1/spend/entries", params=rest)).json()
    assert [*first["data"], *second["data"]] == entries
    assert second["next_cursor"] is None
    events = [entry["event_type"] for entry in await exported(people("auditor"))]
    assert events[-2:] == ["spend.recorded", "spend.credited"]


async def test_an_entry_repeated_under_its_key_is_entered_once(people: Asking, database: Database) -> None:
    operator, key = people("operator"), {"Idempotency-Key": '"invoice-7"'}
    record = {"scope": "desk", "amount": "12.5", "currency": "EUR", "kind": "record"}
    sent = [operator.post("/v1/spend/entries", json=record, headers=key) for _ in range(16)]
    answers = [response.json() for response in await asyncio.gather(*sent)]

    assert sum("replayed" not in answer for answer in answers) == 1
    assert {answer["at"] for answer in answers} == {answers[0]["at"]}
    assert (await limits_of(people, "desk"))["desk"]["spent"] == "12.50"
    other = await operator.post("/v1/spend/entries", json=record | {"amount": "13"}, headers=key)
    assert other.status_code == 409
    assert await database.read(lambda reader: differences(reader, "dev")) == []


async def test_a_reservation_holds_and_settles_with_what_was_used(people: Asking, database: Database) -> None:
    operator = people("operator")
    made = await operator.post("/v1/spend/reservations", json=reservation("4", "tokens:a", "tokens:b"))
    assert made.status_code == 201, made.text
    reserved = made.json()
    assert (reserved["kind"], reserved["state"], reserved["allowed"]) == ("metering", "reserved", True)
    assert (await limits_of(people, "tokens:b"))["tokens"]["held"] == "4.00"

    path = f"/v1/spend/reservations/{reserved['id']}"
    settled = await operator.post(f"{path}/settle", json={"actual": "1.25"})
    assert settled.status_code == 200, settled.text
    assert settled.json()["state"] == "executed"
    for scope in ("tokens:a", "tokens:b"):
        limit = (await limits_of(people, scope))["tokens"]
        assert (limit["held"], limit["spent"], limit["left"]) == ("0.00", "1.25", "8.75")

    assert (await operator.post(f"{path}/settle", json={"actual": "1.25"})).status_code == 200
    assert (await operator.post(f"{path}/settle", json={"actual": "2"})).status_code == 409
    assert (await operator.post(f"{path}/release")).status_code == 409
    assert await database.read(lambda reader: differences(reader, "dev")) == []


async def test_a_reservation_over_a_limit_is_refused_and_recorded(people: Asking) -> None:
    refused = await people("operator").post("/v1/spend/reservations", json=reservation("10.01"))

    assert refused.status_code == 403
    assert refused.json()["type"].endswith("/problems/spend-limit-exceeded")
    assert refused.json()["triggered"][0]["left"] == "10.00"
    last = (await exported(people("auditor")))[-1]
    assert (last["event_type"], last["payload"]["outcome"]) == ("admission.decided", "deny")
    assert (await limits_of(people, "tokens:a"))["tokens"]["held"] == "0.00"


async def test_a_reservation_is_in_the_currency_of_the_limits(people: Asking) -> None:
    refused = await people("operator").post("/v1/spend/reservations", json=reservation(currency="EUR"))

    assert refused.status_code == 403
    assert refused.json()["code"] == "currency_mismatch"


async def test_a_released_reservation_costs_nothing(people: Asking) -> None:
    operator = people("operator")
    reserved = (await operator.post("/v1/spend/reservations", json=reservation("10"))).json()
    released = await operator.post(f"/v1/spend/reservations/{reserved['id']}/release")
    assert released.json()["state"] == "not_executed"
    assert (await operator.post("/v1/spend/reservations", json=reservation("10"))).status_code == 201


async def test_a_release_that_names_what_was_used_is_bad_input(people: Asking) -> None:
    operator = people("operator")
    reserved = (await operator.post("/v1/spend/reservations", json=reservation("10"))).json()
    path = f"/v1/spend/reservations/{reserved['id']}/release"
    refused = await operator.post(path, json={"actual": "4"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/actual")
    assert (await limits_of(people, "tokens:a"))["tokens"]["held"] == "10.00"
    assert (await operator.post(path, json={})).json()["state"] == "not_executed"


async def test_a_reservation_that_runs_out_stays_held_until_it_is_resolved(people: Asking) -> None:
    operator = people("operator")
    made = await operator.post("/v1/spend/reservations", json=reservation("10") | {"expires_in": "1s"})
    path = f"/v1/admissions/{made.json()['id']}"
    async with asyncio.timeout(10):
        while (await operator.get(path)).json()["state"] == "reserved":
            pass
    assert (await limits_of(people, "tokens:a"))["tokens"]["held"] == "10.00"
    assert (await operator.post("/v1/spend/reservations", json=reservation("0.01"))).status_code == 403

    body = {"outcome": "not_executed", "reason": "the job had crashed"}
    assert (await operator.post(f"{path}/resolve", json=body)).status_code == 200
    assert (await limits_of(people, "tokens:a"))["tokens"]["left"] == "10.00"


async def test_a_late_word_on_a_reservation_counts_until_somebody_has_resolved_it(people: Asking) -> None:
    operator = people("operator")
    made = await operator.post("/v1/spend/reservations", json=reservation("10") | {"expires_in": "1s"})
    await asyncio.sleep(1.1)
    settled = await operator.post(f"/v1/spend/reservations/{made.json()['id']}/settle", json={"actual": "2"})
    assert (settled.status_code, settled.json()["state"]) == (200, "executed")
    assert (await limits_of(people, "tokens:a"))["tokens"]["left"] == "8.00"


async def test_a_reservation_repeated_under_its_key_takes_room_once(people: Asking) -> None:
    operator, key = people("operator"), {"Idempotency-Key": "job-7"}
    first = await operator.post("/v1/spend/reservations", json=reservation("6"), headers=key)
    again = await operator.post("/v1/spend/reservations", json=reservation("6"), headers=key)
    other = await operator.post("/v1/spend/reservations", json=reservation("7"), headers=key)

    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 409)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["replayed"]
    assert (await limits_of(people, "tokens:a"))["tokens"]["held"] == "6.00"
    await operator.post(f"/v1/spend/reservations/{first.json()['id']}/settle", json={})
    assert (await operator.post("/v1/spend/reservations", json=reservation("6"), headers=key)).status_code == 403


async def test_only_who_reserved_settles_and_only_a_reservation(people: Asking) -> None:
    paid = await admit(people("agent"), call("pay", {"booking": "A"}, cost="30"))
    for admission_id in (paid["admission"]["id"], "rsv_0000"):
        answered = await people("operator").post(f"/v1/spend/reservations/{admission_id}/release")
        assert answered.status_code == 404
    assert (await limits_of(people, "desk"))["desk"]["held"] == "30.00"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (reservation("-1"), "/amount"),
        (reservation("1e3"), "/amount"),
        (reservation(currency="usd"), "/currency"),
        (reservation() | {"scopes": []}, "/scopes"),
        (reservation() | {"scopes": [f"tokens:{number}" for number in range(17)]}, "/scopes"),
        (reservation() | {"scopes": ["a\u0007"]}, "/scopes/0"),
        (reservation() | {"expires_in": "25h"}, "/expires_in"),
        (reservation() | {"expires_in": 300}, "/expires_in"),
        (reservation() | {"scope": "tokens:a"}, "/scope"),
    ],
)
async def test_what_is_no_reservation_is_refused_with_its_place(
    people: Asking, body: dict[str, Any], pointer: str
) -> None:
    refused = await people("operator").post("/v1/spend/reservations", json=body)

    assert refused.status_code == 400
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


async def test_scopes_that_differ_a_little_are_different(people: Asking) -> None:
    """No folding, trimming or normalising: each of these is a scope of its own."""
    operator = people("operator")
    for scope in ("tokens:e\u0301", "tokens:\u00e9", "tokens:E", "tokens: E"):
        assert (await operator.post("/v1/spend/reservations", json=reservation("10", scope))).status_code == 201
