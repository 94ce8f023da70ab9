"""Grants over HTTP: who may ask for what, once a tenant has switched them on."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.db.database import Database
from tests.ask import admit, call, exported, put_in_force, verified

Clients = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay.out:
    cost: {currency: EUR}
    spend: ["desk"]
    decision: allow
  pay.back:
    asset: "account/{account}"
    decision: allow
  wire:
    labels: {kind: payout}
    decision: require_human
approvers:
  - {name: payouts, labels: [payout], roles: [approver]}
"""


@pytest.fixture
async def governed(asking: Clients) -> Clients:
    """A service with the policy above in force, where nothing is asked without a grant."""
    await put_in_force(asking("policy_admin"), POLICY)
    assert (await asking("admin").put("/v1/grants/required", json={"required": True})).status_code == 200
    return asking


async def granted(client: httpx.AsyncClient, subject: str, *actions: str, within: str = "", **more: Any) -> str:
    path = f"/v1/grants/{within}/delegations" if within else "/v1/grants"
    made = await client.post(path, json={"subject": subject, "actions": list(actions), **more})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def codes(answer: dict[str, Any]) -> list[str]:
    return [trigger["code"] for trigger in answer["triggered"]]


def budget(amount: str, currency: str = "EUR") -> list[dict[str, str]]:
    return [{"amount": amount, "currency": currency}]


async def test_they_play_no_part_until_they_are_switched_on(asking: Clients) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    assert (await admit(asking("agent"), call("pay.out", cost="1")))["allowed"]
    assert (await asking("agent").get("/v1/grants/required")).json() == {"required": False}
    await asking("admin").put("/v1/grants/required", json={"required": True})
    assert codes(await admit(asking("agent"), call("pay.out", cost="1"))) == ["no_grant"]
    await asking("admin").put("/v1/grants/required", json={"required": False})
    assert (await admit(asking("agent"), call("pay.out", cost="1")))["allowed"]


async def test_nothing_is_asked_without_one_by_any_way(governed: Clients) -> None:
    agent = governed("agent")
    for body in (call("pay.out", cost="1"), call("wire")):
        assert codes(await admit(agent, body))[0] == "no_grant"
        decided = (await agent.post("/v1/decide", json=body)).json()
        assert (decided["outcome"], codes(decided)[0]) == ("deny", "no_grant")
    asked = await agent.post("/v1/approvals", json=call("wire"))
    assert asked.status_code == 409
    assert asked.json()["outcome"] == "deny"


async def test_one_permits_the_question_and_decides_nothing(governed: Clients) -> None:
    await granted(governed("admin"), "agent", "**")
    held = await admit(governed("agent"), call("wire"))
    assert held["outcome"] == "require_human"
    assert (await admit(governed("agent"), call("pay.out", cost="1")))["allowed"]
    assert codes(await admit(governed("agent"), call("unheard.of"))) == ["unlisted_action"]
    assert codes(await admit(governed("agent2"), call("wire"))) == ["no_grant", "rule"]


async def test_what_leaves_a_call_out_is_named(governed: Clients) -> None:
    grant = await granted(
        governed("admin"),
        "agent",
        "pay.*",
        assets=["account/7*"],
        environments=["test"],
        conditions=["!has(arguments.large)"],
        budgets=budget("5.00"),
    )
    agent = governed("agent")

    async def dimension(arguments: dict[str, Any], **action: Any) -> str:
        body = call("pay.back", arguments)
        body["action"] |= {"environment": "test", **action}
        answer = await admit(agent, body)
        if answer["allowed"]:
            return ""
        assert codes(answer) == ["grant_constraint"]
        assert answer["triggered"][0]["grant"] == grant
        return str(answer["triggered"][0]["dimension"])

    assert await dimension({"account": "71"}) == ""
    assert await dimension({"account": "81"}) == "assets"
    assert await dimension({"account": "81"}, asset="account/7") == "assets"
    assert await dimension({"account": "71"}, environment="live") == "environments"
    assert await dimension({"account": "71", "large": 1}) == "conditions"
    assert await dimension({"account": "71"}, cost={"amount": "1", "currency": "USD"}) == "budgets"


async def test_a_budget_holds_over_all_calls_and_a_release_gives_it_back(governed: Clients) -> None:
    await granted(governed("admin"), "agent", "pay.*", budgets=budget("10.00"))
    agent = governed("agent")
    first = await admit(agent, call("pay.out", {"n": 1}, cost="6.00"))
    second = await admit(agent, call("pay.out", {"n": 2}, cost="6.00"))
    assert codes(second) == ["grant_budget"]
    assert "held" not in second["triggered"][0]

    released = await agent.post(f"/v1/admissions/{first['admission']['id']}/outcome", json={"outcome": "not_executed"})
    assert released.status_code == 200
    third = await admit(agent, call("pay.out", {"n": 3}, cost="10.00"))
    assert third["allowed"]
    await agent.post(f"/v1/admissions/{third['admission']['id']}/outcome", json={"outcome": "executed"})
    assert codes(await admit(agent, call("pay.out", {"n": 4}, cost="0.01"))) == ["grant_budget"]


async def test_a_budget_is_charged_to_every_ancestor(governed: Clients) -> None:
    root = await granted(governed("admin"), "agent", "pay.*", budgets=budget("10.00"), delegable=True)
    await granted(governed("agent"), "agent2", "pay.out", within=root, budgets=budget("8.00"))
    assert (await admit(governed("agent2"), call("pay.out", cost="7.00")))["allowed"]
    assert codes(await admit(governed("agent"), call("pay.out", cost="4.00"))) == ["grant_budget"]
    assert (await admit(governed("agent"), call("pay.out", cost="3.00")))["allowed"]
    stopped = await admit(governed("agent2"), call("pay.out", {"n": 2}, cost="1.00"))
    assert codes(stopped) == ["grant_budget"]

    decided = [record for record in await exported(governed("auditor")) if record["event_type"] == "admission.decided"]
    assert decided[0]["payload"]["grants"][1] == root
    assert [total["held"] for total in decided[0]["payload"]["budgets"]] == ["7.00", "7.00"]
    assert decided[-1]["payload"]["triggered"][0]["budget_of"] == root
    await verified(governed("auditor"))


async def test_budgets_are_named_by_nobody_else(governed: Clients) -> None:
    grant = await granted(governed("admin"), "agent", "pay.*", budgets=budget("10.00"))
    scope = f"system:grant:{grant}"
    operator = governed("operator")
    entry = {"scope": scope, "amount": "9.00", "currency": "EUR", "kind": "record"}
    assert (await operator.post("/v1/spend/entries", json=entry)).status_code == 400
    reservation = {"scopes": [scope], "amount": "9.00", "currency": "EUR", "expires_in": "1m"}
    assert (await operator.post("/v1/spend/reservations", json=reservation)).status_code == 400
    document = POLICY.replace('"desk"', f'"{scope}"')
    assert (await governed("policy_admin").post("/v1/policies", json={"document": document})).status_code == 400
    assert (await admit(governed("agent"), call("pay.out", cost="1.00", spend=[scope])))["allowed"]
    assert (await admit(governed("agent"), call("pay.out", {"n": 2}, cost="9.00")))["allowed"]


async def test_a_part_stays_within_in_every_dimension(governed: Clients) -> None:
    bounds: dict[str, Any] = {
        "assets": ["account/*"],
        "environments": ["test"],
        "conditions": ["action.blast_radius < 3"],
        "budgets": budget("10.00"),
        "expires_in": "1h",
    }
    root = await granted(governed("admin"), "agent", "pay.*", delegable=True, **bounds)
    within = bounds | {"subject": "agent2", "actions": ["pay.out"], "expires_in": "30m"}

    async def refused(**changed: Any) -> Any:
        body = {name: value for name, value in (within | changed).items() if value is not None}
        answer = await governed("agent").post(f"/v1/grants/{root}/delegations", json=body)
        return None if answer.status_code == 201 else answer.json().get("dimension")

    assert await refused() is None
    assert await refused(actions=["wire"]) == "actions"
    for dimension in ("assets", "environments", "conditions", "budgets"):
        assert await refused(**{dimension: None}) == dimension
    assert await refused(expires_in=None) == "expiry"
    assert await refused(expires_in="2h") == "expiry"
    assert await refused(budgets=budget("10.01")) == "budgets"


async def test_only_the_subject_of_a_delegable_grant_delegates_it(governed: Clients) -> None:
    fixed = await granted(governed("admin"), "agent", "pay.*")
    free = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    below = await granted(governed("agent"), "agent2", "pay.out", within=free)
    wish = {"subject": "agent2", "actions": ["pay.out"]}
    for client, grant, status in (
        ("agent", fixed, 403),
        ("agent2", free, 404),
        ("agent", below, 403),
        ("agent2", below, 403),
        ("agent", "grt_unknown", 404),
        ("admin", free, 403),
    ):
        answer = await governed(client).post(f"/v1/grants/{grant}/delegations", json=wish)
        assert answer.status_code == status, (client, grant, answer.text)
    assert (await governed("agent").post("/v1/grants", json=wish)).status_code == 403
    nobody = await governed("admin").post("/v1/grants", json={"subject": "nobody", "actions": ["**"]})
    assert nobody.json()["errors"][0]["pointer"] == "/subject"


async def test_what_is_revoked_takes_all_that_came_from_it_along(governed: Clients) -> None:
    root = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    below = await granted(governed("agent"), "agent2", "pay.*", within=root)
    assert (await admit(governed("agent2"), call("pay.out", cost="1")))["allowed"]
    assert (await governed("agent2").delete(f"/v1/grants/{root}")).status_code == 404
    assert (await governed("approver").delete(f"/v1/grants/{below}")).status_code == 404
    for _ in range(2):
        assert (await governed("admin").delete(f"/v1/grants/{root}")).status_code == 204
    assert codes(await admit(governed("agent2"), call("pay.out", cost="1"))) == ["no_grant"]
    late = await governed("agent").post(
        f"/v1/grants/{root}/delegations", json={"subject": "agent2", "actions": ["pay.out"]}
    )
    assert late.status_code == 409
    events = [record["event_type"] for record in await exported(governed("auditor"))]
    assert [event for event in events if event.startswith("grant.")] == [
        "grant.created",
        "grant.delegated",
        "grant.revoked",
    ]


async def test_the_kill_switch_stops_what_somebody_has_delegated(governed: Clients) -> None:
    root = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    await granted(governed("agent"), "agent2", "pay.*", within=root)
    placed = await governed("operator").post("/v1/revocations", json={"principal": "agent", "reason": "strange"})
    assert codes(await admit(governed("agent2"), call("pay.out", cost="1"))) == ["no_grant"]
    late = await governed("agent").post(
        f"/v1/grants/{root}/delegations", json={"subject": "agent2", "actions": ["pay.out"]}
    )
    assert late.status_code == 403
    await governed("operator").delete(f"/v1/revocations/{placed.json()['id']}")
    assert (await admit(governed("agent2"), call("pay.out", cost="1")))["allowed"]


async def test_a_redemption_needs_the_grant_still(governed: Clients) -> None:
    grant = await granted(governed("admin"), "agent", "wire")
    held = await admit(governed("agent"), call("wire"))
    vote = await governed("approver").post(
        f"/v1/approvals/{held['approval_id']}/decision", json={"decision": "approve"}
    )
    assert vote.status_code == 200
    await governed("admin").delete(f"/v1/grants/{grant}")
    assert "no_grant" in codes(await admit(governed("agent"), call("wire")))
    assert "no_grant" in codes(await admit(governed("agent"), call("wire", approval_id=held["approval_id"])))
    await granted(governed("admin"), "agent", "wire")
    assert (await admit(governed("agent"), call("wire", approval_id=held["approval_id"])))["allowed"]


async def test_a_replay_licenses_nothing_without_its_grant(governed: Clients) -> None:
    grant = await granted(governed("admin"), "agent", "pay.*")
    body = call("pay.out", cost="1", idempotency_key="once")
    assert (await admit(governed("agent"), body))["allowed"]
    assert (await admit(governed("agent"), body))["allowed"]
    await governed("admin").delete(f"/v1/grants/{grant}")
    replayed = await admit(governed("agent"), body)
    assert (replayed["allowed"], codes(replayed)) == (False, ["no_grant"])


async def test_of_several_the_first_with_room_is_used(governed: Clients) -> None:
    await granted(governed("admin"), "agent", "pay.*", budgets=budget("1.00"))
    second = await granted(governed("admin"), "agent", "pay.*", budgets=budget("5.00"))
    assert (await admit(governed("agent"), call("pay.out", cost="5.00")))["allowed"]
    decided = (await exported(governed("auditor")))[-1]["payload"]
    assert decided["grants"] == [second]


async def test_one_sees_what_one_holds_and_gave(governed: Clients) -> None:
    root = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    below = await granted(governed("agent"), "agent2", "pay.out", within=root)
    other = await granted(governed("admin"), "approver", "**")

    async def seen(client: str, **query: str) -> list[str]:
        page = (await governed(client).get("/v1/grants", params=query)).json()
        return [grant["id"] for grant in page["data"]]

    assert await seen("agent") == [root, below]
    assert await seen("agent2") == [below]
    assert await seen("auditor") == [root, below, other]
    assert await seen("admin", subject="agent2") == [below]
    assert await seen("agent2", subject="agent") == []


@pytest.fixture
def tampering(database: Database) -> Callable[..., Any]:
    """Change rows of grants behind the service's back, and raise the epoch as a change of a grant would."""

    async def run(change: str, **parameters: Any) -> None:
        async def both(tx: Any) -> None:
            await tx.write(text(f"UPDATE grants SET {change} WHERE id = :id"), parameters)  # noqa: S608 - of this file
            await tx.write(text("UPDATE heads SET authority_epoch = authority_epoch + 1"))

        await database.transact(both)

    return run


_MENDED = """bounds = '{"actions": ["pay.*"]}', parent = NULL, expires_at = NULL, delegable = true"""


async def test_one_corrupt_row_harms_its_own_chain_only(governed: Clients, tampering: Callable[..., Any]) -> None:
    root = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    sound = await granted(governed("admin"), "agent", "pay.*", delegable=True)
    await granted(governed("agent"), "agent2", "pay.out", within=root)
    await granted(governed("agent"), "approver", "pay.out", within=sound)
    for change in (
        """bounds = '"nothing"'""",
        """bounds = '{"actions": ["**"], "conditions": ["((("]}'""",
        """bounds = '{"actions": [7]}'""",
        "bounds = 'null', expires_at = 'infinity'",
        "parent = id",
        "parent = 'grt_gone'",
        "delegable = false",
    ):
        await tampering(_MENDED, id=root)
        assert (await admit(governed("agent2"), call("pay.out", cost="1")))["allowed"]
        await tampering(change, id=root)
        assert codes(await admit(governed("agent2"), call("pay.out", cost="1"))) == ["no_grant"], change
        assert (await admit(governed("agent"), call("pay.out", cost="1")))["allowed"]
        assert (await governed("admin").get("/v1/grants")).status_code == 200
    assert (await governed("admin").delete(f"/v1/grants/{root}")).status_code == 204


async def test_a_row_that_reaches_beyond_its_parent_is_held_to_it(
    governed: Clients, tampering: Callable[..., Any]
) -> None:
    root = await granted(governed("admin"), "agent", "pay.back", delegable=True)
    below = await granted(governed("agent"), "agent2", "pay.back", within=root)
    await tampering("""bounds = '{"actions": ["**"]}'""", id=below)
    assert codes(await admit(governed("agent2"), call("pay.out", cost="1"))) == ["no_grant"]


async def test_what_has_expired_says_so(governed: Clients, tampering: Callable[..., Any]) -> None:
    grant = await granted(governed("admin"), "agent", "pay.*", delegable=True, expires_in="1h")
    await granted(governed("agent"), "agent2", "pay.out", within=grant, expires_in="30m")
    await tampering("expires_at = CAST(:at AS timestamptz)", id=grant, at=datetime(2026, 1, 1, tzinfo=UTC))
    for client in ("agent", "agent2"):
        answer = await admit(governed(client), call("pay.out", cost="1"))
        assert codes(answer) == ["grant_expired"]
    late = await governed("agent").post(
        f"/v1/grants/{grant}/delegations", json={"subject": "agent2", "actions": ["pay.out"], "expires_in": "1s"}
    )
    assert late.status_code == 409


async def test_bounds_that_are_none_are_bad_input(governed: Clients) -> None:
    for name, value in (
        ("actions", ["a*b"]),
        ("actions", []),
        ("assets", []),
        ("conditions", ["arguments.x <"]),
        ("conditions", ["cost.amount < 3.0"]),
        ("budgets", [{"amount": "1e3", "currency": "EUR"}]),
        ("budgets", [{"amount": "1", "currency": "EUR"}, {"amount": "2", "currency": "EUR"}]),
        ("colour", ["red"]),
    ):
        body = {"subject": "agent", "actions": ["**"], name: value}
        answer = await governed("admin").post("/v1/grants", json=body)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"].startswith(f"/{name}"), answer.text
