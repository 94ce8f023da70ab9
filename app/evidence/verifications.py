"""Making verifications, outside any group."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from app.audit.lane import Lane
from app.core.actions import Verification
from app.core.chain import timestamp
from app.core.values import Json
from app.db.ids import new_id

_INSERT = text("""
    INSERT INTO verifications
        (tenant, id, action_digest, made_by, survives, confidence, refutations, created_at, expires_at)
    VALUES (:tenant, :id, :action_digest, :made_by, :survives, :confidence, :refutations, :created_at, :expires_at)
""")


@dataclass(frozen=True, slots=True)
class Made:
    """A verification as it is posted. `refutations` name what spoke against the finding, if a skeptic did."""

    action_digest: str
    verification: Verification
    life: timedelta
    refutations: tuple[str, ...] = ()


async def make(lane: Lane, principal: str, made: Made) -> dict[str, Json]:
    """Keep a verification and return it with its id; the record says who made it, and of which call."""
    identifier, expires_at = new_id("ver"), lane.now + made.life
    row = {
        "tenant": lane.head.tenant,
        "id": identifier,
        "action_digest": made.action_digest,
        "made_by": principal,
        "survives": made.verification.survives,
        "confidence": made.verification.confidence,
        "refutations": list(made.refutations),
        "created_at": lane.now,
        "expires_at": expires_at,
    }
    await lane.tx.write(_INSERT, row)
    said: dict[str, Json] = {
        "id": identifier,
        "action_digest": made.action_digest,
        "survives": made.verification.survives,
        "refutations": list(made.refutations),
        "expires_at": timestamp(expires_at),
    }
    confidence = made.verification.confidence
    lane.journal.append(
        "verification.made", {**said, "made_by": principal, "confidence": f"{confidence:.4f}"}, principal=principal
    )
    return {**said, "confidence": confidence}
