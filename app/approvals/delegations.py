"""Delegations: authority that one person lends another, as one immutable snapshot under the authority epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text

from app.core.authority import Delegation
from app.db.database import Reader, Writer
from app.db.statements import Row

_LOAD = text("""
    SELECT heads.authority_epoch,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'lender', d.lender, 'delegate', d.delegate,
                'until', d.until, 'labels', d.labels) ORDER BY d.id), '[]')
            FROM delegations d
            WHERE d.tenant = heads.tenant AND d.revoked_at IS NULL AND d.until > clock_timestamp()) AS delegations
    FROM heads WHERE heads.tenant = :tenant
""")

_GRANT = text("""
    INSERT INTO delegations (tenant, id, lender, delegate, labels, granted_at, until)
    VALUES (:tenant, :id, :lender, :delegate, to_jsonb(CAST(:labels AS text[])), :now, :until)
""")

_FIND = text("""
    SELECT to_jsonb(d) AS item FROM delegations d WHERE d.tenant = :tenant AND d.id = :id
""")

_OF = text("""
    SELECT id, lender, delegate, labels, granted_at, until, revoked_at, revoked_by FROM delegations
    WHERE tenant = :tenant AND id > :after AND (lender = :principal OR delegate = :principal)
    ORDER BY id LIMIT :limit
""")

_COUNT = text("""
    SELECT count(*) FROM delegations
    WHERE tenant = :tenant AND lender = :lender AND revoked_at IS NULL AND until > :now
""")

_REVOKE = text("""
    UPDATE delegations SET revoked_at = :now, revoked_by = :by
    WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL
""")


@dataclass(frozen=True, slots=True)
class Delegations:
    """The delegations of a tenant that are not revoked, under one epoch. Their deadlines are kept by the clock."""

    epoch: int
    lent: tuple[Delegation, ...] = ()


class DelegationCache:
    """The delegations of each tenant as this process has read them last."""

    def __init__(self) -> None:
        self._held: dict[str, Delegations] = {}

    def held(self, tenant: str, epoch: int) -> Delegations | None:
        """Return the delegations of this epoch if they are in memory."""
        found = self._held.get(tenant)
        return found if found is not None and found.epoch == epoch else None

    async def at(self, reader: Reader, tenant: str, epoch: int) -> Delegations:
        """Return the delegations of this epoch, reading them if they are not in memory."""
        found = self._held.get(tenant)
        if found is None or found.epoch != epoch:
            found = await _load(reader, tenant)
            self._held[tenant] = found
        return found


async def _load(reader: Reader, tenant: str) -> Delegations:
    row = await reader.row(_LOAD, {"tenant": tenant})
    if row is None:
        return Delegations(epoch=-1)
    return Delegations(row.authority_epoch, tuple(map(_delegation, row.delegations)))


def _delegation(row: Mapping[str, Any]) -> Delegation:
    until = datetime.fromisoformat(row["until"])
    return Delegation(row["id"], row["lender"], row["delegate"], until, frozenset(row["labels"]))


async def find(reader: Reader, tenant: str, delegation_id: str) -> Delegation | None:
    """Return a delegation by its id, revoked and past ones too."""
    row = await reader.row(_FIND, {"tenant": tenant, "id": delegation_id})
    return None if row is None else _delegation(row.item)


async def page(reader: Reader, tenant: str, principal: str, after: str, limit: int) -> Sequence[Row]:
    """Return what somebody has lent or borrowed, in the order of their making, revoked and past ones too."""
    return await reader.rows(_OF, {"tenant": tenant, "principal": principal, "after": after, "limit": limit})


async def count(reader: Reader, tenant: str, lender: str, now: datetime) -> int:
    """Return how many delegations somebody has in force."""
    row = await reader.row(_COUNT, {"tenant": tenant, "lender": lender, "now": now})
    return 0 if row is None else int(row[0])


async def grant(tx: Writer, tenant: str, delegation: Delegation, now: datetime) -> None:
    """Store a delegation."""
    await tx.write(
        _GRANT,
        {
            "tenant": tenant,
            "id": delegation.id,
            "lender": delegation.lender,
            "delegate": delegation.delegate,
            "labels": sorted(delegation.labels),
            "now": now,
            "until": delegation.until,
        },
    )


async def revoke(tx: Writer, tenant: str, delegation_id: str, by: str, now: datetime) -> bool:
    """End a delegation at once; return False if it was ended before."""
    return bool(await tx.write(_REVOKE, {"tenant": tenant, "id": delegation_id, "by": by, "now": now}))
