"""A window on a scope with very many entries is read from few rows, found by an index."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.windows import Calendar, Rolling, Unit, Window, start
from app.db.database import Database, Reader, Writer
from app.spend import window_sums
from app.spend.window_sums import WindowSums

NOW = datetime(2026, 11, 29, 19, 0, 0, 123_456, tzinfo=UTC)
ENTRIES = 60_000

# A hundred a second, for ten minutes.
_ENTRIES = text("""
    INSERT INTO spend_entries (tenant, scope, kind, amount, currency, taken_at, at)
    SELECT 'acme', 'hot', 'record', 1, 'EUR', moment, moment
    FROM generate_series(1, :number) AS n,
        LATERAL (SELECT CAST(:now AS timestamptz) - n * interval '10 ms') AS entry (moment)
""")
_BUCKETS = text("""
    INSERT INTO spend_buckets (tenant, scope, width, start, currency, spent, spent_count)
    SELECT tenant, scope, width, to_timestamp(floor(extract(epoch FROM taken_at) / width) * width), currency,
        sum(amount), count(*)
    FROM spend_entries CROSS JOIN (VALUES (1), (60), (3600), (86400)) AS widths (width) GROUP BY 1, 2, 3, 4, 5
""")


async def fill(tx: Writer) -> None:
    await tx.write(_ENTRIES, {"number": ENTRIES, "now": NOW})
    await tx.write(_BUCKETS)
    await tx.write(text("ANALYZE spend_entries, spend_buckets"))


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a plan that read a table."""
    if "Relation Name" in plan:
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part)


@pytest.mark.parametrize(
    "window",
    [Rolling(timedelta(seconds=30)), Rolling(timedelta(minutes=7)), Rolling(timedelta(days=30)),
     Calendar(Unit.DAY, "Asia/Kathmandu"), Calendar(Unit.YEAR, "Europe/Berlin")],
)  # fmt: skip
async def test_a_window_is_read_from_few_rows(database: Database, window: Window) -> None:
    await database.transact(fill)
    sums = WindowSums()
    sums.want("hot", "EUR", start(window, NOW))
    wanted = {"tenant": "acme", "spend_windows": sums.wants()}

    async def read(reader: Reader) -> Any:
        explained = await reader.rows(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {window_sums.READ}"), wanted)
        return explained[0][0]

    explained = await database.read(read)
    plan = json.loads(explained) if isinstance(explained, str) else explained
    found = list(scans(plan[0]["Plan"]))
    assert not [scan["Node Type"] for scan in found if scan["Node Type"] == "Seq Scan"]
    assert sum(scan["Actual Rows"] * scan["Actual Loops"] for scan in found) < 300
