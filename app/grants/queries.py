"""What is read and written of grants one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import text

from app.core.lineage import Grant
from app.db.database import Reader, Writer
from app.db.statements import Row
from app.grants import lineages

Rows: TypeAlias = Sequence[Mapping[str, Any]]

_ONE = text(lineages.ONE)

_INSERT = text("""
    INSERT INTO grants (tenant, id, parent, subject, bounds, expires_at, delegable, granted_at, granted_by)
    VALUES (:tenant, :id, :parent, :subject, CAST(:bounds AS jsonb), :expires_at, :delegable, :now, :by)
""")

_REVOKE = text("""
    UPDATE grants SET revoked_at = :now, revoked_by = :by
    WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL
""")

_COUNT = text("""
    SELECT count(*) FROM grants
    WHERE tenant = :tenant AND subject = :subject AND granted_by = :by
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
""")

_PAGE = text("""
    SELECT id, parent, subject, bounds, expires_at, delegable, granted_at, granted_by, revoked_at, revoked_by
    FROM grants
    WHERE tenant = :tenant AND id > :after
        AND (CAST(:subject AS text) IS NULL OR subject = :subject)
        AND (CAST(:viewer AS text) IS NULL OR subject = :viewer OR granted_by = :viewer)
    ORDER BY id LIMIT :limit
""")

_SWITCH = text("""
    INSERT INTO grant_switches (tenant, required, changed_at, changed_by) VALUES (:tenant, :required, :now, :by)
    ON CONFLICT (tenant) DO UPDATE SET required = :required, changed_at = :now, changed_by = :by
    WHERE grant_switches.required <> :required
""")

_REQUIRED = text("SELECT required FROM grant_switches WHERE tenant = :tenant")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which grants are wanted: of one subject, and only what a viewer holds or gave; None is all."""

    subject: str | None = None
    viewer: str | None = None


async def walk(reader: Reader, tenant: str, grant_id: str) -> Rows:
    """Return the rows of a grant and of all that it was delegated from, for `lineages`; none if there is no such."""
    return [row.item for row in await reader.rows(_ONE, {"tenant": tenant, "id": grant_id})]


async def page(reader: Reader, tenant: str, wanted: Filter, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` grants in the order of their making, revoked and expired ones too."""
    parameters = {"tenant": tenant, "subject": wanted.subject, "viewer": wanted.viewer, "after": after, "limit": limit}
    return await reader.rows(_PAGE, parameters)


async def count(reader: Reader, tenant: str, by: str, subject: str, now: datetime) -> int:
    """Return how many grants in force somebody has given to a subject."""
    row = await reader.row(_COUNT, {"tenant": tenant, "by": by, "subject": subject, "now": now})
    return 0 if row is None else int(row[0])


async def insert(tx: Writer, tenant: str, grant: Grant, by: str, now: datetime) -> None:
    """Store a grant."""
    parameters = {
        "tenant": tenant,
        "id": grant.id,
        "parent": grant.parent,
        "subject": grant.subject,
        "bounds": grant.bounds.stated(),
        "expires_at": grant.bounds.expires_at,
        "delegable": grant.delegable,
        "now": now,
        "by": by,
    }
    await tx.write(_INSERT, parameters)


async def revoke(tx: Writer, tenant: str, grant_id: str, by: str, now: datetime) -> bool:
    """End a grant at once; return False if it was ended before."""
    return bool(await tx.write(_REVOKE, {"tenant": tenant, "id": grant_id, "by": by, "now": now}))


async def switch(tx: Writer, tenant: str, by: str, now: datetime, *, required: bool) -> bool:
    """Say whether grants are required from now on; return False if that was so before."""
    return bool(await tx.write(_SWITCH, {"tenant": tenant, "required": required, "by": by, "now": now}))


async def required(reader: Reader, tenant: str) -> bool:
    """Return whether grants are required."""
    row = await reader.row(_REQUIRED, {"tenant": tenant})
    return row is not None and bool(row[0])
