"""A call as JSON: in a digest that names it, and kept to be shown to people and to be weighed again."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from app.core.actions import Action, Advice, Call, Finding
from app.core.canonical import digest
from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.values import Json, JsonObject, with_literals


def call_digest(*, tenant: str, principal: str, call: Call, policy_version: str, bind: Iterable[str]) -> str:
    """Return the digest of what was sent with its defaults filled: `sha256:` over its RFC 8785 form.

    `bind` names the context keys that belong to the call; other context, evidence and request ids do not. The order
    of keys, tags and scopes makes no difference, nor does writing 1 as 1.0; everything else does.
    """
    form: dict[str, Json] = {
        "tenant": tenant,
        "principal": principal,
        "action": _action(call.action),
        "effect": call.effect,
        "spend": sorted(set(call.spend)),
        "approval_context": dict(call.approval_context),
        "policy_version": policy_version,
        "context": {key: call.context[key] for key in bind if key in call.context},
    }
    return digest(form)


def to_json(call: Call) -> dict[str, Json]:
    """Return what of a call a weighing reads."""
    finding = call.finding
    return {
        "action": _action(call.action),
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
        "cost": None if action["cost"] is None else Money.from_json(action["cost"]),
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


def _action(action: Action) -> dict[str, Json]:
    return {
        "name": action.name,
        "arguments": action.arguments,
        "asset": action.asset,
        "environment": action.environment,
        "kind": action.kind,
        "tags": sorted(action.tags),
        "blast_radius": action.blast_radius,
        "cost": None if action.cost is None else action.cost.as_json(),
    }
