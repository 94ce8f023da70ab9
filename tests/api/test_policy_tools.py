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


async def test_lint_places_its_remarks(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/v1/policies/lint", json={"document": POLICY})
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["loads"]
    assert {
        "level": "warning",
        "code": "cost-without-effect",
        "message": "it costs money and has no `effect`: a retry could pay twice",
        "pointer": "/actions/pay",
        "line": 7,
        "column": 5,
    } in found["findings"]


async def test_lint_says_why_a_document_does_not_load(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/v1/policies/lint", json={"policy": "schema: x"})
    [finding] = response.json()["findings"]
    assert (finding["level"], finding["code"], finding["line"], finding["column"]) == ("error", "does-not-load", 1, 9)


async def test_storing_tells_what_lint_finds(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/v1/policies", content=POLICY, headers={"Content-Type": "application/yaml"})
    assert response.status_code == 201, response.text
    assert "cost-by-caller" in {finding["code"] for finding in response.json()["findings"]}


async def test_cases_are_run(admin: httpx.AsyncClient) -> None:
    cases = [
        {"name": "held", "action": PAY, "outcome": "require_human", "codes": ["rule"]},
        {"name": "wrong", "action": PAY, "facts": {"principal": {"name": "a", "roles": ["clerk"]}}, "outcome": "deny"},
    ]
    response = await admin.post("/v1/policies/test", json={"policy": POLICY, "cases": cases})
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["passed"], found["failed"]) == (1, 1)
    assert found["results"][1] == {
        "name": "wrong",
        "passed": False,
        "expected": {"outcome": "deny", "codes": None},
        "got": {"outcome": "allow", "codes": []},
        "decided_by": ["no check fired"],
    }


async def test_a_wrong_case_is_placed(admin: httpx.AsyncClient) -> None:
    body = {"policy": POLICY, "cases": [{"action": PAY, "outcome": "allowed"}]}
    response = await admin.post("/v1/policies/test", json=body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["pointer"] == "/cases/0/outcome"


async def test_differences_are_told_in_words(admin: httpx.AsyncClient) -> None:
    revision = await put_in_force(admin, POLICY)
    after = POLICY.replace("limit: 3", "limit: 2")
    response = await admin.post("/v1/policies/diff", json={"before": revision, "after": after})
    assert response.json() == {
        "same": False,
        "changes": [{"about": "limit pace", "sentence": "it is 2 calls instead of 3 calls", "turn": "stricter"}],
    }


async def test_coverage_names_what_is_not_covered(admin: httpx.AsyncClient) -> None:
    found = (await admin.post("/v1/policies/coverage", json={"policy": POLICY})).json()
    assert found["unlisted"] == "deny"
    assert "money out" not in found["uncovered"]
    assert "destruction" in found["uncovered"]


async def test_the_schema_is_there_for_editors(admin: httpx.AsyncClient) -> None:
    response = await admin.get("/v1/policies/schema.json")
    assert response.headers["content-type"] == "application/schema+json"
    assert response.json()["title"] == "A Countersign policy"
