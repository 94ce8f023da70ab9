"""A service with a policy that holds calls, and people of every kind to decide them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from tests.ask import admit, call, exported, put_in_force

Client = httpx.AsyncClient

POLICY: dict[str, Any] = {
    "schema": "countersign.policy/v1",
    "defaults": {"require_verification_score": 0, "require_human_for": []},
    "actions": {
        "voucher": {
            "labels": {
                "kind": "payout",
                "derive": [
                    {"when": {"arg": "amount", "gt": 500}, "add_tags": "large"},
                ],
            },
            "arguments": {
                "type": "object",
                "properties": {"booking": {}, "amount": {}, "card": {}, "note": {}, "copies": {}},
                "additionalProperties": False,
            },
            "rules": [
                {"when": 'has(context.trusted) && context.trusted == "yes"', "decision": "allow"},
                {"when": "has(arguments.amount) && arguments.amount > 900.0", "decision": "deny"},
                {"decision": "require_human", "reason": "a supervisor decides"},
            ],
            "approval": {"ttl": "15m", "use_within": "10m", "show": ["booking", "card"], "bind": ["shift"]},
        },
        "orphan": {"labels": {"kind": "nobody"}, "decision": "require_human"},
        "read": {"decision": "allow"},
    },
    "approvers": [
        {"name": "payouts", "labels": ["payout"], "roles": ["supervisor"], "quorum": 1, "via": ["slack"]},
        {"name": "large", "labels": ["large"], "principals": ["lead", "lead-two"], "quorum": 1},
    ],
}


@dataclass
class Desk:
    """The service under test, its people, and short ways to say what they do."""

    app: FastAPI
    keys: dict[str, str]
    stack: AsyncExitStack
    policy: dict[str, Any] = field(default_factory=lambda: dict(POLICY))
    people: dict[str, Client] = field(default_factory=dict)

    async def key(self, name: str, **facts: Any) -> Client:
        """Return the client of a principal, made with these facts if it is new."""
        body = {"principal": name, "kind": "human", "bundles": ["approver"], **facts}
        made = await self.client("admin").post("/v1/keys", json=body)
        assert made.status_code == 201, made.text
        self.people[name] = await self.open(made.json()["key"])
        return self.people[name]

    def client(self, name: str) -> Client:
        """Return the client of a principal."""
        return self.people[name]

    async def open(self, key: str) -> Client:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {key}"}
        client = Client(transport=transport, base_url="http://countersign.test", headers=headers)
        return await self.stack.enter_async_context(client)

    async def force(self, **changes: Any) -> int:
        """Put the policy in force, with other members at its top."""
        self.policy = {**self.policy, **changes}
        return await put_in_force(self.client("policy_admin"), self.policy)

    async def ask(self, booking: str = "AB12", who: str = "agent", **more: Any) -> dict[str, Any]:
        """Ask for a voucher, and return the answer."""
        return await admit(self.client(who), voucher(booking, **more))

    async def vote(self, who: str, approval_id: str, decision: str = "approve", **more: Any) -> httpx.Response:
        """Cast a vote."""
        body = {"decision": decision, **more}
        return await self.client(who).post(f"/v1/approvals/{approval_id}/decision", json=body)

    async def see(self, approval_id: str, who: str = "ada") -> dict[str, Any]:
        """Return a question as somebody sees it."""
        response = await self.client(who).get(f"/v1/approvals/{approval_id}")
        assert response.status_code == 200, response.text
        return dict(response.json())

    async def events(self, prefix: str = "approval.") -> list[str]:
        """Return the types of the records about approvals, in order."""
        records = await exported(self.client("auditor"))
        return [record["event_type"] for record in records if record["event_type"].startswith(prefix)]


def voucher(booking: str = "AB12", amount: int = 100, **more: Any) -> dict[str, Any]:
    """Return the call of a voucher."""
    arguments = {"booking": booking, "amount": amount, **more.pop("arguments", {})}
    return call("voucher", arguments, **more)


def codes(answer: dict[str, Any]) -> list[str]:
    """Return the codes that fired."""
    return [fired["code"] for fired in answer["triggered"]]


@pytest.fixture
async def desk(app: FastAPI, keys: dict[str, str]) -> AsyncIterator[Desk]:
    """A desk with the policy above; ada, ben and cleo are supervisors, lead and lead-two are named, dan is nobody."""
    async with AsyncExitStack() as stack:
        desk = Desk(app, keys, stack)
        for name, key in keys.items():
            desk.people[name] = await desk.open(key)
        for name in ("ada", "ben", "cleo"):
            await desk.key(name, roles=["supervisor"])
        for name in ("lead", "lead-two", "dan"):
            await desk.key(name)
        await desk.force()
        yield desk


_OVER = {
    "expires_at": text(
        "UPDATE approvals SET expires_at = clock_timestamp(), due_at = clock_timestamp() WHERE id = :id"
    ),
    "use_before": text(
        "UPDATE approvals SET use_before = clock_timestamp(), due_at = clock_timestamp() WHERE id = :id"
    ),
}


@pytest.fixture
def at(desk: Desk) -> Callable[[str, str], Awaitable[None]]:
    """Let a question's deadline pass, as time would: `at(approval_id, "expires_at")`."""

    async def move(approval_id: str, deadline: str) -> None:
        await desk.app.state.house.database.transact(lambda tx: tx.write(_OVER[deadline], {"id": approval_id}))

    return move
