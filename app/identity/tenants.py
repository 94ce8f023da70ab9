"""Tenants: each a lane, a chain and an authority of its own."""

import re
from collections.abc import Sequence

from sqlalchemy import text

from app.audit.lane import Lane, Lanes
from app.core.refusals import Refusal, RefusalKind
from app.db.database import Reader
from app.db.statements import Row
from app.identity import credentials
from app.identity.credentials import IssuedKey, NewKey

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)

_LIST = text("SELECT tenant, seq FROM heads WHERE tenant > :after ORDER BY tenant LIMIT :limit")


def is_name(name: str) -> bool:
    """Return whether it can name a tenant: a DNS label (RFC 1123), since it is part of keys and of NATS subjects."""
    return _NAME.fullmatch(name) is not None


async def create(lanes: Lanes, tenant: str, first_key: NewKey, by: str) -> IssuedKey | Refusal:
    """Begin a tenant's chain and make its first key, in one transaction."""
    if not is_name(tenant):
        detail = "a tenant's name is 1 to 63 of a-z, 0-9 and -, and neither begins nor ends with -"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer="/tenant")
    refused = credentials.inadmissible(tenant, first_key)
    if refused is not None:
        return refused

    async def begin(lane: Lane) -> IssuedKey | Refusal:
        lane.journal.append("tenant.changed", {"tenant": tenant, "change": "created", "by": by})
        return await credentials.issue(lane, first_key, by)

    issued = await lanes.begin(tenant, begin)
    return issued or Refusal(RefusalKind.CONFLICT, f"there is a tenant {tenant} already")


async def page(reader: Reader, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` tenants in the order of their names, those behind `after`."""
    return await reader.rows(_LIST, {"after": after, "limit": limit})
