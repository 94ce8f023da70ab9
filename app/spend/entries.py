"""Entries: the truth about money, one row for every scope that something happened on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

READ = """
    SELECT jsonb_build_object('kind', kind, 'scope', scope, 'amount', amount::text, 'currency', currency,
        'taken_at', taken_at, 'at', at, 'action', action, 'idempotency_key', idempotency_key)
    FROM jsonb_array_elements_text(CAST(:spend_entries_by_key AS jsonb)) AS wanted (key)
    CROSS JOIN LATERAL (
        SELECT * FROM spend_entries
        WHERE tenant = :tenant AND idempotency_key IS NOT NULL AND idempotency_key = wanted.key OFFSET 0
    ) AS entry
"""
"""The fragment `spend_entries_by_key`: what was entered under idempotency keys."""

WRITE = """
    INSERT INTO spend_entries
        (tenant, scope, kind, amount, currency, admission_id, action, overrun, idempotency_key, taken_at, at)
    SELECT :tenant, scope, kind, amount, currency, admission_id, action, overrun, idempotency_key, taken_at, at
    FROM jsonb_to_recordset(CAST(:spend_entries_made AS jsonb)) AS made
        (scope text, kind text, amount numeric, currency text, admission_id text, action text, overrun boolean,
         idempotency_key text, taken_at timestamptz, at timestamptz)
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
    a settlement counts. `overrun` tells that more was spent than was held. Under an `idempotency_key`, made of the
    principal and its key, there is one entry at most.
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
    idempotency_key: str | None = None

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
            "idempotency_key": self.idempotency_key,
        }


def from_row(row: Mapping[str, Any]) -> Entry:
    """Return an entry without an admission, of a row that came as JSON."""
    return Entry(
        kind=Kind(row["kind"]),
        scope=row["scope"],
        amount=Decimal(row["amount"]),
        currency=row["currency"],
        taken_at=datetime.fromisoformat(row["taken_at"]),
        at=datetime.fromisoformat(row["at"]),
        action=row["action"],
        idempotency_key=row["idempotency_key"],
    )
