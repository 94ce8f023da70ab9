"""The call of a question as JSON, so that it can be shown to who decides, and weighed again with other values."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from app.core.actions import Action, Advice, Call, Finding
from app.core.money import Money, format_amount
from app.core.outcomes import Outcome
from app.core.values import Json, JsonObject, with_literals


def to_json(call: Call) -> dict[str, Json]:
    """Return what of a call a weighing reads."""
    action, finding = call.action, call.finding
    return {
        "action": {
            "name": action.name,
            "arguments": action.arguments,
            "asset": action.asset,
            "environment": action.environment,
            "kind": action.kind,
            "tags": sorted(action.tags),
            "blast_radius": action.blast_radius,
            "cost": _money(action.cost),
        },
        "context": call.context,
        "approval_context": dict(call.approval_context),
        "spend": list(call.spend),
        "effect": call.effect,
        "finding": None
        if finding is None
        else {
            "title": finding.title,
            "severity": finding.severity,
            "gsar_score": finding.gsar_score,
            "evidence_refs": list(finding.evidence_refs),
            "confidence": finding.confidence,
        },
        "advice": [{"outcome": said.outcome, "by": said.by, "note": said.note} for said in call.advice],
    }


def from_json(row: Mapping[str, Any]) -> Call:
    """Return the call of what `to_json` gave."""
    action, finding = row["action"], row["finding"]
    given = {
        "arguments": with_literals(action["arguments"]),
        "tags": frozenset(action["tags"]),
        "cost": _read_money(action["cost"]),
    }
    return Call(
        action=Action(**action | given),
        context=row["context"],
        approval_context=row["approval_context"],
        spend=tuple(row["spend"]),
        effect=row["effect"],
        finding=None if finding is None else Finding(**finding | {"evidence_refs": tuple(finding["evidence_refs"])}),
        advice=tuple(Advice(Outcome(said["outcome"]), said["by"], said["note"]) for said in row["advice"]),
    )


def with_arguments(call: Call, arguments: JsonObject) -> Call:
    """Return the call with other argument values."""
    return replace(call, action=replace(call.action, arguments=arguments))


def _money(cost: Money | None) -> dict[str, Json] | None:
    return None if cost is None else {"amount": format_amount(cost.amount), "currency": cost.currency}


def _read_money(cost: Mapping[str, str] | None) -> Money | None:
    return None if cost is None else Money(Decimal(cost["amount"]), cost["currency"])
