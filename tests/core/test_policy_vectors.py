"""The known answers: decisions, labels, and what the skeptic makes of a finding."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.core import policy
from app.core.actions import Action, Call, Caller, Finding, Verification
from app.core.evaluation import WhatIf, evaluate
from app.core.money import Money
from app.core.verification import skeptic

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
NOBODY = Caller(tenant="", principal="", kind="agent", owner="")
SCOPE = "vector"


def vectors(name: str) -> list[Any]:
    cases = json.loads((Path(__file__).parent.parent / "vectors" / f"{name}.json").read_text())
    return [pytest.param(case, id=case["name"]) for case in cases]


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def document(knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the policy document that has these knobs, and the limit among them."""
    limit = knobs["spend_limit"]
    over = knobs["require_human_over"]
    return {
        "schema": "countersign.policy/v1",
        "unlisted": "evaluate",
        "defaults": {
            **{name: value for name, value in knobs.items() if name != "spend_limit"},
            "require_human_over": over and {"amount": over, "currency": "USD"},
        },
        "limits": [{"scope": SCOPE, "limit": {"amount": limit, "currency": "USD"}}] if limit else [],
    }


@pytest.mark.parametrize("case", vectors("decisions"))
def test_decision(case: dict[str, Any]) -> None:
    action = case["action"]
    severity = case["finding_severity"]
    call = Call(
        Action(
            name="vector.case",
            environment=action["environment"],
            kind=action["kind"],
            tags=frozenset(action["tags"]),
            blast_radius=action["blast_radius"],
            cost=usd(action["cost"]),
        ),
        finding=severity and Finding("t", severity, 1.0, ("r",), 1.0),
        spend=(SCOPE,),
    )
    verification = case["verification"] and Verification(**case["verification"])
    what_if = WhatIf(call, verification, {SCOPE: Decimal(case["spent"])})

    found = evaluate(policy.load(document(case["policy"])), what_if, NOBODY, NOW).decision

    assert {"outcome": found.outcome, "checks": [check.code for check in found.triggered]} == case["expect"]


@pytest.mark.parametrize("case", vectors("labels"))
def test_labels(case: dict[str, Any]) -> None:
    loaded = policy.load(
        {"schema": "countersign.policy/v1", "actions": {case["action_name"]: {"labels": case["labels"]}}}
    )
    call = Call(Action(case["action_name"], arguments=case["arguments"]))

    found = evaluate(loaded, WhatIf(call), NOBODY, NOW).weighing

    assert {
        "environment": found.environment,
        "kind": found.kind,
        "tags": list(found.tags),
        "blast_radius": found.blast_radius,
    } == case["expect"]


@pytest.mark.parametrize("case", vectors("verification"))
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
