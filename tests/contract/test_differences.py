"""docs/differences.md, row by row: where the service behaves otherwise than libraries inside an agent's process."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ask import admit, call, put_in_force
from tests.transports.receiver import Receiver, echoing, status

DOCUMENT = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
NAMED = re.findall(r"`(test_\w+)`", DOCUMENT)

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    labels: {kind: payout, derive: [{when: {arg: amount, gt: 1000}, add_tags: large}]}
    decision: allow
  book:
    cost: {currency: EUR}
    spend: [desk]
    decision: allow
  wire:
    labels: {kind: payout}
    decision: require_human
  brief:
    labels: {kind: payout}
    decision: require_human
    approval: {ttl: 1s}
  orphan:
    decision: require_human
  typed:
    arguments: {type: object, properties: {amount: {type: integer}}}
    decision: allow
limits:
  - {name: desk, scope: desk, limit: {amount: "100.00", currency: EUR}}
approvers:
  - {name: payouts, labels: [payout], roles: [approver]}
"""

Clients = Callable[[str], httpx.AsyncClient]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that takes the challenge of a webhook."""
    async with Receiver([echoing]) as listening:
        yield listening


@pytest.fixture
def environment(environment: dict[str, str], receiver: Receiver) -> dict[str, str]:
    """The settings of a service that may reach the receiver."""
    return environment | {"COUNTERSIGN_WEBHOOK_ORIGINS": f"http://127.0.0.1:{receiver.port}"}


@pytest.fixture
async def governed(asking: Clients) -> Clients:
    """The clients of a service with the policy above in force."""
    await put_in_force(asking("policy_admin"), POLICY)
    return asking


def codes(answer: dict[str, Any]) -> list[str]:
    return [trigger["code"] for trigger in answer["triggered"]]


async def decide(person: httpx.AsyncClient, question: str, **vote: Any) -> httpx.Response:
    return await person.post(f"/v1/approvals/{question}/decision", json=vote)


async def test_a_label_rule_that_cannot_be_evaluated_holds_the_call(governed: Clients) -> None:
    answer = await admit(governed("agent"), call("pay", {"amount": "5000"}))
    assert answer["outcome"] == "require_human"
    assert "condition_undetermined" in codes(answer)
    assert "undetermined" in answer["labels"]


async def test_spend_is_reserved_with_the_answer(governed: Clients) -> None:
    assert (await admit(governed("agent"), call("book", {"n": 1}, cost="60.00")))["allowed"]
    second = await admit(governed("agent"), call("book", {"n": 2}, cost="60.00"))
    assert codes(second) == ["spend_limit_exceeded"]


async def test_nobody_decides_where_no_rule_says_who(governed: Clients) -> None:
    held = await admit(governed("agent"), call("orphan"))
    vote = await decide(governed("approver"), held["approval_id"], decision="approve")
    assert vote.status_code == 403
    assert vote.json()["code"] == "approval_no_authority"


async def test_a_denial_answers_every_repeat(governed: Clients) -> None:
    held = await admit(governed("agent"), call("wire"))
    await decide(governed("approver"), held["approval_id"], decision="deny", comment="ask accounting")
    for _ in range(2):
        again = await admit(governed("agent"), call("wire"))
        assert again["outcome"] == "deny"
        assert "approval_denied" in codes(again)
        assert again["approval"]["comment"] == "ask accounting"


async def test_an_edit_is_redeemed_by_sending_the_edited_call(governed: Clients) -> None:
    held = await admit(governed("agent"), call("wire", {"amount": 900}))
    await decide(governed("approver"), held["approval_id"], decision="approve", arguments={"amount": 90})
    original = await admit(governed("agent"), call("wire", {"amount": 900}))
    assert not original["allowed"]
    assert "approval_edited" in codes(original)
    assert original["approval"]["arguments"] == {"amount": 90}
    assert (await admit(governed("agent"), call("wire", {"amount": 90})))["allowed"]


async def test_an_approval_expires(governed: Clients) -> None:
    held = await admit(governed("agent"), call("brief"))
    await asyncio.sleep(1.1)
    late = await decide(governed("approver"), held["approval_id"], decision="approve")
    assert late.status_code == 409
    question = (await governed("agent").get(f"/v1/approvals/{held['approval_id']}")).json()
    assert question["status"] == "expired"


async def test_arguments_are_not_coerced(governed: Clients) -> None:
    answer = await admit(governed("agent"), call("typed", {"amount": "5"}))
    assert codes(answer) == ["arguments_invalid"]


async def test_a_lower_actual_cost_needs_a_trusted_reporter(governed: Clients) -> None:
    admitted = await admit(governed("agent"), call("book", cost="60.00"))
    report = {"outcome": "executed", "actual_cost": {"amount": "0.01", "currency": "EUR"}}
    reported = await governed("agent").post(f"/v1/admissions/{admitted['admission']['id']}/outcome", json=report)
    assert reported.status_code == 200
    scope = (await governed("operator").get("/v1/spend/scope", params={"scope": "desk"})).json()
    assert scope["limits"][0]["spent"] == "60.00"


async def test_a_webhooks_reply_decides_nothing(governed: Clients, receiver: Receiver) -> None:
    url = f"http://127.0.0.1:{receiver.port}/"
    wanted = {"url": url, "events": ["approval.requested"]}
    assert (await governed("operator").post("/v1/webhooks", json=wanted)).status_code == 201
    receiver.answers = [
        status(200, b'{"decision": "approve", "decided_by": "approver"}', "Content-Type: application/json")
    ]
    held = await admit(governed("agent"), call("wire"))
    await receiver.got(2)  # the challenge, and the question

    assert (await admit(governed("agent"), call("wire")))["outcome"] == "require_human"
    question = (await governed("agent").get(f"/v1/approvals/{held['approval_id']}")).json()
    assert question["status"] == "pending"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
async def test_numbers_that_are_not_finite_are_refused(governed: Clients, number: str) -> None:
    body = f'{{"action": {{"name": "pay", "arguments": {{"amount": {number}}}}}}}'
    answer = await governed("agent").post("/v1/admit", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/action/arguments/amount"


@pytest.mark.parametrize("name", ["", " "])
async def test_blank_approver_names_are_refused(governed: Clients, name: str) -> None:
    document = {"schema": "countersign.policy/v1", "approvers": [{"name": "rule", "principals": [name]}]}
    answer = await governed("policy_admin").post("/v1/policies", json={"document": document})
    assert answer.status_code == 400


def test_every_row_names_a_test_that_there_is() -> None:
    rows = [line for line in DOCUMENT.splitlines() if line.startswith("| ")][1:]
    assert len(NAMED) == len(rows)
    everything = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    for name in NAMED:
        assert f"def {name}(" in everything, name
