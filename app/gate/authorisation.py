"""Whether the credential behind a command still stands and gives the right, as read under the head's lock."""

from app.core.actions import Caller
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.gate.lane import Lane


def authorise(lane: Lane, credential_id: str, right: str) -> Caller | Refusal:
    """Return who the credential stands for today, or why it does not."""
    identity = lane.authority.identify(credential_id, lane.now)
    if identity is None:
        return Refusal(
            RefusalKind.UNAUTHENTICATED, "the key is revoked or has expired; ask an administrator for a new one"
        )
    if not identity.caller.may(right):
        return forbidden(right)
    return identity.caller


def revoked(lane: Lane, principal: str, action: str) -> Trigger | None:
    """Return the check that fires while a revocation stops this principal from this action."""
    found = lane.authority.revocation_of(principal, action)
    if found is None:
        return None
    return Trigger(Code.REVOKED, Outcome.DENY, "an operator has stopped this", {"revocation_id": found.id})


def forbidden(right: str) -> Refusal:
    """Return the refusal of a caller without a right."""
    return Refusal(RefusalKind.FORBIDDEN, f"this needs the right {right}, which the key does not have")
