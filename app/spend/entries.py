"""Entries: the truth about money, one row for every scope that something happened on."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

WRITE = """
    INSERT INTO spend_entries (tenant, scope, kind, amount, currency, admission_id, action, overrun, taken_at, at)
    SELECT :tenant, scope, kind, amount, currency, admission_id, action, overrun, taken_at, at
    FROM jsonb_to_recordset(CAST(:spend_entries_made AS jsonb)) AS made
        (scope text, kind text, amount numeric, currency text, admission_id text, action text, overrun boolean,
         taken_at timestamptz, at timestamptz)
"""
"""The fragment `spend_entries_made`."""


class Kind(StrEnum):
    """What an entry says: room taken, spent, or given back; money that went out or came in without being held."""

    HOLD = "hold"
    SETTLE = "settle"
    RELEASE = "release"
    RECORD = "record"
    CREDIT = "credit"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened on one scope at a time.

    `currency` is empty when the call has no cost. `taken_at` is when the hold was taken: it decides in which window
    a settlement counts. `overrun` tells that more was spent than was held.
    """

    kind: Kind
    scope: str
    amount: Decimal
    currency: str
    taken_at: datetime
    at: datetime
    admission_id: str | None = None
    action: str = ""
    overrun: bool = False

    def as_row(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "kind": self.kind,
            "scope": self.scope,
            "amount": str(self.amount),
            "currency": self.currency,
            "taken_at": self.taken_at.isoformat(),
            "at": self.at.isoformat(),
            "admission_id": self.admission_id,
            "action": self.action,
            "overrun": self.overrun,
        }
