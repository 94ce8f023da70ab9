"""Lending authority: one person's votes by another, until a deadline, and taking them back."""

from datetime import timedelta
from typing import Final

from app.approvals import delegations
from app.audit.lane import Lane
from app.core.authority import Delegation, alias
from app.core.chain import timestamp
from app.core.refusals import Refusal, RefusalKind
from app.db.ids import new_id
from app.identity import authority

LONGEST: Final = timedelta(days=365)
MOST: Final = 50
"""How many delegations one person may have in force; every process keeps all of a tenant in memory."""


async def lend(lane: Lane, lender: str, to: str, span: timedelta, labels: frozenset[str]) -> str | Refusal:
    """Lend the lender's authority and return the delegation's id. It counts from the next vote on."""
    tenant = lane.head.tenant
    refusal = _why_not(await authority.load(lane.tx, tenant), lender, to, span)
    if refusal is not None:
        return refusal
    if await delegations.count(lane.tx, tenant, lender, lane.now) >= MOST:
        return Refusal(RefusalKind.CONFLICT, f"{MOST} delegations of yours are in force; end one first")
    delegation = Delegation(new_id("dlg"), lender, to, lane.now + span, labels)
    await delegations.grant(lane.tx, tenant, delegation, lane.now)
    lane.head.authority_epoch += 1
    lane.journal.append("delegation.granted", _recorded(delegation), principal=lender)
    return delegation.id


async def take_back(lane: Lane, by: str, delegation_id: str) -> Refusal | None:
    """End a delegation at once: its lender may, and so may who got it."""
    found = await delegations.find(lane.tx, lane.head.tenant, delegation_id)
    if found is None or by not in {found.lender, found.delegate}:
        return Refusal(RefusalKind.NOT_FOUND, f"there is no delegation {delegation_id}")
    if await delegations.revoke(lane.tx, lane.head.tenant, delegation_id, by, lane.now):
        lane.head.authority_epoch += 1
        lane.journal.append("delegation.revoked", {**_recorded(found), "by": by}, principal=by)
    return None


def _why_not(known: authority.Authority | None, lender: str, to: str, span: timedelta) -> Refusal | None:
    delegate = None if known is None else known.principals.get(to)
    if delegate is None:
        return Refusal(RefusalKind.BAD_INPUT, "there is no such principal", pointer="/to")
    if delegate.kind == "agent":
        return Refusal(RefusalKind.BAD_INPUT, "an agent never decides, so nothing can be lent to it", pointer="/to")
    if alias(lender) == alias(to):
        return Refusal(RefusalKind.BAD_INPUT, "this is yourself", pointer="/to")
    if span > LONGEST:
        return Refusal(RefusalKind.BAD_INPUT, f"at most {LONGEST.days} days", pointer="/expires_in")
    return None


def _recorded(delegation: Delegation) -> dict[str, str | list[str]]:
    return {
        "delegation_id": delegation.id,
        "lender": delegation.lender,
        "delegate": delegation.delegate,
        "labels": sorted(delegation.labels),
        "until": timestamp(delegation.until),
    }
