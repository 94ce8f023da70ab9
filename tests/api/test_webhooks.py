"""Webhooks over HTTP: nobody is written to unechoed, secrets are shown once, and every change is on record."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeAlias

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text
from standardwebhooks import Webhook

from app.audit.lane import Lanes
from app.core.chain import Signer
from app.db.database import Database
from app.identity import tenants
from app.identity.credentials import IssuedKey, NewKey
from app.identity.principals import Statement
from tests.ask import admit, call, exported, put_in_force
from tests.transports.receiver import Receiver, echoing, status

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

REQUESTED = ["approval.requested"]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that echoes challenges and takes everything."""
    async with Receiver([echoing]) as listening:
        yield listening


@pytest.fixture
def url(receiver: Receiver) -> str:
    """Where the receiver listens."""
    return f"http://127.0.0.1:{receiver.port}/in"


@pytest.fixture
def environment(environment: dict[str, str], receiver: Receiver) -> dict[str, str]:
    """The settings of a service that may reach the receiver."""
    return environment | {"COUNTERSIGN_WEBHOOK_ORIGINS": f"http://127.0.0.1:{receiver.port}"}


async def register(operator: httpx.AsyncClient, url: str, **more: Any) -> dict[str, Any]:
    """Register a webhook for questions and return the answer."""
    response = await operator.post("/v1/webhooks", json={"url": url, "events": REQUESTED, **more})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def hold(asking: Asking) -> str:
    """Let an agent ask for something that is held, and return the approval's id."""
    await put_in_force(
        asking("policy_admin"),
        {"schema": "countersign.policy/v1", "actions": {"pay": {"decision": "require_human"}}},
    )
    answer = await admit(asking("agent"), call("pay"))
    return str(answer["approval_id"])


async def settled(operator: httpx.AsyncClient, webhook: str, state: str) -> Mapping[str, Any]:
    """Wait until something sent to a webhook stands so, and return it."""
    async with asyncio.timeout(20):
        while True:
            listed = await operator.get(f"/v1/webhooks/{webhook}/deliveries", params={"state": state})
            if found := listed.json()["data"]:
                return dict(found[0])
            await asyncio.sleep(0.05)


async def test_a_receiver_that_echoes_is_registered_and_its_secret_is_shown_once(
    asking: Asking, receiver: Receiver, url: str
) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    assert set(made) == {"id", "secret"}
    (challenge,) = receiver.received
    assert Webhook(made["secret"]).verify(challenge.body, challenge.headers)["type"] == "webhook.challenge"

    (listed,) = (await operator.get("/v1/webhooks")).json()["data"]
    assert (listed["id"], listed["url"], listed["events"], listed["legacy_header"]) == (
        made["id"],
        url,
        REQUESTED,
        False,
    )
    assert (await operator.get(f"/v1/webhooks/{made['id']}")).json() == listed
    assert "secret" not in listed
    assert made["secret"] not in json.dumps(await exported(asking("auditor")))


async def test_a_secret_does_not_lie_readable_in_the_database(asking: Asking, url: str, database: Database) -> None:
    made = await register(asking("operator"), url)
    row = await database.read(lambda reader: reader.row(text("SELECT to_jsonb(w)::text AS all FROM webhooks w")))
    assert row is not None
    assert made["secret"].removeprefix("whsec_") not in row.all


@pytest.mark.parametrize("answer", [status(204), status(500), status(302, b"", "Location: http://127.0.0.1/")])
async def test_a_receiver_that_does_not_echo_is_not_registered(
    asking: Asking, receiver: Receiver, url: str, answer: bytes
) -> None:
    receiver.answers = [answer]
    response = await asking("operator").post("/v1/webhooks", json={"url": url, "events": REQUESTED})
    assert response.status_code == 400
    assert response.json()["errors"][0]["pointer"] == "/url"
    assert (await asking("operator").get("/v1/webhooks")).json()["data"] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/in",
        "https://127.0.0.1/in",
        "https://[::ffff:10.0.0.1]/in",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/in",
        "http://hooks.example.com/in",
        "ftp://hooks.example.com/in",
        "nonsense",
        "",
    ],
)
async def test_a_url_that_leads_inside_or_nowhere_is_refused(asking: Asking, url: str) -> None:
    response = await asking("operator").post("/v1/webhooks", json={"url": url, "events": REQUESTED})
    assert response.status_code == 400
    assert response.json()["errors"][0]["pointer"] == "/url"


@pytest.mark.parametrize("body", [
    {"url": "https://hooks.example.com"},
    {"url": "https://hooks.example.com", "events": []},
    {"url": "https://hooks.example.com", "events": ["approval.voted"]},
    {"url": "https://hooks.example.com", "events": REQUESTED, "secret": "mine"},
    {"url": "https://hooks.example.com", "events": REQUESTED, "legacy_header": "yes"},
])  # fmt: skip
async def test_a_body_of_another_form_is_refused(asking: Asking, body: dict[str, Any]) -> None:
    assert (await asking("operator").post("/v1/webhooks", json=body)).status_code == 400


async def test_a_question_is_delivered_and_its_approval_says_so(asking: Asking, receiver: Receiver, url: str) -> None:
    operator = asking("operator")
    made = await register(operator, url, legacy_header=True)
    approval = await hold(asking)
    delivery = await settled(operator, made["id"], "delivered")
    assert (delivery["event"], delivery["approval_id"], delivery["attempts"]) == ("approval.requested", approval, 1)
    assert (delivery["detail"], delivery["next_attempt_at"]) == ("answered 204", None)
    got = receiver.received[-1]
    assert Webhook(made["secret"]).verify(got.body, got.headers)["data"]["approval_id"] == approval
    assert got.headers["webhook-id"] == delivery["id"]
    assert got.headers["x-adk-signature"].startswith("sha256=")
    assert (await asking("auditor").get(f"/v1/approvals/{approval}")).json()["delivery"] == "ok"
    (queued,) = (await asking("auditor").get("/v1/approvals")).json()["data"]
    assert queued["delivery"] == "ok"


async def test_a_webhooks_reply_decides_nothing(asking: Asking, receiver: Receiver, url: str) -> None:
    made = await register(asking("operator"), url)
    receiver.answers = [status(200, b'{"decision": "approve", "approved": true, "decided_by": "approver"}')]
    approval = await hold(asking)
    await settled(asking("operator"), made["id"], "delivered")
    seen = (await asking("auditor").get(f"/v1/approvals/{approval}")).json()
    assert (seen["status"], seen["votes"]) == ("pending", [])


async def test_without_anybody_to_tell_an_approval_says_none(asking: Asking) -> None:
    approval = await hold(asking)
    assert (await asking("auditor").get(f"/v1/approvals/{approval}")).json()["delivery"] == "none"


async def test_a_receiver_that_is_down_leaves_the_question_pending_and_visible(
    asking: Asking, receiver: Receiver, url: str
) -> None:
    made = await register(asking("operator"), url)
    receiver.answers = [status(503)]
    approval = await hold(asking)
    await receiver.got(2)
    seen = (await asking("auditor").get(f"/v1/approvals/{approval}")).json()
    assert (seen["status"], seen["delivery"]) == ("pending", "retrying")
    assert (await settled(asking("operator"), made["id"], "pending"))["next_attempt_at"] is not None


async def test_what_failed_is_listed_recorded_and_can_be_sent_again(
    asking: Asking, receiver: Receiver, url: str
) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    receiver.answers = [status(410), status(200)]
    approval = await hold(asking)
    failed = await settled(operator, made["id"], "failed")
    assert (await asking("auditor").get(f"/v1/approvals/{approval}")).json()["delivery"] == "failed"

    again = await operator.post(f"/v1/webhooks/{made['id']}/deliveries/{failed['id']}/redeliver")
    assert again.status_code == 202
    delivered = await settled(operator, made["id"], "delivered")
    assert delivered["id"] == failed["id"]
    assert (await asking("auditor").get(f"/v1/approvals/{approval}")).json()["delivery"] == "ok"

    records = await exported(asking("auditor"))
    (lost,) = [record["payload"] for record in records if record["event_type"] == "delivery.failed"]
    assert (lost["message"], lost["subject"], lost["channel"]) == (failed["id"], approval, made["id"])
    changes = [record["payload"]["change"] for record in records if record["event_type"] == "webhook.changed"]
    assert changes == ["created", "redelivered"]


async def test_after_a_rotation_messages_verify_by_either_secret(asking: Asking, receiver: Receiver, url: str) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    rotated = (await operator.post(f"/v1/webhooks/{made['id']}/rotate", json={})).json()
    assert rotated["secret"] != made["secret"]
    await hold(asking)
    await settled(operator, made["id"], "delivered")
    got = receiver.received[-1]
    for secret in (made["secret"], rotated["secret"]):
        Webhook(secret).verify(got.body, got.headers)
    assert (await operator.get(f"/v1/webhooks/{made['id']}")).json()["previous_secret_until"] is not None


async def test_a_secret_that_leaked_signs_no_more_at_once(asking: Asking, receiver: Receiver, url: str) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    await operator.post(f"/v1/webhooks/{made['id']}/rotate", json={"overlap": None})
    await hold(asking)
    await settled(operator, made["id"], "delivered")
    assert " " not in receiver.received[-1].headers["webhook-signature"]


async def test_an_overlap_is_bounded(asking: Asking, url: str) -> None:
    made = await register(asking("operator"), url)
    refused = await asking("operator").post(f"/v1/webhooks/{made['id']}/rotate", json={"overlap": "31d"})
    assert refused.status_code == 400


async def test_another_url_has_to_echo_before_it_is_taken(asking: Asking, receiver: Receiver, url: str) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    there = f"/v1/webhooks/{made['id']}"
    changed = await operator.patch(there, json={"url": f"{url}/other", "events": ["approval.denied"]})
    assert (changed.json()["url"], changed.json()["events"]) == (f"{url}/other", ["approval.denied"])
    assert Webhook(made["secret"]).verify(receiver.received[-1].body, receiver.received[-1].headers)

    receiver.answers = [status(200)]
    refused = await operator.patch(there, json={"url": f"{url}/third"})
    assert refused.status_code == 400
    assert (await operator.get(there)).json()["url"] == f"{url}/other"
    assert (await operator.patch(there, json={"legacy_header": True})).json()["legacy_header"] is True
    assert (await operator.patch(there, json={})).status_code == 400


async def test_a_removed_webhook_is_gone(asking: Asking, receiver: Receiver, url: str) -> None:
    operator = asking("operator")
    made = await register(operator, url)
    assert (await operator.delete(f"/v1/webhooks/{made['id']}")).status_code == 204
    await hold(asking)
    await asyncio.sleep(1.2)
    assert len(receiver.received) == 1
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/deliveries/msg_1/redeliver")):
        assert (await operator.request(method, f"/v1/webhooks/{made['id']}{path}")).status_code == 404


async def test_another_tenants_webhook_answers_like_an_unknown_one(
    asking: Asking, app: FastAPI, url: str, database: Database, signer: Signer
) -> None:
    made = await register(asking("operator"), url)
    key = NewKey(Statement("olga", "human"), bundles=frozenset({"operator"}))
    issued = await tenants.create(Lanes(database, signer), "other", key, "test")
    assert isinstance(issued, IssuedKey)
    headers = {"Authorization": f"Bearer {issued.key}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://countersign.test", headers=headers
    ) as other:
        assert (await other.get("/v1/webhooks")).json()["data"] == []
        for webhook in (made["id"], "whk_unknown"):
            for method, path, body in (
                ("GET", "", None),
                ("PATCH", "", {"legacy_header": True}),
                ("DELETE", "", None),
                ("POST", "/rotate", {}),
                ("GET", "/deliveries", None),
                ("POST", "/deliveries/msg_unknown/redeliver", None),
            ):
                response = await other.request(method, f"/v1/webhooks/{webhook}{path}", json=body)
                assert (response.status_code, response.json()["detail"]) == (404, "there is no such webhook")


async def test_the_record_says_where_a_webhook_leads_and_not_what_only_its_receiver_knows(
    asking: Asking, receiver: Receiver, url: str
) -> None:
    await register(asking("operator"), f"{url}?token=hunter2")
    records = await exported(asking("auditor"))
    (changed,) = [record["payload"] for record in records if record["event_type"] == "webhook.changed"]
    assert changed["origin"] == f"http://127.0.0.1:{receiver.port}"
    assert "hunter2" not in json.dumps(records)
