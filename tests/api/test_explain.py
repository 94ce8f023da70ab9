"""`decide?explain=true`: for whoever may see it, every rule and check with what it saw."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import httpx

from tests.ask import call, put_in_force

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

A_SECOND = 1.01
"""How far `decide` may be behind an activation."""

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0}
actions:
  pay:
    labels: {environment: live, kind: payout}
    cost: {amount: "{amount}", currency: EUR}
    rules:
      - {when: "cost.amount <= 100.0", decision: allow}
      - {decision: deny}
"""


async def test_an_explanation_needs_its_right(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    response = await asking("agent").post("/v1/decide?explain=true", json=call("pay", {"amount": 5}))
    assert response.status_code == 403
    response = await asking("agent").post("/v1/decide", json=call("pay", {"amount": 5}))
    assert "explanation" not in response.json()
    response = await asking("auditor").post("/v1/decide", json=call("pay", {"amount": 5}))
    assert response.status_code == 403


async def test_an_explanation_has_rules_checks_and_what_was_resolved(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    await asyncio.sleep(A_SECOND)
    response = await asking("auditor").post("/v1/decide?explain=true", json=call("pay", {"amount": 500}))
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["resolved"]["cost"] == {"amount": "500.00", "currency": "EUR"}
    assert found["explanation"]["rules"] == [
        {
            "rule": 1,
            "when": "cost.amount <= 100.0",
            "result": "not_matched",
            "saw": {"cost.amount": 500.0},
            "cause": None,
            "decision": "allow",
        },
        {"rule": 2, "when": None, "result": "matched", "saw": {}, "cause": None, "decision": "deny"},
    ]
    assert len(found["explanation"]["checks"]) == 10
