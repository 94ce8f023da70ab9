"""The head of a tenant's chain: its lock, its clock and its epochs."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.core.chain import GENESIS
from app.db.database import Reader, Writer


class UnknownTenantError(LookupError):
    """There is no such tenant."""


@dataclass(slots=True)
class Head:
    """The end of a chain and the tenant's epochs, as read under the lock.

    `seq` is the next record's; `key_id` names the key that signed the last one, None before the first.
    `policy_revision` is None before the first activation; `shadow_revision` is weighed beside it and answers nothing.
    A command that changes policy or authority raises the epoch here; the journal writes it with its records.
    """

    tenant: str
    seq: int
    hash: str
    ts: datetime
    key_id: str | None
    policy_revision: int | None
    shadow_revision: int | None
    authority_epoch: int


@dataclass(frozen=True, slots=True)
class Epochs:
    """What a request that passes no group compares its caches with; `now` is the database's clock."""

    policy_revision: int | None
    authority_epoch: int
    now: datetime


# The clock is read by the outer query, after the lock was waited for: inside, it could be as old as the wait.
_LOCK = text("""
    WITH head AS MATERIALIZED (
        SELECT tenant, seq, hash, ts, key_id, policy_revision, shadow_revision, authority_epoch
        FROM heads WHERE tenant = :tenant FOR UPDATE
    )
    SELECT head.*, clock_timestamp() AS now FROM head
""")

_EPOCHS = text("SELECT policy_revision, authority_epoch, clock_timestamp() AS now FROM heads WHERE tenant = :tenant")

_CREATE = text("INSERT INTO heads (tenant, hash) VALUES (:tenant, :hash) ON CONFLICT DO NOTHING")


async def lock(tx: Writer, tenant: str) -> tuple[Head, datetime]:
    """Take the tenant's lane until the transaction ends, and read the one clock of the group.

    The clock never runs behind the last record, so that `ts` does not either.

    Raises:
        UnknownTenantError: there is no such tenant.
    """
    row = await tx.row(_LOCK, {"tenant": tenant})
    if row is None:
        raise UnknownTenantError(tenant)
    head = Head(
        tenant=row.tenant,
        seq=row.seq,
        hash=row.hash,
        ts=row.ts,
        key_id=row.key_id,
        policy_revision=row.policy_revision,
        shadow_revision=row.shadow_revision,
        authority_epoch=row.authority_epoch,
    )
    return head, max(row.now, row.ts)


async def epochs(reader: Reader, tenant: str) -> Epochs:
    """Read the tenant's epochs without its lock.

    Raises:
        UnknownTenantError: there is no such tenant.
    """
    row = await reader.row(_EPOCHS, {"tenant": tenant})
    if row is None:
        raise UnknownTenantError(tenant)
    return Epochs(row.policy_revision, row.authority_epoch, row.now)


async def create(tx: Writer, tenant: str) -> bool:
    """Begin a tenant's chain; return False if it has one."""
    return bool(await tx.write(_CREATE, {"tenant": tenant, "hash": GENESIS}))
