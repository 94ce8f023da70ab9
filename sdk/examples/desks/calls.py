"""The calls of the day, read from the file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "toolcalls.jsonl"

# One outcome in so many is lost on the way back: the world has changed, and the desk does not learn how.
_LOST_EVERY = 23


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that an agent wants to make, for one customer, in one run of its desk.

    `amount` is in dollars; it may be negative, as when the difference of an exchange goes back to the customer.
    `fails` says that the world will answer with an error; `lost`, that the answer never comes back.
    """

    id: str
    desk: str
    run: str
    customer: str
    tool: str
    arguments: Mapping[str, Any]
    amount: Decimal | None
    states_cost: bool
    consequential: bool
    fails: bool
    lost: bool

    @property
    def action(self) -> str:
        """The name under which the policy knows it."""
        return f"{self.desk}.{self.tool}"

    @property
    def effect(self) -> str | None:
        """The consequence that must happen once: this call, with these arguments, in this run."""
        if not self.consequential:
            return None
        said = json.dumps(self.arguments, sort_keys=True).encode()
        return f"{self.run}:{self.tool}:{hashlib.sha256(said).hexdigest()[:12]}"


def of_the_day() -> list[ToolCall]:
    """Return every call, in the order in which they were made."""
    lines = FILE.read_text().splitlines()
    return [_call(json.loads(line, parse_float=Decimal)) for line in lines]


def _call(row: Mapping[str, Any]) -> ToolCall:
    desk = "airline" if "airline" in row["source"] else "retail"
    amount = None if row["amount_usd"] is None else Decimal(row["amount_usd"])
    fails = row["outcome"] == "error"
    return ToolCall(
        id=row["id"],
        desk=desk,
        run=f"{desk}-{row['task']}-{row['trial']}",
        customer=row["principal"],
        tool=row["tool"],
        arguments=row["arguments"],
        amount=amount,
        states_cost=amount is not None and not str(row["amount_from"]).startswith("arguments."),
        consequential=row["consequential"],
        fails=fails,
        lost=row["consequential"] and not fails and int(row["id"][3:]) % _LOST_EVERY == 0,
    )
