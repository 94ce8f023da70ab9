"""Who may see an admission: its principal, and holders of `report` or `resolve`; to others it does not exist.

Its principal and holders of `report` also say what becomes of it.
"""

from app.core.actions import Caller
from app.core.refusals import Refusal, RefusalKind
from app.effects.admissions import Admission
from app.gate.authorisation import forbidden
from app.gate.lane import Lane


def find(lane: Lane, caller: Caller, admission_id: str) -> Admission | Refusal:
    """Return the admission, or the answer that an unknown id gets."""
    admission = lane.effects.get(admission_id)
    if admission is None or not may_see(caller, admission.principal):
        return not_found(admission_id)
    return admission


def find_to_speak_for(lane: Lane, caller: Caller, admission_id: str) -> Admission | Refusal:
    """Return the admission, if the caller may report on it and extend it, or the answer to somebody who may not."""
    found = find(lane, caller, admission_id)
    if isinstance(found, Refusal) or found.principal == caller.principal or caller.may("report"):
        return found
    return forbidden("report")


def may_see(caller: Caller, principal: str) -> bool:
    """Return whether the caller may see an admission of the principal."""
    return caller.principal == principal or caller.may("report") or caller.may("resolve")


def not_found(admission_id: str) -> Refusal:
    """Return the answer to an id that does not exist, or not for this caller."""
    return Refusal(RefusalKind.NOT_FOUND, f"there is no admission {admission_id}")
