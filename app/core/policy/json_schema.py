"""The JSON Schema of a policy document, so that editors complete it and say what belongs where.

It is made of the same words that the reading uses. What only a compiler can tell (conditions, templates, argument
schemas) it leaves to the service.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from app.core.names import LONGEST_KEY, LONGEST_NAME
from app.core.outcomes import Outcome
from app.core.policy.approvers import Match
from app.core.policy.argument_types import FACTS
from app.core.policy.arguments import DIALECT
from app.core.policy.comparisons import OPERATORS
from app.core.policy.conditions import LONGEST
from app.core.policy.documents import SCHEMA
from app.core.policy.knobs import Severity
from app.core.policy.limits import Metric
from app.core.policy.policies import Unlisted
from app.core.policy.terms import OutcomeBy
from app.core.windows import Unit

Node = Mapping[str, Any]


def document_schema() -> Node:
    """Return the schema of a document, in the 2020-12 dialect."""
    return {
        "$schema": DIALECT,
        "title": "A Countersign policy",
        "description": "What agents may do: by themselves, after a person's yes, or not at all.",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "version": _name("A label for people. It names one document for ever, and questions are bound to it."),
                "defaults": _ref("knobs", "The knobs of every action; an action may set its own."),
                "unlisted": _words(Unlisted, "What happens to an action that is not listed; deny, if not said."),
                "actions": {
                    "type": "object",
                    "propertyNames": _name(),
                    "additionalProperties": _ref("action"),
                    "description": "The actions that agents may ask for, by name.",
                },
                "limits": _list(_ref("limit"), "How much, or how many, the calls on a scope may take."),
                "approvers": _list(_ref("approver"), "Who decides what is held."),
            },
            required=["schema"],
        ),
        "$defs": _definitions(),
    }


def _definitions() -> Node:
    return {
        "names": _list(_name()),
        "money": _object({"amount": _ref("amount"), "currency": _ref("currency")}, required=["amount", "currency"]),
        "amount": {
            "type": ["string", "number"],
            "pattern": r"^(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?$",
            "minimum": 0,
            "description": "An exact amount, such as 12.50; in quotes it is sure to stay as written.",
        },
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "duration": {"type": "string", "pattern": "^[1-9][0-9]{0,8}[smhd]$", "examples": ["15m"]},
        "condition": {
            "type": "string",
            "maxLength": LONGEST,
            "description": f"A CEL expression over arguments, context and {', '.join(FACTS)}.",
        },
        "template": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_KEY,
            "description": "Text with {argument} in it. An argument that is missing denies the call.",
        },
        "knobs": _knobs(),
        "action": _action(),
        "labels": _labels(),
        "rule": _rule(),
        "cost": _cost(),
        "limit": _limit(),
        "window": _window(),
        "approver": _approver(),
    }


def _knobs() -> Node:
    return _object(
        {
            "require_verification_score": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "default": 0.8,
                "description": "How sure a verification must be; 0 asks for none.",
            },
            "max_blast_radius": _integer(0, "How many things a call may touch without a person.") | {"default": 1},
            "require_human_for": _ref("names", "Labels that a person decides; production, if not said."),
            "deny_for": _ref("names", "Labels that are denied."),
            "require_sandbox_for": _ref("names", "Labels that are allowed only in a sandbox."),
            "min_severity": _words(Severity, "Findings below are denied.") | {"default": "low"},
            "require_human_over": _ref("money", "A call that costs more is decided by a person."),
        }
    )


def _action() -> Node:
    return {
        "description": "What calls of an action are checked against, and what they are.",
        **_object(
            {
                "description": {"type": "string", "description": "What the action does, for people."},
                "arguments": {"$ref": DIALECT, "description": "The JSON Schema of the arguments."},
                "labels": _ref("labels"),
                "asset": _ref("template", "What the action is done to."),
                "cost": _ref("cost"),
                "effect": _ref("template", "The key of the consequence, which happens at most once."),
                "spend": _list(_ref("template"), "The scopes that the cost counts on.") | {"maxItems": 16},
                "rules": _list(_ref("rule"), "The first that matches gives the outcome; if none does, it is denied.")
                | {"minItems": 1},
                "decision": _words(Outcome, "Short for one rule that always matches."),
                "knobs": _ref("knobs", "The knobs of this action, over those of the document."),
                "approval": _object(
                    {
                        "ttl": _ref("duration", "How long a question waits for its votes."),
                        "use_within": _ref("duration", "How long a yes may be used."),
                        "show": _ref("names", "Arguments that approvers see in full."),
                        "bind": _ref("names", "Keys of the context that belong to the call."),
                    }
                ),
                "refusal": _object(
                    {
                        outcome: {"type": "string", "description": "What the user hears, with {argument} in it."}
                        for outcome in (Outcome.DENY.value, Outcome.REQUIRE_HUMAN.value)
                    }
                ),
                "lease": _ref("duration", "How long an admitted action may take."),
                "max_attempts": _integer(1, "How often an effect may be tried.") | {"default": 3},
                "outcome_by": _words(OutcomeBy, 'Whose "not executed" frees effect and money.'),
            },
            nullable=True,
        ),
        "not": {"required": ["rules", "decision"]},
    }


def _labels() -> Node:
    tags = {"anyOf": [_name(), _ref("names")]}
    derived = {
        "when": {
            "anyOf": [
                _ref("condition"),
                _object({"arg": {"type": "string"}, **{operator: {} for operator in OPERATORS}}),
            ]
        },
        "add_tags": tags,
        "set_kind": {"type": "string"},
        "set_environment": {"type": "string"},
        "blast_radius": _object(
            {"arg": {"type": "string"}, "agg": {"enum": ["count", "value"]}, "default": _integer(0)}
        ),
    }
    return _object(
        {
            "environment": {"type": "string"},
            "kind": {"type": "string"},
            "tags": tags,
            "blast_radius": _integer(0, "How many things a call touches at least."),
            "derive": _list(_object(derived), "Labels and radii that follow from arguments; every rule applies."),
        }
    )


def _rule() -> Node:
    return _object(
        {
            "when": _ref("condition"),
            "decision": _words(Outcome),
            "reason": {"type": "string", "description": "What is said when the rule holds or denies a call."},
        },
        required=["decision"],
    )


def _cost() -> Node:
    amount = {"type": ["string", "number"], "description": 'An amount, or the argument that has it: "{amount}".'}
    path = {"type": "string", "description": 'A path to amounts that are added: "legs[].price".'}
    return _object({"amount": amount, "sum": path, "currency": _ref("currency")}, required=["currency"]) | {
        "not": {"required": ["amount", "sum"]}
    }


def _limit() -> Node:
    pattern = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}
    return _object(
        {
            "name": _name("Its scope, if not said."),
            "scope": pattern | {"description": "A scope; * stands for any run of characters."},
            "metric": _words(Metric) | {"default": "money"},
            "limit": {"anyOf": [_ref("money"), _integer(0)]},
            "window": _ref("window", "What it counts over; all time, if not said."),
        },
        required=["scope", "limit"],
    ) | {
        "if": {"properties": {"metric": {"const": Metric.COUNT.value}}, "required": ["metric"]},
        "then": {"properties": {"limit": _integer(0)}},
        "else": {"properties": {"limit": _ref("money")}},
    }


def _window() -> Node:
    calendar = _object({"calendar": _words(Unit), "timezone": {"type": "string"}}, required=["calendar"])
    return {"anyOf": [calendar, _object({"rolling": _ref("duration")}, required=["rolling"])]}


def _approver() -> Node:
    return _object(
        {
            "name": _name(),
            "labels": _ref("names", "The questions that it decides; all, if there are none."),
            "match": _words(Match, "Whether a question needs any of the labels or all.") | {"default": "any"},
            "principals": _ref("names", "People who decide, by name."),
            "roles": _ref("names", "People who decide, by role."),
            "quorum": _integer(1, "How many different people have to say yes.") | {"default": 1},
            "via": _ref("names", "Bridges that may speak for them."),
            "allow_self_approval": {"type": "boolean", "default": False},
        },
        required=["name"],
    )


def _object(properties: Node, required: Iterable[str] = (), *, nullable: bool = False) -> dict[str, Any]:
    wanted = list(required)
    return {
        "type": ["object", "null"] if nullable else "object",
        "additionalProperties": False,
        "properties": dict(properties),
        **({"required": wanted} if wanted else {}),
    }


def _list(items: Node, description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": items, **_described(description)}


def _ref(name: str, description: str = "") -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", **_described(description)}


def _name(description: str = "") -> dict[str, Any]:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_NAME,
        "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
        **_described(description),
    }


def _integer(least: int, description: str = "") -> dict[str, Any]:
    return {"type": "integer", "minimum": least, **_described(description)}


def _words(words: type[StrEnum], description: str = "") -> dict[str, Any]:
    return {"enum": [word.value for word in words], **_described(description)}


def _described(description: str) -> dict[str, Any]:
    return {"description": description} if description else {}
