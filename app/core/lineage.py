"""A grant with all that it was delegated from, and what it says of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from app.core.actions import Call, Caller
from app.core.codes import Code, Trigger
from app.core.grants import Bounds, Dimension
from app.core.outcomes import Outcome
from app.core.policy.conditions import Condition, UndeterminedError
from app.core.policy.weighing import Weighing
from app.core.values import Json

DEEPEST: Final = 16
"""How many grants a lineage has at most, the root included."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant. `parent` is what it was delegated from, None if it is a root. Its terms never change."""

    id: str
    subject: str
    bounds: Bounds
    delegable: bool = False
    parent: str | None = None
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A call as grants look at it: as its policy has weighed it, at one moment."""

    call: Call
    caller: Caller
    weighing: Weighing
    now: datetime
    _known: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def satisfies(self, condition: Condition) -> bool:
        """Return whether the condition is true of the call; one that cannot be evaluated is not."""
        if condition.text not in self._known:
            self._known[condition.text] = self._evaluated(condition)
        return self._known[condition.text]

    def _evaluated(self, condition: Condition) -> bool:
        facts = self.weighing.facts(self.call, self.caller, self.now, condition.reads)
        try:
            return condition.holds(facts)
        except UndeterminedError:
            return False


@dataclass(frozen=True, slots=True)
class Lineage:
    """A grant, first, and each that it was delegated from, the root last. Every one of them has to permit a call."""

    grants: tuple[Grant, ...]

    @property
    def id(self) -> str:
        """Return the id of the grant itself."""
        return self.grants[0].id

    def covers(self, action: str) -> bool:
        """Return whether the grants are about this action, whatever else they say."""
        return all(any(pattern.matches(action) for pattern in grant.bounds.actions) for grant in self.grants)

    def expired(self, now: datetime) -> bool:
        """Return whether one of the grants is over."""
        ends = (grant.bounds.expires_at for grant in self.grants)
        return any(end is not None and end <= now for end in ends)

    def objection(self, case: Case) -> Trigger | None:
        """Return why a call may not be asked under this grant, without knowing what is left of its budgets."""
        if not self.covers(case.call.action.name):
            return NO_GRANT
        if self.expired(case.now):
            return self.over()
        left_out = next(filter(None, (_left_out(grant.bounds, case) for grant in self.grants)), None)
        if left_out is not None:
            return self._constraint(left_out)
        cost = case.weighing.cost
        if cost is not None and any(cost.amount > amount for _, amount in self.budgets(cost.currency)):
            return self.exhausted({})
        return None

    def budgets(self, currency: str) -> list[tuple[str, Decimal]]:
        """Return the grants that have a budget in this currency, by id, each with its amount."""
        bounded = ((grant.id, grant.bounds.budgets) for grant in self.grants)
        return [(name, budgets[currency]) for name, budgets in bounded if budgets is not None and currency in budgets]

    @property
    def budgeted(self) -> tuple[str, ...]:
        """Return the ids of the grants that have a budget: each is charged."""
        return tuple(grant.id for grant in self.grants if grant.bounds.budgets is not None)

    def over(self) -> Trigger:
        """Return the check that fires when the grant, or one that it was delegated from, has expired."""
        return Trigger(Code.GRANT_EXPIRED, Outcome.DENY, f"the grant {self.id} has expired", {"grant": self.id})

    def exhausted(self, private: Mapping[str, Json]) -> Trigger:
        """Return the check that fires when a budget has no room; `private` are the totals."""
        message = f"the grant {self.id}, or one that it was delegated from, has no room for this in its budget"
        return Trigger(Code.GRANT_BUDGET, Outcome.DENY, message, {"grant": self.id}, private)

    def _constraint(self, dimension: Dimension) -> Trigger:
        message = f"the grant {self.id} does not extend to this call: its {dimension} leave it out"
        return Trigger(Code.GRANT_CONSTRAINT, Outcome.DENY, message, {"grant": self.id, "dimension": dimension})


NO_GRANT: Final = Trigger(Code.NO_GRANT, Outcome.DENY, "the principal has no grant for this action")
"""What fires where nothing permits the question."""


def trace(grant_id: str, known: Mapping[str, Grant]) -> Lineage | None:
    """Walk from a grant to its root; None if one on the way is revoked, unknown, or was never to be delegated.

    A grant that could not be read is unknown: it harms those that were delegated from it, and nobody else's.
    """
    grants: list[Grant] = []
    wanted: str | None = grant_id
    while wanted is not None:
        grant = known.get(wanted)
        if grant is None or grant.revoked or len(grants) == DEEPEST or (grants and not grant.delegable):
            return None
        grants.append(grant)
        wanted = grant.parent
    return Lineage(tuple(grants))


def _left_out(bounds: Bounds, case: Case) -> Dimension | None:
    weighing = case.weighing
    if bounds.assets is not None and not any(glob.matches(weighing.named_asset) for glob in bounds.assets):
        return Dimension.ASSETS
    if bounds.environments is not None and weighing.environment not in bounds.environments:
        return Dimension.ENVIRONMENTS
    if bounds.budgets is not None and weighing.cost is not None and weighing.cost.currency not in bounds.budgets:
        return Dimension.BUDGETS
    return None if all(map(case.satisfies, bounds.conditions)) else Dimension.CONDITIONS
