"""Whether the credential behind a command still stands and gives the right, as read under the head's lock."""

from app.core.actions import Caller
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.gate.lane import Lane
from app.identity.authority import Authority


def identify(lane: Lane, credential_id: str) -> Caller | Refusal:
    """Return who the credential stands for today, or that it stands for nobody any more."""
    caller = lane.authority.caller(credential_id, lane.now)
    if caller is None:
        return Refusal(
            RefusalKind.UNAUTHENTICATED, "the key is revoked or has expired; ask an administrator for a new one"
        )
    return caller


def authorise(lane: Lane, credential_id: str, *rights: str) -> Caller | Refusal:
    """Return who the credential stands for today, or why it may not do this, which takes one of the rights."""
    caller = identify(lane, credential_id)
    if isinstance(caller, Refusal) or any(map(caller.may, rights)):
        return caller
    return forbidden(*rights)


def revoked(authority: Authority, principal: str, action: str) -> Trigger | None:
    """Return the check that fires while a revocation stops this principal from this action."""
    sentence = authority.revoked(principal, action)
    return None if sentence is None else Trigger(Code.REVOKED, Outcome.DENY, sentence)


def forbidden(*rights: str) -> Refusal:
    """Return the refusal of a caller that has none of the rights."""
    return Refusal(RefusalKind.FORBIDDEN, f"this needs the right {' or '.join(rights)}, which the key does not have")
