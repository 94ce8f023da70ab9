"""Short ways for a test to say what an operator, an agent, an approver or an auditor does over HTTP."""

import json
from typing import Any

import httpx


async def put_in_force(admin: httpx.AsyncClient, document: str | dict[str, Any]) -> int:
    """Store a policy, activate it, and return its revision."""
    stored = await admin.post("/v1/policies", json={"document": document})
    assert stored.status_code == 201, stored.text
    revision: int = stored.json()["revision"]
    activated = await admin.post(f"/v1/policies/{revision}/activate", json={}, headers={"If-Match": "*"})
    assert activated.status_code == 200, activated.text
    return revision


def call(
    name: str, /, arguments: dict[str, Any] | None = None, *, cost: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return the body of a call of an action, with its cost in EUR; `more` are members beside the action."""
    action: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    if cost is not None:
        action["cost"] = {"amount": cost, "currency": "EUR"}
    return {"action": action, **more}


async def admit(agent: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a call."""
    response = await agent.post("/v1/admit", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def exported(auditor: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Return all records of the chain."""
    response = await auditor.get("/v1/audit/export")
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


async def verified(auditor: httpx.AsyncClient) -> int:
    """Assert that the chain holds, and return the number of its records."""
    found = (await auditor.post("/v1/audit/verify")).json()
    assert found["ok"], found
    records: int = found["records"]
    return records
