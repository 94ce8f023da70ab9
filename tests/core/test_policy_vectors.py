"""The known answers: decisions, labels, and what the skeptic makes of a finding."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.core import policy
from app.core.actions import Action, Call, Caller, Finding, Verification
from app.core.evaluation import WhatIf, evaluate
from app.core.money import Money
from app.core.verification import skeptic
from tests.known import SCOPE, document_of_knobs, document_of_labels, vectors

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
NOBODY = Caller(tenant="", principal="", kind="agent", owner="")


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in vectors(name)]


@pytest.mark.parametrize("case", cases("decisions"))
def test_decision(case: dict[str, Any]) -> None:
    said, severity, given = case["action"], case["finding_severity"], case["verification"]
    action = Action(
        name="vector.case",
        environment=said["environment"],
        kind=said["kind"],
        tags=frozenset(said["tags"]),
        blast_radius=said["blast_radius"],
        cost=Money(Decimal(said["cost"]), "USD"),
    )
    finding = Finding("t", severity, 1.0, ("r",), 1.0) if severity else None
    what_if = WhatIf(
        Call(action, finding=finding, spend=(SCOPE,)),
        Verification(**given) if given else None,
        {SCOPE: Decimal(case["spent"])},
    )

    found = evaluate(policy.load(document_of_knobs(case["policy"])), what_if, NOBODY, NOW).decision

    assert {"outcome": found.outcome, "checks": [check.code for check in found.triggered]} == case["expect"]


@pytest.mark.parametrize("case", cases("labels"))
def test_labels(case: dict[str, Any]) -> None:
    loaded = policy.load(document_of_labels(case["action_name"], case["labels"]))
    call = Call(Action(case["action_name"], arguments=case["arguments"]))

    found = evaluate(loaded, WhatIf(call), NOBODY, NOW).weighing

    assert {
        "environment": found.environment,
        "kind": found.kind,
        "tags": list(found.tags),
        "blast_radius": found.blast_radius,
    } == case["expect"]


@pytest.mark.parametrize("case", cases("verification"))
def test_skeptic(case: dict[str, Any]) -> None:
    said = case["finding"]
    finding = Finding(
        title=said["title"],
        severity=said["severity"],
        gsar_score=said["gsar_score"],
        evidence_refs=tuple(said["evidence_refs"]),
        confidence=said.get("confidence", said["gsar_score"]),
    )

    verdict = skeptic(finding, case["threshold"])

    assert verdict.survives == case["expect"]["survives"]
    assert verdict.confidence == pytest.approx(case["expect"]["confidence"], abs=1e-9)
    assert list(verdict.refutations) == case["expect"]["refutations"]
