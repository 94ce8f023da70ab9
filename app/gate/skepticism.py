"""What the built-in skeptic makes of a finding that came with a call."""

from app.core.actions import Call, Caller, Verification
from app.core.verification import skeptic


def of_finding(call: Call, caller: Caller) -> Verification | None:
    """Return the verification that counts, or None.

    A refutation always counts. A finding from the acting principal never counts as surviving, unless its credential
    attests: else every agent would be its own witness.
    """
    if call.finding is None:
        return None
    verdict = skeptic(call.finding)
    if verdict.survives and not caller.may("attest"):
        return None
    return Verification(verdict.survives, verdict.confidence)
