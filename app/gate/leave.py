"""Leave: whether a caller's grants permit the question at all. It decides nothing beyond that."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.core.codes import Trigger, in_order
from app.core.lineage import NO_GRANT, Case, Lineage
from app.core.money import format_amount
from app.core.values import Json
from app.effects.admissions import Admission, Kind
from app.gate import records
from app.gate.asked import Asked
from app.gate.facts import Facts
from app.gate.holds import scope_of_grant
from app.gate.lane import Lane
from app.identity.authority import Authority
from app.spend.book import SpendBook


@dataclass(frozen=True, slots=True)
class Leave:
    """The grant under which a call may be asked, or why there is none; neither where grants are not required."""

    lineage: Lineage | None = None
    refusal: Trigger | None = None

    @property
    def grant_id(self) -> str | None:
        """Return the id of the grant."""
        return None if self.lineage is None else self.lineage.id

    @property
    def budgets(self) -> tuple[str, ...]:
        """Return the ids of the grants whose budgets the call is charged to."""
        return () if self.lineage is None else self.lineage.budgeted

    def recorded(self, spend: SpendBook, currency: str) -> dict[str, Json]:
        """Return what the record says of it: the grant, what it was delegated from, and how their budgets stand."""
        if self.lineage is None:
            return {}
        totals = records.of_totals(spend, [scope_of_grant(grant_id) for grant_id in self.budgets], currency)
        return {"grants": [grant.id for grant in self.lineage.grants], "budgets": totals}


def want(lane: Lane, asked: Asked) -> None:
    """Ask for what the caller holds; and, once that is known, for what its budgets have spent."""
    lane.grants.want(asked.caller.principal)
    if not lane.grants.required:
        return
    cost = asked.weighing.cost
    for lineage in lane.grants.held_by(asked.caller.principal):
        if lineage.covers(asked.call.action.name):
            scopes = [scope_of_grant(grant_id) for grant_id in lineage.budgeted]
            lane.spend.want_totals(scopes, "" if cost is None else cost.currency)


def find(lane: Lane, asked: Asked) -> Leave:
    """Return the first of the caller's grants that permits the call and has room for it, or the nearest refusal."""
    if not lane.grants.required:
        return Leave()
    held = _standing(lane.authority, lane.grants.held_by(asked.caller.principal))
    case = Case(asked.call, asked.caller, asked.weighing, lane.now)
    return _first(held, lambda lineage: lineage.objection(case) or _without_room(lane, asked, lineage))


def foretell(facts: Facts, case: Case) -> Trigger | None:
    """Return why no grant permits the call, for who weighs nothing that is stored: what is left is not looked at."""
    if not facts.holdings.required:
        return None
    held = _standing(facts.authority, facts.holdings.of(case.caller.principal))
    return _first(held, lambda lineage: lineage.objection(case)).refusal


def lost(lane: Lane, admission: Admission) -> Trigger | None:
    """Return why the grant that an admission was asked under permits nothing any more."""
    if not lane.grants.required or admission.kind is not Kind.ACTION:
        return None
    held = _standing(lane.authority, lane.grants.held_by(admission.principal))
    lineage = next((found for found in held if found.id == admission.grant_id), None)
    if lineage is None:
        return NO_GRANT
    return lineage.over() if lineage.expired(lane.now) else None


def _standing(authority: Authority, held: Iterable[Lineage]) -> list[Lineage]:
    """Leave out what comes from somebody whom the kill switch stops; the caller's own has a check of its own."""
    return [lineage for lineage in held if not any(authority.is_revoked(grant.subject) for grant in lineage.grants[1:])]


def _first(held: Iterable[Lineage], objection: Callable[[Lineage], Trigger | None]) -> Leave:
    """Return the first to which there is no objection; the objection that comes last in the table is the nearest."""
    objections = [NO_GRANT]
    for lineage in held:
        found = objection(lineage)
        if found is None:
            return Leave(lineage)
        objections.append(found)
    return Leave(refusal=in_order(objections)[-1])


def _without_room(lane: Lane, asked: Asked, lineage: Lineage) -> Trigger | None:
    """Return the refusal of a call that some budget of the lineage has no room for."""
    cost = asked.weighing.cost
    if cost is None:
        return None
    for grant_id, amount in lineage.budgets(cost.currency):
        sums = lane.spend.sums(scope_of_grant(grant_id), cost.currency)
        if sums.held + sums.spent + cost.amount > amount:
            totals = {"budget": amount, "held": sums.held, "spent": sums.spent}
            written = {name: format_amount(total) for name, total in totals.items()}
            return lineage.exhausted({"budget_of": grant_id, **written})
    return None
