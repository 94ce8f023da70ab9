"""An admission, as the spend room sees it."""

from app.core.policy.templates import OF_SYSTEM
from app.effects.admissions import Admission
from app.spend.holds import Hold


def hold_of(admission: Admission) -> Hold:
    """Return what the admission holds, on which scopes, since when."""
    return Hold(
        admission_id=admission.id,
        scopes=(*admission.scopes, *map(scope_of_grant, admission.budgets)),
        amount=admission.amount,
        currency=admission.currency,
        taken_at=admission.created_at,
        action=admission.action,
    )


def scope_of_grant(grant_id: str) -> str:
    """Return the scope that a grant's budget is counted on; no policy, caller or operator can name it."""
    return f"{OF_SYSTEM}grant:{grant_id}"
