"""The permit of one admission."""

from app.core.actions import Call
from app.core.permits import arguments_sha256
from app.effects.admissions import Admission
from app.gate.lane import Lane


def issue(lane: Lane, admission: Admission, call: Call) -> str:
    """Return the permit that a tool may ask for before it acts; it ends with the lease."""
    claims = {
        "jti": admission.id,
        "sub": admission.principal,
        "tenant": lane.tenant,
        "action": call.action.name,
        "arguments_sha256": arguments_sha256(call.action.arguments),
        "effect": admission.effects,
    }
    return lane.permits.issue(claims, issued_at=lane.now, expires_at=admission.expires_at)
