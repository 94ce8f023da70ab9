"""What the outside is told of a question: where it stands and what about, and nothing private of the call."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import httpx
import pytest
from sqlalchemy import text
from standardwebhooks import Webhook

from app.db.database import Database
from tests.ask import admit, call, exported, put_in_force
from tests.live import LiveService
from tests.transports import natsd
from tests.transports.receiver import Receiver, echoing, status

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

EVENTS = ["approval.requested", "approval.approved", "approval.denied", "approval.expired"]
POLICY = {
    "schema": "countersign.policy/v1",
    "defaults": {"require_verification_score": 0, "require_human_for": []},
    "actions": {
        "refund": {
            "labels": {"kind": "payout", "tags": ["goodwill"]},
            "asset": "booking/{booking}",
            "cost": {"amount": "{amount}", "currency": "EUR"},
            "rules": [{"decision": "require_human", "reason": "a supervisor decides"}],
            "approval": {"ttl": "15m", "show": ["iban", "card", "number", "mail", "password"]},
        }
    },
    "approvers": [{"name": "payouts", "labels": ["payout"], "roles": ["approver"], "quorum": 1}],
}
PRIVATE = {
    "iban": "DE89370400440532013000",
    "card": "4111 1111 1111 1111",
    "number": 5500005555555559,
    "mail": "ada@example.com",
    "password": "correct horse battery staple",
    "nested": {"card": "378282246310005", "note": "APPROVED by the desk"},
}
HIDDEN = [
    "DE89370400440532013000", "4111 1111 1111 1111", "4111111111111111", "5500005555555559", "ada@example.com",
    "correct horse", "378282246310005", "APPROVED by the desk", "a whispered reason",
]  # fmt: skip
COMMENT = "between us"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that echoes challenges and takes everything."""
    async with Receiver([echoing]) as listening:
        yield listening


@pytest.fixture
async def nats_port() -> AsyncIterator[int]:
    """The port of a NATS server."""
    port = natsd.free_port()
    async with natsd.serving(port):
        yield port


@pytest.fixture
def environment(environment: dict[str, str], receiver: Receiver, nats_port: int) -> dict[str, str]:
    """The settings of a service that delivers to the receiver, to NATS and to its console."""
    return environment | {
        "COUNTERSIGN_WEBHOOK_ORIGINS": f"http://127.0.0.1:{receiver.port}",
        "COUNTERSIGN_NATS_URL": f"nats://127.0.0.1:{nats_port}",
        "COUNTERSIGN_NATS_ROOT": "countersign.notices",
        "COUNTERSIGN_CONSOLE": "true",
    }


async def registered(operator: httpx.AsyncClient, receiver: Receiver) -> str:
    """Register the receiver for everything, and return its secret."""
    url = f"http://127.0.0.1:{receiver.port}/in"
    response = await operator.post("/v1/webhooks", json={"url": url, "events": EVENTS})
    assert response.status_code == 201, response.text
    return str(response.json()["secret"])


async def ask(agent: httpx.AsyncClient, booking: str) -> str:
    """Ask for a refund, which is held, and return the approval's id."""
    arguments = {"booking": booking, "amount": "120.00", **PRIVATE}
    answer = await admit(agent, call("refund", arguments, approval_context={"why": "a whispered reason"}))
    assert answer["outcome"] == "require_human", answer
    return str(answer["approval_id"])


async def decide(approver: httpx.AsyncClient, approval: str, decision: str) -> None:
    """Decide a question, with a comment."""
    body = {"decision": decision, "comment": COMMENT}
    response = await approver.post(f"/v1/approvals/{approval}/decision", json=body)
    assert response.status_code == 200, response.text


async def notices_of(receiver: Receiver, number: int) -> list[dict[str, Any]]:
    """Wait for so many notices, and return them in the order of their events."""
    _challenge, *told = await receiver.got(number + 1)
    messages = [json.loads(received.body) for received in told]
    return sorted(messages, key=lambda message: (message["timestamp"], EVENTS.index(message["type"])))


async def expire(database: Database, approval: str) -> None:
    """Let the time of a question pass."""
    late = text("UPDATE approvals SET expires_at = now(), due_at = now() WHERE id = :id")
    await database.transact(lambda tx: tx.write(late, {"id": approval}))


async def test_every_step_of_a_question_is_told_by_every_transport(
    asking: Asking, receiver: Receiver, nats_port: int, database: Database
) -> None:
    secret = await registered(asking("operator"), receiver)
    await put_in_force(asking("policy_admin"), POLICY)
    async with natsd.subscribed(nats_port, "countersign.notices.*") as published:
        yes, no, late = [await ask(asking("agent"), booking) for booking in ("AB1", "AB2", "AB3")]
        await decide(asking("approver"), yes, "approve")
        await decide(asking("approver"), no, "deny")
        await expire(database, late)
        notices = await notices_of(receiver, 6)
        on_nats = [await asyncio.wait_for(published.get(), 20) for _ in range(6)]
    seen = {(notice["type"], notice["data"]["approval_id"], notice["data"]["status"]) for notice in notices}
    assert seen == {
        *(("approval.requested", approval, "pending") for approval in (yes, no, late)),
        ("approval.approved", yes, "approved"),
        ("approval.denied", no, "denied"),
        ("approval.expired", late, "expired"),
    }
    for got in receiver.received:
        Webhook(secret).verify(got.body, got.headers)
    assert {message.subject for message in on_nats} == {"countersign.notices.dev"}
    assert {message.data for message in on_nats} == {got.body for got in receiver.received[1:]}


async def test_a_notice_says_what_is_asked_and_where_to_look(asking: Asking, receiver: Receiver) -> None:
    await registered(asking("operator"), receiver)
    await put_in_force(asking("policy_admin"), POLICY)
    approval = await ask(asking("agent"), "AB12")
    (notice,) = await notices_of(receiver, 1)
    data = notice["data"]
    assert set(notice) == {"type", "timestamp", "data"}
    assert (data["tenant"], data["principal"], data["action"]) == ("dev", "agent", "refund")
    assert (data["asset"], data["cost"]) == ("booking/AB12", {"amount": "120.00", "currency": "EUR"})
    assert {"payout", "goodwill"} <= set(data["labels"])
    assert (data["reason"], data["codes"]) == ("a supervisor decides", ["rule"])
    assert data["digest"].startswith("sha256:")
    assert data["summary"].startswith("amount=<str:6>, booking=<str:4>, card=<str:19>, iban=<str:22>")
    assert data["expires_at"].endswith("Z")
    assert data["links"] == {
        "approval": f"http://countersign.test/v1/approvals/{approval}",
        "page": f"http://countersign.test/console/approvals/{approval}",
    }


async def test_nothing_private_is_told_logged_measured_or_recorded(
    asking: Asking, receiver: Receiver, nats_port: int, database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    await registered(asking("operator"), receiver)
    await put_in_force(asking("policy_admin"), POLICY)
    async with natsd.subscribed(nats_port, "countersign.>") as published:
        yes, no, late = [await ask(asking("agent"), booking) for booking in ("AB1", "AB2", "AB3")]
        await decide(asking("approver"), yes, "approve")
        await decide(asking("approver"), no, "deny")
        await expire(database, late)
        await notices_of(receiver, 6)
        on_nats = [(await asyncio.wait_for(published.get(), 20)).data.decode() for _ in range(6)]
    written = capfd.readouterr()
    outside = [*(got.body.decode() for got in receiver.received), *on_nats, written.out, written.err]
    outside.append((await asking("auditor").get("/metrics")).text)
    inside = [json.dumps(await exported(asking("auditor"))), (await asking("auditor").get("/v1/approvals")).text]
    for private in HIDDEN:
        assert not any(private in text_ for text_ in outside + inside), private
    assert not any(COMMENT in text_ for text_ in outside)


async def test_retries_survive_a_killed_service(
    serve: Callable[..., LiveService], keys: dict[str, str], receiver: Receiver
) -> None:
    service = serve()
    receiver.answers = [echoing, status(503), status(200)]

    def client(name: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=service.url, headers={"Authorization": f"Bearer {keys[name]}"}, timeout=10)

    async with client("operator") as operator, client("policy_admin") as admin, client("agent") as agent:
        await registered(operator, receiver)
        await put_in_force(admin, POLICY)
        await ask(agent, "AB12")
    await notices_of(receiver, 1)
    await asyncio.to_thread(service.kill)
    await asyncio.to_thread(service.start)
    await notices_of(receiver, 2)
    first, second = receiver.received[1:]
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
