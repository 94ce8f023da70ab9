"""What was spent in a window: a sum of few rows, and exact to the entry.

A window from `start` until now is made of the entries of its first, broken second, then of the buckets of the seconds
to the next full minute, of the minutes to the next full hour, of the hours to the next full day (in UTC), and of the
days since. Time zones are apart by multiples of a quarter of an hour, so a calendar window begins on a full minute.
"""

from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from app.core.money import plus
from app.db.books import Rows
from app.spend.buckets import EPOCH, WIDTHS
from app.spend.totals import COUNT

_NONE = Decimal(0)
_ONE = Decimal(1)


def edges(start: datetime) -> list[datetime]:
    """Return the five instants, `start` first, between which a window changes from entries to ever wider buckets."""
    instants = [start]
    for width in WIDTHS:
        last = instants[-1]
        instants.append(last + (EPOCH - last) % timedelta(seconds=width))
    return instants


def _buckets(place: int, width: int) -> str:
    until = "" if width == WIDTHS[-1] else f"AND start < want.edges[{place + 1}]"
    return f"""
        SELECT currency, spent, spent_count FROM spend_buckets
        WHERE tenant = :tenant AND scope = want.scope AND width = {width} AND start >= want.edges[{place}] {until}
    """  # noqa: S608 - numbers of this file only


_ENTRIES = """
    SELECT currency, amount AS spent, 1 AS spent_count FROM spend_entries
    WHERE tenant = :tenant AND scope = want.scope AND kind IN ('settle', 'record')
        AND taken_at >= want.edges[1] AND taken_at < want.edges[2]
"""
_PARTS = " UNION ALL ".join((_ENTRIES, *(_buckets(place, width) for place, width in enumerate(WIDTHS, start=2))))

READ = f"""
    SELECT jsonb_build_object('scope', want.scope, 'unit', want.unit, 'start', want.start,
        'spent', sum(CASE WHEN want.unit = 'count' THEN part.spent_count ELSE part.spent END)::text)
    FROM jsonb_to_recordset(CAST(:spend_windows AS jsonb)) AS want
        (scope text, unit text, start text, edges timestamptz[])
    CROSS JOIN LATERAL ({_PARTS}) AS part
    WHERE want.unit = 'count' OR part.currency = want.unit
    GROUP BY want.scope, want.unit, want.start
"""  # noqa: S608 - text of this file only
"""The fragment `spend_windows`: the sum of each scope, unit and start, unless it is none."""


class WindowSums:
    """The sums of the windows that a group's limits look at, kept up as the group spends."""

    def __init__(self) -> None:
        # By scope, then by unit and start; None stands for a sum that was asked for and is not read yet.
        self._sums: defaultdict[str, dict[tuple[str, datetime], Decimal | None]] = defaultdict(dict)

    def want(self, scope: str, unit: str, start: datetime) -> None:
        """Ask for what was spent on a scope since `start`."""
        self._sums[scope].setdefault((unit, start), None)

    def wants(self) -> list[dict[str, Any]]:
        """Return what was asked for and not read yet."""
        return [
            {
                "scope": scope,
                "unit": unit,
                "start": start.isoformat(),
                "edges": [instant.isoformat() for instant in edges(start)],
            }
            for scope, sums in self._sums.items()
            for (unit, start), spent in sums.items()
            if spent is None
        ]

    def load(self, rows: Rows) -> None:
        """Take in the sums that were found; the others are zero."""
        for row in rows:
            self._sums[row["scope"]][row["unit"], datetime.fromisoformat(row["start"])] = Decimal(row["spent"])
        for sums in self._sums.values():
            sums.update({key: spent or _NONE for key, spent in sums.items()})

    def spent(self, scope: str, unit: str, start: datetime) -> Decimal:
        """Return what was spent on a scope since `start`.

        Raises:
            LookupError: it was not asked for before the group was read.
        """
        spent = self._sums[scope].get((unit, start))
        if spent is None:
            raise LookupError("the window was not asked for")
        return spent

    def add(self, scope: str, currency: str, amount: Decimal, taken_at: datetime) -> None:
        """Add an entry to every window that the time of its hold lies in."""
        sums = self._sums.get(scope, {})
        for (unit, start), spent in sums.items():
            if spent is not None and unit in {currency, COUNT} and start <= taken_at:
                sums[unit, start] = plus(spent, _ONE if unit == COUNT else amount)
