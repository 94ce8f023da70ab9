"""Two policies that differ in nothing but their size: ten rules, and five thousand."""

from typing import Any, Final

_RULES = 5


def _document(actions: int) -> dict[str, Any]:
    return {
        "schema": "countersign.policy/v1",
        "defaults": {"require_verification_score": 0},
        "actions": {f"bench.size{number:04d}": _action() for number in range(actions)},
    }


def _action() -> dict[str, Any]:
    """Return an action whose rules are all looked at: only the last one matches."""
    bounds = range(100_000, 100_000 + _RULES - 1)
    return {
        "arguments": {
            "type": "object",
            "required": ["invoice", "amount"],
            "additionalProperties": False,
            "properties": {"invoice": {"type": "string"}, "amount": {"type": "integer", "minimum": 1}},
        },
        "labels": {"environment": "bench", "kind": "payment"},
        "cost": {"amount": "{amount}", "currency": "EUR"},
        "rules": [
            *({"when": f"arguments.amount >= {bound}", "decision": "deny"} for bound in bounds),
            {"when": "arguments.amount <= 100", "decision": "allow"},
        ],
    }


FEW_RULES: Final = _document(2)
MANY_RULES: Final = _document(1000)
ACTION: Final = "bench.size0001"
"""An action that both have."""
