"""An admission, as the spend room sees it."""

from app.effects.admissions import Admission
from app.spend.holds import Hold


def hold_of(admission: Admission) -> Hold:
    """Return what the admission holds, on which scopes, since when."""
    return Hold(
        admission_id=admission.id,
        scopes=tuple(admission.scopes),
        amount=admission.amount,
        currency=admission.currency,
        taken_at=admission.created_at,
        action=admission.action,
    )
