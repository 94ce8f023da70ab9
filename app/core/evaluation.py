"""A what-if: a decision over a given policy and given facts, with nothing stored and nothing looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from app.core.actions import Call, Caller, Verification
from app.core.checks import spend_check, verification_check
from app.core.codes import Trigger
from app.core.decision import Decision, decide
from app.core.policy.policies import Policy
from app.core.policy.weighing import Weighing


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A call with the facts that would otherwise be looked up; all of it is taken as attested and literal.

    `spent` is by scope, in the currency of the limit that looks at it, or a number of calls. A finding of the call
    gives its severity only; what counts as verification is `verification`.
    """

    call: Call
    verification: Verification | None = None
    spent: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The decision, and what the policy made of the call."""

    decision: Decision
    weighing: Weighing


def evaluate(policy: Policy, what_if: WhatIf, caller: Caller, now: datetime) -> Evaluation:
    """Return what the policy would answer."""
    weighing = policy.weigh(what_if.call, caller, now, literal=True)
    found = [verification_check(weighing.knobs, what_if.verification), *_spend(weighing, what_if.spent)]
    triggered = [*weighing.triggered, *(trigger for trigger in found if trigger is not None)]
    return Evaluation(decide(triggered, what_if.call.advice), weighing)


def _spend(weighing: Weighing, spent: Mapping[str, Decimal]) -> list[Trigger | None]:
    cost = Decimal() if weighing.cost is None else weighing.cost.amount
    return [
        spend_check(limit, scope, Decimal(), spent.get(scope, Decimal()), limit.takes(cost))
        for limit, scope in weighing.limits
    ]
