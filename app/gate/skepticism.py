"""What counts as verified: no principal is the only witness of its own findings."""

from app.core.actions import Call, Caller, Verification
from app.core.verification import skeptic


def of_finding(call: Call, caller: Caller) -> Verification | None:
    """Return what the built-in skeptic makes of the finding that came with a call, where that counts."""
    if call.finding is None:
        return None
    verdict = skeptic(call.finding)
    return counted(Verification(verdict.survives, verdict.confidence), caller.principal, caller)


def counted(verification: Verification, made_by: str, caller: Caller) -> Verification | None:
    """Return the verification if it counts for this caller.

    A refutation always counts. What the acting principal itself says survives does not, unless its credential
    attests: else every agent would be its own witness.
    """
    if verification.survives and made_by == caller.principal and not caller.may("attest"):
        return None
    return verification
