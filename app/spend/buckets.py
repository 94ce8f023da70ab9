"""Buckets: what was spent on a scope in each second, minute, hour and day, by when the hold was taken."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.core.money import plus

WIDTHS = (1, 60, 3_600, 86_400)
"""Seconds of the four kinds of bucket, each a multiple of the one before."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Every bucket begins a multiple of its width after this."""


def around(instant: datetime) -> Iterator[tuple[int, datetime]]:
    """Yield width and start of the four buckets that hold an instant."""
    since = instant - EPOCH
    for width in WIDTHS:
        yield width, instant - since % timedelta(seconds=width)


@dataclass(slots=True)
class _Growth:
    spent: Decimal = Decimal(0)
    spent_count: int = 0


class Growths:
    """What a group adds to buckets: one row for each, however many of its commands spent there."""

    def __init__(self) -> None:
        self._growths: defaultdict[tuple[str, int, datetime, str], _Growth] = defaultdict(_Growth)

    def add(self, scope: str, currency: str, amount: Decimal, taken_at: datetime) -> None:
        """Add one settled entry to its four buckets."""
        for width, start in around(taken_at):
            growth = self._growths[scope, width, start, currency]
            growth.spent, growth.spent_count = plus(growth.spent, amount), growth.spent_count + 1

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the rows as JSON."""
        return [
            {
                "scope": scope,
                "width": width,
                "start": start.isoformat(),
                "currency": currency,
                "spent": str(growth.spent),
                "spent_count": growth.spent_count,
            }
            for (scope, width, start, currency), growth in self._growths.items()
        ]


WRITE = """
    INSERT INTO spend_buckets (tenant, scope, width, start, currency, spent, spent_count)
    SELECT :tenant, scope, width, start, currency, spent, spent_count
    FROM jsonb_to_recordset(CAST(:spend_buckets_grown AS jsonb)) AS grown
        (scope text, width integer, start timestamptz, currency text, spent numeric, spent_count bigint)
    ON CONFLICT (tenant, scope, width, start, currency) DO UPDATE SET
        spent = spend_buckets.spent + excluded.spent, spent_count = spend_buckets.spent_count + excluded.spent_count
"""
"""The fragment `spend_buckets_grown`: adds to buckets, and begins those that are not there."""
