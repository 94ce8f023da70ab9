"""Keys, principals, tenants and revocations, over HTTP."""

import json
from collections.abc import Callable
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import text

from app.audit.lane import Lanes
from app.core.chain import Signer
from app.core.refusals import Refusal
from app.db.database import Database
from app.identity import tenants
from app.identity.credentials import NewKey
from app.identity.principals import Statement
from app.identity.rights import SYSTEM_TENANT

Asking = Callable[[str], httpx.AsyncClient]


def client_of(app: FastAPI, key: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(transport=transport, base_url="http://countersign.test", headers=headers)


async def make_key(asking: Asking, **said: object) -> dict[str, Any]:
    body = {"principal": "bot", "kind": "agent", "bundles": ["agent"], **said}
    answered = await asking("admin").post("/v1/keys", json=body)
    assert answered.status_code == 201, answered.text
    return dict(answered.json())


async def whoami(app: FastAPI, key: str) -> httpx.Response:
    async with client_of(app, key) as client:
        return await client.get("/v1/whoami")


async def records(database: Database, tenant: str = "dev") -> list[dict[str, Any]]:
    statement = text("SELECT canonical FROM audit_records WHERE tenant = :tenant ORDER BY seq")
    rows = await database.read(lambda reader: reader.rows(statement, {"tenant": tenant}))
    return [json.loads(row.canonical) for row in rows]


async def test_a_key_stands_for_what_was_said_when_it_was_made(app: FastAPI, asking: Asking) -> None:
    made = await make_key(
        asking,
        principal="desk-bot",
        owner="acme",
        environment="production",
        roles=["desk"],
        rights=["attest", "speak_for"],
        speak_for=["other-bot"],
    )
    assert (await whoami(app, made["key"])).json() == {
        "principal": "desk-bot",
        "kind": "agent",
        "owner": "acme",
        "tenant": "dev",
        "environment": "production",
        "roles": ["desk"],
        "rights": ["admit", "attest", "decide", "speak_for"],
        "speak_for": ["other-bot"],
        "credential": made["id"],
        "revoked": False,
    }


async def test_the_secret_is_shown_once_and_kept_nowhere(asking: Asking, database: Database) -> None:
    made = await make_key(asking)
    secret = made["key"].rpartition("_")[2]
    listed = await asking("admin").get("/v1/keys")
    stored = await database.read(lambda reader: reader.rows(text("SELECT c::text FROM credentials c")))
    recorded = await records(database)
    assert made["id"] in listed.text
    assert secret not in f"{listed.text}{stored}{recorded}"


async def test_what_is_made_is_in_the_record(asking: Asking, database: Database) -> None:
    made = await make_key(asking, principal="recorded-bot", expires_in="1h")
    changed, created = (await records(database))[-2:]
    assert changed["event_type"] == "principal.changed"
    assert created["event_type"] == "credential.created"
    assert created["payload"]["credential"] == made["id"]
    assert created["payload"]["rights"] == ["admit", "decide"]
    assert created["payload"]["by"] == "admin"


async def test_a_new_principal_is_its_own_owner(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking)
    assert (await whoami(app, made["key"])).json()["owner"] == "bot"


async def test_a_revoked_key_is_worth_nothing_with_the_next_request(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking)
    assert (await whoami(app, made["key"])).status_code == 200
    assert (await asking("admin").delete(f"/v1/keys/{made['id']}")).status_code == 204
    assert (await whoami(app, made["key"])).status_code == 401
    assert (await asking("admin").delete(f"/v1/keys/{made['id']}")).status_code == 204
    assert (await asking("admin").post(f"/v1/keys/{made['id']}/rotate")).status_code == 409


async def test_rotating_replaces_the_secret(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking)
    rotated = (await asking("admin").post(f"/v1/keys/{made['id']}/rotate")).json()
    assert rotated["id"] == made["id"]
    assert (await whoami(app, made["key"])).status_code == 401
    assert (await whoami(app, rotated["key"])).status_code == 200


async def test_a_key_is_over_exactly_at_its_time(app: FastAPI, asking: Asking, database: Database) -> None:
    made = await make_key(asking, expires_in="1h")
    assert (await whoami(app, made["key"])).status_code == 200
    expire = text("UPDATE credentials SET expires_at = clock_timestamp() WHERE id = :id")
    raise_epoch = text("UPDATE heads SET authority_epoch = authority_epoch + 1")
    await database.transact(lambda tx: tx.write(expire, {"id": made["id"]}))
    await database.transact(lambda tx: tx.write(raise_epoch))
    assert (await whoami(app, made["key"])).status_code == 401


async def test_roles_belong_to_the_principal(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking, principal="ana", kind="human", bundles=["approver"], roles=["desk"])
    again = await make_key(asking, principal="ana", kind="human", bundles=["auditor"])
    changed = await asking("admin").post("/v1/principals", json={"principal": "ana", "kind": "human", "roles": []})
    assert changed.json() == {"principal": "ana", "kind": "human", "owner": "ana", "roles": []}
    for key in (made, again):
        assert (await whoami(app, key["key"])).json()["roles"] == []


async def test_a_second_key_cannot_change_whose_the_principal_is(asking: Asking) -> None:
    await make_key(asking, principal="ana", kind="human", bundles=["approver"], roles=["desk"], owner="acme")
    for said in ({"kind": "agent"}, {"owner": "other"}, {"roles": ["desk", "chief"]}):
        body = {"principal": "ana", "kind": "human", "bundles": ["approver"], **said}
        refused = await asking("admin").post("/v1/keys", json=body)
        assert refused.status_code == 409, said


async def test_the_kind_of_a_principal_never_changes(asking: Asking) -> None:
    await make_key(asking)
    refused = await asking("admin").post("/v1/principals", json={"principal": "bot", "kind": "human"})
    assert refused.status_code == 409


async def test_a_key_that_may_ask_and_approve_is_warned_about(asking: Asking) -> None:
    made = await make_key(asking, bundles=["agent", "approver"])
    assert len(made["findings"]) == 2
    assert "both ask and approve" in made["findings"][0]
    assert (await make_key(asking, principal="other"))["findings"] == []


async def test_keys_that_cannot_be_are_refused_with_the_place(asking: Asking) -> None:
    for said, pointer in (
        ({"bundles": ["platform"]}, "/bundles"),
        ({"bundles": []}, "/bundles"),
        ({"rights": ["speak_for"]}, "/speak_for"),
        ({"speak_for": ["other"]}, "/speak_for"),
        ({"rights": ["keys"]}, "/rights/0"),
        ({"principal": "  "}, "/principal"),
    ):
        body = {"principal": "bot", "kind": "agent", "bundles": ["agent"], **said}
        refused = await asking("admin").post("/v1/keys", json=body)
        assert refused.status_code == 400, said
        assert refused.json()["errors"][0]["pointer"] == pointer


async def test_lists_come_in_pages_whose_cursor_belongs_to_their_filters(asking: Asking) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await asking("admin").get("/v1/keys", params={"limit": "3", **cursor})).json()
        seen += [key["principal"] for key in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(seen) == sorted(
        ["agent", "agent2", "approver", "approver2", "operator", "policy_admin", "auditor", "admin"]
    )
    for params in ({"principal": "agent", **cursor}, {"cursor": "x"}, {"cursor": "bm90IGpzb24"}, {"cursor": "W10"}):
        assert (await asking("admin").get("/v1/keys", params=params)).status_code == 400
    assert (await asking("admin").get("/v1/principals", params=cursor)).status_code == 400


async def test_a_revoked_principal_may_only_ask_and_be_told(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking, principal="rogue", bundles=["agent", "operator"])
    placed = await asking("operator").post("/v1/revocations", json={"principal": "rogue", "reason": "it went wild"})
    assert placed.status_code == 201
    stands_for = (await whoami(app, made["key"])).json()
    assert stands_for["revoked"] is True
    assert stands_for["rights"] == ["admit", "decide"]
    async with client_of(app, made["key"]) as rogue:
        assert (await rogue.delete(f"/v1/revocations/{placed.json()['id']}")).status_code == 403
    assert (await asking("operator").delete(f"/v1/revocations/{placed.json()['id']}")).status_code == 204
    assert (await whoami(app, made["key"])).json()["revoked"] is False


async def test_a_right_that_comes_back_is_there_with_the_next_request(app: FastAPI, asking: Asking) -> None:
    made = await make_key(asking, principal="ops", kind="human", bundles=["operator"])
    path, body = "/v1/admissions/adm_none/resolve", {"outcome": "executed", "reason": "seen"}
    async with client_of(app, made["key"]) as ops:
        assert (await ops.post(path, json=body)).status_code == 404
        placed = await asking("operator").post("/v1/revocations", json={"principal": "ops", "reason": "leave"})
        assert (await ops.post(path, json=body)).status_code == 403
        assert (await asking("operator").delete(f"/v1/revocations/{placed.json()['id']}")).status_code == 204
        assert (await ops.post(path, json=body)).status_code == 404


async def test_a_revocation_has_one_subject_and_a_reason(asking: Asking) -> None:
    for body in (
        {"reason": "x"},
        {"principal": "a", "action": "b", "reason": "x"},
        {"principal": "a"},
        {"principal": "a", "reason": ""},
        {"tenant": False, "reason": "x"},
        {"tenant": True, "action": "a", "reason": "x"},
    ):
        assert (await asking("operator").post("/v1/revocations", json=body)).status_code == 400, body
    for body in ({"action": "refund.issue", "reason": "x"}, {"tenant": True, "reason": "x"}):
        assert (await asking("operator").post("/v1/revocations", json=body)).status_code == 201, body
    listed = (await asking("operator").get("/v1/revocations")).json()["data"]
    assert [(row["action"], row["tenant"]) for row in listed] == [("refund.issue", False), (None, True)]


async def test_another_tenants_keys_and_revocations_are_unknown_here(
    app: FastAPI, asking: Asking, database: Database, signer: Signer
) -> None:
    new = NewKey(Statement("admin", "human"), bundles=frozenset({"admin", "operator"}))
    other = await tenants.create(Lanes(database, signer), "other", new, "test")
    assert not isinstance(other, Refusal)
    mine = await make_key(asking)
    placed = (await asking("operator").post("/v1/revocations", json={"principal": "bot", "reason": "x"})).json()
    async with client_of(app, other.key) as stranger:
        for method, theirs, nobodys in (
            ("DELETE", f"/v1/keys/{mine['id']}", "/v1/keys/dev-none"),
            ("POST", f"/v1/keys/{mine['id']}/rotate", "/v1/keys/dev-none/rotate"),
            ("DELETE", f"/v1/revocations/{placed['id']}", "/v1/revocations/rev_none"),
        ):
            one = await stranger.request(method, theirs)
            another = await stranger.request(method, nobodys)
            assert one.status_code == another.status_code == 404
            assert one.json()["detail"] == another.json()["detail"]
        assert mine["id"] not in (await stranger.get("/v1/keys")).text
        assert placed["id"] not in (await stranger.get("/v1/revocations")).text
    assert (await whoami(app, mine["key"])).status_code == 200


async def test_the_platform_makes_tenants(app: FastAPI, database: Database, signer: Signer) -> None:
    new = NewKey(Statement("platform", "human"), bundles=frozenset({"platform"}))
    platform = await tenants.create(Lanes(database, signer), SYSTEM_TENANT, new, "test")
    assert not isinstance(platform, Refusal)
    async with client_of(app, platform.key) as client:
        made = await client.post("/v1/tenants", json={"tenant": "acme", "admin": "ada"})
        assert made.status_code == 201
        assert (await client.post("/v1/tenants", json={"tenant": "acme"})).status_code == 409
        for name in ("", "Acme", "a b", "-a", "a-", "a.b", "a" * 64, "ä"):
            assert (await client.post("/v1/tenants", json={"tenant": name})).status_code == 400, name
        listed = (await client.get("/v1/tenants")).json()["data"]
    assert [row["tenant"] for row in listed] == ["acme", "system"]
    assert (await whoami(app, made.json()["key"])).json()["rights"] == ["keys", "principals", "webhooks"]
    first, *_ = await records(database, "acme")
    assert first["event_type"] == "tenant.changed"
    assert first["payload"]["by"] == "system/platform"
