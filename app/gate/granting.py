"""Granting: roots by an administrator, parts of what one holds by its subject, and the end of both."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.audit.lane import Lane
from app.core import grants
from app.core.chain import timestamp
from app.core.codes import Code
from app.core.grants import Bounds, BoundsError, Dimension
from app.core.lineage import DEEPEST, Grant, Lineage
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.ids import new_id
from app.grants import lineages, queries
from app.identity import principals, revocations

MOST: Final = 50
"""How many grants one hand may have given to one subject: each of its calls looks through them, and nobody shall fill
up what another holds."""

_POINTERS: Final = {Dimension.EXPIRY: "/expires_in"}
_CODES: Final = {Dimension.EXPIRY: Code.GRANT_EXPIRED, Dimension.BUDGETS: Code.GRANT_BUDGET}


@dataclass(frozen=True, slots=True)
class Wish:
    """A grant as somebody wants it: for whom, within which bounds as they were stated, for how long."""

    subject: str
    stated: Mapping[str, Json]
    expires_in: timedelta | None = None
    delegable: bool = False


@dataclass(frozen=True, slots=True)
class Granter:
    """Who grants or revokes; `administers` tells that it may end anybody's grants."""

    principal: str
    administers: bool = False


async def create(lane: Lane, by: str, wish: Wish) -> str | Refusal:
    """Make a root, and return its id."""
    return await _make(lane, by, wish, None)


async def delegate(lane: Lane, by: str, parent_id: str, wish: Wish) -> str | Refusal:
    """Make a grant within one that somebody holds itself and may delegate, and return its id."""
    rows = await queries.walk(lane.tx, lane.head.tenant, parent_id)
    if by not in {row["subject"] for row in rows}:
        return _not_found(parent_id)
    lineage = lineages.of_grant(rows, parent_id)
    refusal = _why_not_delegate(lineage, by, lane.now)
    if refusal is None and await _stopped(lane, rows):
        refusal = Refusal(RefusalKind.FORBIDDEN, "somebody whom this grant comes from, or you, is revoked")
    if refusal is not None or lineage is None:
        return refusal or _not_found(parent_id)
    return await _make(lane, by, wish, lineage)


async def revoke(lane: Lane, by: Granter, grant_id: str) -> Refusal | None:
    """End a grant and all that was delegated from it: its subject may, and those that it comes from.

    Ending it again changes nothing.
    """
    rows = await queries.walk(lane.tx, lane.head.tenant, grant_id)
    if not rows or not (by.administers or by.principal in {row["subject"] for row in rows}):
        return _not_found(grant_id)
    if await queries.revoke(lane.tx, lane.head.tenant, grant_id, by.principal, lane.now):
        lane.head.authority_epoch += 1
        subject = next(row["subject"] for row in rows if row["id"] == grant_id)
        payload = {"grant_id": grant_id, "subject": subject, "by": by.principal}
        lane.journal.append("grant.revoked", payload, principal=by.principal)
    return None


async def require(lane: Lane, by: str, *, required: bool) -> None:
    """Say whether nothing may be asked without a grant, from the next request on."""
    tenant = lane.head.tenant
    if await queries.required(lane.tx, tenant) == required:
        return
    await queries.switch(lane.tx, tenant, by, lane.now, required=required)
    lane.head.authority_epoch += 1
    change = "grants are required" if required else "grants are not required"
    lane.journal.append("tenant.changed", {"tenant": tenant, "change": change, "by": by}, principal=by)


async def _make(lane: Lane, by: str, wish: Wish, parent: Lineage | None) -> str | Refusal:
    bounds = _bounds(wish, lane.now)
    if isinstance(bounds, Refusal):
        return bounds
    refusal = None if parent is None else _why_not_within(bounds, parent)
    refusal = refusal or await _why_not_to(lane, by, wish.subject)
    if refusal is not None:
        return refusal
    grant = Grant(new_id("grt"), wish.subject, bounds, wish.delegable, None if parent is None else parent.id)
    await queries.insert(lane.tx, lane.head.tenant, grant, by, lane.now)
    lane.head.authority_epoch += 1
    event = "grant.created" if parent is None else "grant.delegated"
    lane.journal.append(event, {**_recorded(grant), "by": by}, principal=by)
    return grant.id


def _bounds(wish: Wish, now: datetime) -> Bounds | Refusal:
    try:
        return grants.read(wish.stated, None if wish.expires_in is None else now + wish.expires_in)
    except BoundsError as error:
        return Refusal(RefusalKind.BAD_INPUT, str(error), pointer=f"/{error.dimension}")


def _why_not_delegate(lineage: Lineage | None, by: str, now: datetime) -> Refusal | None:
    if lineage is None or lineage.expired(now):
        return Refusal(RefusalKind.CONFLICT, "this grant, or one that it was delegated from, is over")
    if lineage.grants[0].subject != by:
        return Refusal(RefusalKind.FORBIDDEN, "only the subject of a grant delegates it")
    if not lineage.grants[0].delegable:
        return Refusal(RefusalKind.FORBIDDEN, "this grant may not be delegated")
    if len(lineage.grants) == DEEPEST:
        return Refusal(RefusalKind.CONFLICT, f"a grant is delegated on through {DEEPEST} hands at most")
    return None


def _why_not_within(bounds: Bounds, parent: Lineage) -> Refusal | None:
    beyond = grants.excess(bounds, parent.grants[0].bounds)
    if not beyond:
        return None
    first = beyond[0]
    return Refusal(
        RefusalKind.BAD_INPUT,
        f"a delegated grant stays within its parent in every dimension, and this reaches beyond it in its {first}; "
        "what the parent bounds cannot be left out",
        code=_CODES.get(first, Code.GRANT_CONSTRAINT),
        pointer=_POINTERS.get(first, f"/{first}"),
        values={"dimension": first, "dimensions": list(beyond)},
    )


async def _why_not_to(lane: Lane, by: str, subject: str) -> Refusal | None:
    if await principals.find(lane.tx, lane.head.tenant, subject) is None:
        return Refusal(RefusalKind.BAD_INPUT, "there is no such principal", pointer="/subject")
    if await queries.count(lane.tx, lane.head.tenant, by, subject, lane.now) >= MOST:
        return Refusal(RefusalKind.CONFLICT, f"the subject has {MOST} grants of yours in force; revoke one first")
    return None


async def _stopped(lane: Lane, rows: queries.Rows) -> bool:
    subjects = {str(row["subject"]) for row in rows}
    return bool(subjects & await revocations.of_principals(lane.tx, lane.head.tenant))


def _not_found(grant_id: str) -> Refusal:
    return Refusal(RefusalKind.NOT_FOUND, f"there is no grant {grant_id}")


def _recorded(grant: Grant) -> dict[str, Json]:
    expires_at = grant.bounds.expires_at
    return {
        "grant_id": grant.id,
        "parent": grant.parent,
        "subject": grant.subject,
        **grant.bounds.stated(),
        "expires_at": None if expires_at is None else timestamp(expires_at),
        "delegable": grant.delegable,
    }
