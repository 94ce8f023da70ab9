"""The totals and the buckets, counted again from nothing but the entries."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.db.database import Reader

_TOTALS = text("""
    WITH held AS (
        SELECT scope, currency, sum(amount) AS amount, count(*) AS number FROM spend_entries AS hold
        WHERE tenant = :tenant AND kind = 'hold' AND NOT EXISTS (
            SELECT FROM spend_entries AS closing
            WHERE closing.tenant = hold.tenant AND closing.scope = hold.scope
            AND closing.admission_id = hold.admission_id AND closing.kind IN ('settle', 'release'))
        GROUP BY scope, currency
    ), spent AS (
        SELECT scope, currency, sum(amount) AS amount, count(*) AS number FROM spend_entries
        WHERE tenant = :tenant AND kind IN ('settle', 'record') GROUP BY scope, currency
    ), credited AS (
        SELECT scope, currency, sum(amount) AS amount FROM spend_entries
        WHERE tenant = :tenant AND kind = 'credit' GROUP BY scope, currency
    ), counted AS (
        SELECT scope, currency, coalesce(held.amount, 0) AS held, coalesce(held.number, 0) AS held_count,
            coalesce(spent.amount, 0) AS spent, coalesce(spent.number, 0) AS spent_count,
            coalesce(credited.amount, 0) AS credited
        FROM (SELECT DISTINCT scope, currency FROM spend_entries WHERE tenant = :tenant) AS account
        LEFT JOIN held USING (scope, currency) LEFT JOIN spent USING (scope, currency)
        LEFT JOIN credited USING (scope, currency)
    ), kept AS (
        SELECT scope, currency, held, held_count, spent, spent_count, credited FROM spend_totals
        WHERE tenant = :tenant
    )
    (SELECT 'only counted', * FROM (TABLE counted EXCEPT TABLE kept) AS a)
    UNION ALL (SELECT 'only kept', * FROM (TABLE kept EXCEPT TABLE counted) AS b)
""")

_BUCKETS = text("""
    WITH counted AS (
        SELECT scope, width,
            to_timestamp(floor(extract(epoch FROM taken_at) / width) * width) AS start, currency,
            sum(amount) AS spent, count(*) AS spent_count
        FROM spend_entries CROSS JOIN (VALUES (1), (60), (3600), (86400)) AS widths (width)
        WHERE tenant = :tenant AND kind IN ('settle', 'record') GROUP BY 1, 2, 3, 4
    ), kept AS (
        SELECT scope, width, start, currency, spent, spent_count FROM spend_buckets WHERE tenant = :tenant
    )
    (SELECT 'only counted', * FROM (TABLE counted EXCEPT TABLE kept) AS a)
    UNION ALL (SELECT 'only kept', * FROM (TABLE kept EXCEPT TABLE counted) AS b)
""")

_CLOSED_TWICE = text("""
    SELECT scope, admission_id FROM spend_entries
    WHERE tenant = :tenant AND admission_id IS NOT NULL
    GROUP BY scope, admission_id
    HAVING count(*) FILTER (WHERE kind = 'hold') <> 1 OR count(*) FILTER (WHERE kind IN ('settle', 'release')) > 1
""")


async def differences(reader: Reader, tenant: str) -> Sequence[Any]:
    """Return every sum that differs from its entries, and every hold that was taken or closed twice."""
    found: list[Any] = []
    for statement in (_TOTALS, _BUCKETS, _CLOSED_TWICE):
        found += await reader.rows(statement, {"tenant": tenant})
    return found
