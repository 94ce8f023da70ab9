"""Reading spend outside any lane: scopes with their totals, entries, and the room under limits."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from app.db.database import Reader
from app.db.statements import Row

_SUMS = """
    jsonb_build_object('currency', currency, 'held', held::text, 'held_count', held_count, 'spent', spent::text,
        'spent_count', spent_count, 'credited', credited::text)
"""

_SCOPES = text(f"""
    SELECT scope, jsonb_agg({_SUMS} ORDER BY currency) AS sums FROM spend_totals
    WHERE tenant = :tenant AND scope > :after AND scope >= :prefix AND starts_with(scope, :prefix)
    GROUP BY scope ORDER BY scope LIMIT :limit
""")

_ONE_SCOPE = text(f"""
    SELECT {_SUMS} AS sums FROM spend_totals WHERE tenant = :tenant AND scope = :scope ORDER BY currency
""")

_ENTRIES = text("""
    SELECT id, scope, kind, amount, currency, admission_id, action, overrun, taken_at, at FROM spend_entries
    WHERE tenant = :tenant AND scope = :scope AND id < :before ORDER BY id DESC LIMIT :limit
""")

_OVER_TIME = text("""
    SELECT start, currency, spent FROM spend_buckets
    WHERE tenant = :tenant AND scope = :scope AND width = :width AND start >= :since ORDER BY start
""")


async def scopes(reader: Reader, tenant: str, prefix: str, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` scopes that begin with `prefix`, in the order of their bytes, each with its `sums`."""
    parameters = {"tenant": tenant, "prefix": prefix, "after": after, "limit": limit}
    return await reader.rows(_SCOPES, parameters)


async def sums(reader: Reader, tenant: str, scope: str) -> Sequence[dict[str, Any]]:
    """Return the sums of a scope in every currency that it has seen; "" stands for calls without a cost."""
    return [row.sums for row in await reader.rows(_ONE_SCOPE, {"tenant": tenant, "scope": scope})]


async def entries(reader: Reader, tenant: str, scope: str, before: int, limit: int) -> Sequence[Row]:
    """Return up to `limit` entries of a scope, the newest first, of those with an id less than `before`."""
    return await reader.rows(_ENTRIES, {"tenant": tenant, "scope": scope, "before": before, "limit": limit})


async def over_time(reader: Reader, tenant: str, scope: str, width: int, since: datetime) -> Sequence[Row]:
    """Return `start`, `currency` and `spent` of each bucket of a width, in seconds, from a moment on."""
    return await reader.rows(_OVER_TIME, {"tenant": tenant, "scope": scope, "width": width, "since": since})
