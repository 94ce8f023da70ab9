"""The known answers of `tests/vectors`, and the policy documents and bodies that their shorthand stands for."""

import json
from pathlib import Path
from typing import Any

SCOPE = "vector"
"""The scope that a decision's `spend_limit` and `spent` are about."""

_FOLDER = Path(__file__).parent / "vectors"


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    cases: list[dict[str, Any]] = json.loads((_FOLDER / f"{name}.json").read_text())
    return cases


def usd(amount: str | None) -> dict[str, str] | None:
    """Return an amount of a vector as money; the vectors' amounts are taken as US dollars."""
    return None if amount is None else {"amount": amount, "currency": "USD"}


def document_of_knobs(knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the policy document that has these knobs, and the limit that stands among them."""
    defaults = {name: value for name, value in knobs.items() if name != "spend_limit"}
    limit = usd(knobs["spend_limit"])
    return {
        "schema": "countersign.policy/v1",
        "unlisted": "evaluate",
        "defaults": {**defaults, "require_human_over": usd(knobs["require_human_over"])},
        "limits": [{"scope": SCOPE, "limit": limit}] if limit else [],
    }


def document_of_labels(action: str, labels: dict[str, Any]) -> dict[str, Any]:
    """Return the policy document that declares an action's labels and nothing else."""
    return {"schema": "countersign.policy/v1", "actions": {action: {"labels": labels}}}
