"""What-ifs over HTTP: the known answers, documents and revisions, batches, and what is not taken."""

from collections.abc import Callable
from typing import Any, TypeAlias

import httpx
import pytest

from tests.ask import exported, put_in_force
from tests.known import SCOPE, document_of_knobs, document_of_labels, usd, vectors

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
version: "one"
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    labels: {environment: live, kind: payout}
    cost: {currency: EUR}
    spend: [desk]
    rules:
      - {when: "cost.amount <= 100.0 && 'clerk' in principal.roles", decision: allow}
      - {decision: require_human, reason: a person looks at it}
    refusal: {require_human: "Please wait for {who}."}
limits:
  - {scope: desk, limit: {amount: "1000", currency: EUR}}
  - {name: pace, scope: desk, metric: count, limit: 3}
"""
PAY = {"name": "pay", "arguments": {"who": "Ada"}, "cost": {"amount": "50", "currency": "EUR"}}


@pytest.fixture
def admin(asking: Asking) -> httpx.AsyncClient:
    """A policy administrator, who may explain."""
    return asking("policy_admin")


async def evaluate(admin: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    response = await admin.post("/v1/policies/evaluate", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def codes(answer: dict[str, Any]) -> list[str]:
    return [check["code"] for check in answer["triggered"]]


async def test_decisions_have_their_known_answers(admin: httpx.AsyncClient) -> None:
    for case in vectors("decisions"):
        severity = case["finding_severity"]
        answer = await evaluate(
            admin,
            policy=document_of_knobs(case["policy"]),
            action={**case["action"], "name": "vector.case", "cost": usd(case["action"]["cost"])},
            finding=severity and {"severity": severity},
            verification=case["verification"],
            spend=[SCOPE],
            spent={SCOPE: case["spent"]},
        )
        assert {"outcome": answer["outcome"], "checks": codes(answer)} == case["expect"], case["name"]


async def test_labels_have_their_known_answers(admin: httpx.AsyncClient) -> None:
    for case in vectors("labels"):
        name = case["action_name"]
        answer = await evaluate(
            admin,
            policy=document_of_labels(name, case["labels"]),
            action={"name": name, "arguments": case["arguments"]},
        )
        assert answer["resolved"].items() >= case["expect"].items(), case["name"]


async def test_a_revision_answers_as_its_document_does_and_nothing_is_recorded(
    admin: httpx.AsyncClient, asking: Asking
) -> None:
    revision = await put_in_force(admin, POLICY)
    before = await exported(asking("auditor"))

    of_revision = await evaluate(admin, policy=revision, action=PAY)
    of_document = await evaluate(admin, policy=POLICY, action=PAY)

    assert of_revision["policy"]["revision"] == revision
    assert of_document["policy"] == {**of_revision["policy"], "revision": None}
    assert of_document["outcome"] == of_revision["outcome"] == "require_human"
    assert of_document["message"] == "Please wait for Ada."
    assert not of_document["allowed"]
    assert await exported(asking("auditor")) == before


async def test_everything_given_counts(admin: httpx.AsyncClient) -> None:
    clerk = {"name": "ada", "roles": ["clerk"]}
    answer = await evaluate(admin, policy=POLICY, action=PAY, principal=clerk)
    assert (answer["outcome"], answer["checks"]) == ("allow", [])
    assert answer["reason"] == "no check fired"

    answer = await evaluate(admin, policy=POLICY, action=PAY, principal=clerk, spent={"desk": "960"})
    assert codes(answer) == ["spend_limit_exceeded", "spend_limit_exceeded"]
    assert answer["triggered"][0]["left"] == "40.00"

    advised = [{"outcome": "deny", "by": "reviewer", "note": "smells"}]
    answer = await evaluate(admin, policy=POLICY, action=PAY, principal=clerk, advice=advised)
    assert (answer["outcome"], answer["policy_outcome"], answer["escalated"]) == ("deny", "allow", True)
    assert answer["reason"] == "reviewer advises deny: smells"


async def test_cases_are_answered_in_order(admin: httpx.AsyncClient) -> None:
    answer = await evaluate(admin, policy=POLICY, cases=[{"action": PAY}, {"action": {"name": "nothing"}}])
    assert [result["outcome"] for result in answer["results"]] == ["require_human", "deny"]
    assert codes(answer["results"][1]) == ["unlisted_action"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"policy": POLICY}, ""),
        ({"action": PAY}, "/policy"),
        ({"policy": POLICY, "cases": [], "spent": {}}, ""),
        ({"policy": POLICY, "cases": [{"action": PAY, "spemd": []}]}, "/cases/0/spemd"),
        ({"policy": POLICY, "action": PAY, "spent": {"desk": -1}}, "/spent/desk"),
        ({"policy": {"schema": "countersign.policy/v1", "actons": {}}, "action": PAY}, "/policy/actons"),
        ({"policy": "schema: [", "action": PAY}, "/policy"),
    ],
)
async def test_what_is_wrong_is_named(admin: httpx.AsyncClient, body: dict[str, Any], pointer: str) -> None:
    response = await admin.post("/v1/policies/evaluate", json=body)
    assert response.status_code == 400, response.text
    assert pointer in [error["pointer"] for error in response.json()["errors"]]


async def test_a_revision_that_is_not_there(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/v1/policies/evaluate", json={"policy": 77, "action": PAY})
    assert response.status_code == 404
