"""What the stored state has against a call: a revocation, evidence, spend, effects."""

from collections.abc import Sequence
from decimal import Decimal

from app.core.actions import Verification
from app.core.checks import spend_check, verification_check
from app.core.codes import Trigger
from app.gate import skepticism
from app.gate.asked import Asked
from app.gate.authorisation import revoked
from app.gate.effect_checks import check_effects
from app.gate.lane import Lane


def check_stored(lane: Lane, asked_: Asked) -> Sequence[Trigger]:
    """Return every check that fires; all are made, and none ends the others."""
    weighing = asked_.weighing
    checks = [
        revoked(lane.authority, asked_.caller.principal, asked_.call.action.name),
        verification_check(weighing.knobs, verification_of(lane, asked_)),
        *_spend_checks(lane, asked_),
        *check_effects(lane, weighing.effects, weighing.terms.max_attempts),
    ]
    return [check for check in checks if check is not None]


def verification_of(lane: Lane, asked_: Asked) -> Verification | None:
    """Return what counts as verified: what was posted for this call, or what the skeptic makes of the finding."""
    if asked_.call.verification_id is None:
        return skepticism.of_finding(asked_.call, asked_.caller)
    found = lane.evidence.counting(asked_.call.verification_id, asked_.digest)
    return None if found is None else skepticism.counted(found.verification, found.made_by, asked_.caller)


def _spend_checks(lane: Lane, asked_: Asked) -> Sequence[Trigger | None]:
    cost = asked_.weighing.cost
    amount = Decimal(0) if cost is None else cost.amount
    return [
        spend_check(limit, scope, *lane.spend.room(limit, scope), limit.takes(amount))
        for limit, scope in asked_.weighing.limits
    ]
