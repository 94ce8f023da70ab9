"""Who is known and wants to act, and is turned away at the door, is in the record; noise does not fill it."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.ask import call, exported, put_in_force

Asking = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions: {read: {decision: allow}}
"""
_JSON = {"Content-Type": "application/json"}


async def turned_away(asking: Asking) -> list[dict[str, Any]]:
    records = await exported(asking("auditor"))
    return [record["payload"] for record in records if record["event_type"] == "admission.refused"]


@pytest.mark.parametrize("path", ["/v1/admit", "/v1/admissions", "/v1/approvals"])
async def test_bad_input_is_recorded_by_place_and_digest(asking: Asking, path: str) -> None:
    body = b'{"action": {"name": "read", "tgas": ["a-secret"]}}'
    refused = await asking("agent").post(path, content=body, headers={**_JSON, "X-Request-ID": "req-1"})
    assert refused.status_code == 400
    (payload,) = await turned_away(asking)
    assert payload["code"] == "bad-input"
    assert payload["pointer"] == "/action/tgas"
    assert payload["body_digest"] == f"sha256:{hashlib.sha256(body).hexdigest()}"
    assert payload["principal"] == "agent"
    assert payload["request_id"] == "req-1"
    assert "a-secret" not in json.dumps(payload)


async def test_a_body_that_is_no_json_is_recorded(asking: Asking) -> None:
    await asking("agent").post("/v1/admit", content=b'{"action": {"name": NaN}}', headers=_JSON)
    assert [(found["code"], found["pointer"]) for found in await turned_away(asking)] == [("bad-input", "/action/name")]


async def test_a_conflict_is_recorded(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    bodies = [call("read", {"n": number}, idempotency_key="k") for number in (1, 2)]
    statuses = [(await asking("agent").post("/v1/admit", json=body)).status_code for body in bodies]
    assert statuses == [200, 409]
    assert [found["code"] for found in await turned_away(asking)] == ["idempotency-conflict"]


async def test_nobody_known_and_nobody_allowed_leave_no_record(asking: Asking) -> None:
    stranger = {"Authorization": "Bearer csk_dev-1_2"}
    assert (await asking("agent").post("/v1/admit", json={}, headers=stranger)).status_code == 401
    assert (await asking("auditor").post("/v1/admit", json={})).status_code == 403
    assert (await asking("agent").post("/v1/decide", json={})).status_code == 400
    assert await turned_away(asking) == []


async def test_noise_does_not_fill_the_record(asking: Asking) -> None:
    for _ in range(60):
        assert (await asking("agent").post("/v1/admit", json={})).status_code == 400
    assert (await asking("agent2").post("/v1/admit", json={})).status_code == 400
    by = [found["principal"] for found in await turned_away(asking)]
    assert 20 <= by.count("agent") <= 25
    assert by.count("agent2") == 1
