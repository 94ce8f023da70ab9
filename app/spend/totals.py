"""Totals: the running sums of every scope, in every currency that it has seen, and its counts over all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from app.core.money import plus

COUNT = "count"
"""The unit that counts entries of every currency, and of none. No currency is written so."""

_NONE = Decimal(0)

READ = """
    SELECT jsonb_build_object('scope', want.scope, 'unit', want.unit,
        'held', sum(CASE WHEN want.unit = 'count' THEN total.held_count ELSE total.held END)::text,
        'spent', sum(CASE WHEN want.unit = 'count' THEN total.spent_count ELSE total.spent END)::text,
        'credited', sum(CASE WHEN want.unit = 'count' THEN 0 ELSE total.credited END)::text)
    FROM jsonb_to_recordset(CAST(:spend_totals AS jsonb)) AS want (scope text, unit text)
    CROSS JOIN LATERAL (
        SELECT * FROM spend_totals WHERE tenant = :tenant AND scope = want.scope
            AND (want.unit = 'count' OR currency = want.unit)
        OFFSET 0
    ) AS total
    GROUP BY want.scope, want.unit
"""
"""The fragment `spend_totals`: the sums of each scope in a unit, unless it has none."""

WRITE = """
    INSERT INTO spend_totals (tenant, scope, currency, held, held_count, spent, spent_count, credited)
    SELECT :tenant, scope, currency, held, held_count, spent, spent_count, credited
    FROM jsonb_to_recordset(CAST(:spend_totals_changed AS jsonb)) AS changed
        (scope text, currency text, held numeric, held_count bigint, spent numeric, spent_count bigint,
         credited numeric)
    ON CONFLICT (tenant, scope, currency) DO UPDATE SET
        held = spend_totals.held + excluded.held, held_count = spend_totals.held_count + excluded.held_count,
        spent = spend_totals.spent + excluded.spent, spent_count = spend_totals.spent_count + excluded.spent_count,
        credited = spend_totals.credited + excluded.credited
"""
"""The fragment `spend_totals_changed`: adds differences, which may be negative, and begins what is not there."""


@dataclass(slots=True)
class Totals:
    """What is held on a scope, was ever spent, and was credited; in one currency, or as a count."""

    held: Decimal = _NONE
    spent: Decimal = _NONE
    credited: Decimal = _NONE

    def add(self, other: "Totals") -> None:
        """Add the sums of another to these."""
        self.held, self.spent = plus(self.held, other.held), plus(self.spent, other.spent)
        self.credited = plus(self.credited, other.credited)


def from_row(row: Mapping[str, Any]) -> Totals:
    """Return the sums of a row that came as JSON."""
    return Totals(Decimal(row["held"]), Decimal(row["spent"]), Decimal(row["credited"]))


@dataclass(slots=True)
class Change:
    """The difference that a group makes to the totals of a scope in a currency."""

    money: Totals = field(default_factory=Totals)
    count: Totals = field(default_factory=Totals)

    def add(self, other: "Change") -> None:
        """Add another difference to this one."""
        self.money.add(other.money)
        self.count.add(other.count)

    def as_row(self, scope: str, currency: str) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "scope": scope,
            "currency": currency,
            "held": str(self.money.held),
            "held_count": int(self.count.held),
            "spent": str(self.money.spent),
            "spent_count": int(self.count.spent),
            "credited": str(self.money.credited),
        }
