"""The kill switch: stops a principal, an action or the whole tenant from the next request on, until it is lifted."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text

from app.audit.lane import Lane
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.database import Reader
from app.db.ids import new_id
from app.db.statements import Row

_PLACE = text("""
    INSERT INTO revocations (tenant, id, principal, action, whole_tenant, reason, placed_at, placed_by)
    VALUES (:tenant, :id, :principal, :action, :whole_tenant, :reason, :now, :by)
""")

_LIFT = text("""
    UPDATE revocations SET lifted_at = :now, lifted_by = :by
    WHERE tenant = :tenant AND id = :id AND lifted_at IS NULL
    RETURNING principal, action, whole_tenant
""")

_EXISTS = text("SELECT id FROM revocations WHERE tenant = :tenant AND id = :id")

_LIST = text("""
    SELECT id, principal, action, whole_tenant, reason, placed_at, placed_by, lifted_at, lifted_by FROM revocations
    WHERE tenant = :tenant AND id > :after ORDER BY id LIMIT :limit
""")


_PRINCIPALS = text("""
    SELECT principal FROM revocations WHERE tenant = :tenant AND principal IS NOT NULL AND lifted_at IS NULL
""")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is stopped: one of a principal, an action, or (both None) the whole tenant."""

    principal: str | None = None
    action: str | None = None

    def facts(self) -> dict[str, Json]:
        """Return what the record says of it."""
        if self.principal is not None:
            return {"subject": self.principal, "of": "principal"}
        return {"subject": self.action or "", "of": "tenant" if self.action is None else "action"}


async def place(lane: Lane, subject: Subject, reason: str, by: str) -> str:
    """Stop the subject and return the revocation's id. The principal or action need not exist yet."""
    revocation_id = new_id("rev")
    parameters = {
        "tenant": lane.head.tenant,
        "id": revocation_id,
        "principal": subject.principal,
        "action": subject.action,
        "whole_tenant": subject == Subject(),
        "reason": reason,
        "now": lane.now,
        "by": by,
    }
    await lane.tx.write(_PLACE, parameters)
    _record(lane, "revocation.placed", subject, {"revocation": revocation_id, "reason": reason, "by": by})
    return revocation_id


async def lift(lane: Lane, revocation_id: str, by: str) -> Refusal | None:
    """End a revocation; ending it again changes nothing."""
    named = {"tenant": lane.head.tenant, "id": revocation_id}
    row = await lane.tx.row(_LIFT, named | {"now": lane.now, "by": by})
    if row is not None:
        subject = Subject(row.principal, row.action)
        _record(lane, "revocation.lifted", subject, {"revocation": revocation_id, "by": by})
        return None
    if await lane.tx.row(_EXISTS, named):
        return None
    return Refusal(RefusalKind.NOT_FOUND, "there is no such revocation")


async def page(reader: Reader, tenant: str, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` revocations, lifted ones too, in the order of their making, those behind `after`."""
    return await reader.rows(_LIST, {"tenant": tenant, "after": after, "limit": limit})


async def of_principals(reader: Reader, tenant: str) -> frozenset[str]:
    """Return the principals that are stopped."""
    return frozenset(str(row.principal) for row in await reader.rows(_PRINCIPALS, {"tenant": tenant}))


def _record(lane: Lane, event_type: str, subject: Subject, payload: dict[str, Json]) -> None:
    lane.head.authority_epoch += 1
    lane.journal.append(
        event_type, subject.facts() | payload, principal=subject.principal or "", action=subject.action or ""
    )
