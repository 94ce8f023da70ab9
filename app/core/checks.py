"""The checks of SEMANTICS section 1, each by itself: what fires, with which outcome and which values.

All of them are made, none ends the others. Equal passes. A sentence and its values hold what the caller sent and what
the policy states; totals of what is stored go to `private`.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from decimal import Decimal

from app.core.actions import Finding, Verification
from app.core.codes import Code, Trigger
from app.core.money import Money, format_amount
from app.core.outcomes import Outcome
from app.core.policy.knobs import RANKS, Knobs
from app.core.policy.limits import Limit, Metric
from app.core.policy.resolution import SANDBOXED

NO_POLICY = Trigger(Code.NO_POLICY, Outcome.DENY, "no policy is active; a policy administrator has to activate one")
"""What fires before a tenant's first activation."""


def of_knobs(
    knobs: Knobs, labels: AbstractSet[str], blast_radius: int, cost: Money | None, finding: Finding | None
) -> Iterator[Trigger]:
    """Yield what the knobs say of a call without knowing what is stored."""
    yield from _labels(knobs, labels)
    if finding is not None and RANKS[finding.severity] < RANKS[knobs.min_severity]:
        yield Trigger(
            Code.SEVERITY_BELOW_MINIMUM,
            Outcome.DENY,
            f"the finding's severity {finding.severity} is below the minimum {knobs.min_severity}",
            {"severity": finding.severity, "minimum": knobs.min_severity.value},
        )
    if blast_radius > knobs.max_blast_radius:
        yield Trigger(
            Code.BLAST_RADIUS_EXCEEDED,
            Outcome.REQUIRE_HUMAN,
            f"the call touches {blast_radius} things, more than {knobs.max_blast_radius}",
            {"blast_radius": blast_radius, "maximum": knobs.max_blast_radius},
        )
    if cost is not None and knobs.require_human_over is not None:
        yield from _over(cost, knobs.require_human_over)


def _labels(knobs: Knobs, labels: AbstractSet[str]) -> Iterator[Trigger]:
    if denied := labels & knobs.deny_for:
        yield _label(Code.LABEL_DENIED, Outcome.DENY, denied, "denied")
    if SANDBOXED not in labels and (unsafe := labels & knobs.require_sandbox_for):
        yield _label(Code.SANDBOX_REQUIRED, Outcome.DENY, unsafe, "allowed only in a sandbox")
    if held := labels & knobs.require_human_for:
        yield _label(Code.LABEL_REQUIRES_HUMAN, Outcome.REQUIRE_HUMAN, held, "decided by a person")


def _label(code: Code, outcome: Outcome, labels: AbstractSet[str], what: str) -> Trigger:
    found = sorted(labels)
    return Trigger(code, outcome, f"what is labelled {', '.join(found)} is {what}", {"labels": found})


def _over(cost: Money, over: Money) -> Iterator[Trigger]:
    if cost.currency == over.currency and cost.amount > over.amount:
        yield Trigger(
            Code.COST_OVER_LIMIT,
            Outcome.REQUIRE_HUMAN,
            f"the cost of {cost} is over {over}",
            {"cost": format_amount(cost.amount), "over": format_amount(over.amount), "currency": cost.currency},
        )


def verification_check(knobs: Knobs, verification: Verification | None) -> Trigger | None:
    """Return what the required score says of the verification that counts for the call; with a score of 0, nothing."""
    score = knobs.require_verification_score
    if score <= 0:
        return None
    if verification is None:
        return Trigger(
            Code.VERIFICATION_MISSING,
            Outcome.REQUIRE_HUMAN,
            "the call has no verification that counts",
            {"required": score},
        )
    if not verification.survives:
        return Trigger(Code.VERIFICATION_REFUTED, Outcome.DENY, "the finding was refuted", {"required": score})
    if verification.confidence < score:
        confidence = round(verification.confidence, 4)
        return Trigger(
            Code.VERIFICATION_BELOW_BAR,
            Outcome.REQUIRE_HUMAN,
            f"the verification's confidence {confidence:g} is below {score:g}",
            {"confidence": confidence, "required": score},
        )
    return None


def spend_check(limit: Limit, scope: str, held: Decimal, spent: Decimal, cost: Decimal) -> Trigger | None:
    """Return the refusal of a call that the limit has no room for on the scope, or None if it has.

    `held`, `spent` and `cost` are in the limit's currency, or numbers of calls if it counts.
    """
    if held + spent + cost <= limit.amount:
        return None
    counts = limit.metric is Metric.COUNT
    amounts = {"held": held, "spent": spent, "left": max(Decimal(), limit.amount - held - spent)}
    return Trigger(
        Code.SPEND_LIMIT_EXCEEDED,
        Outcome.DENY,
        f"the limit {limit.name} has no room left for this on {scope}",
        {
            "limit": limit.name,
            "scope": scope,
            "cost": _plain(cost, counts=counts),
            "amount": _plain(limit.amount, counts=counts),
            **({} if limit.currency is None else {"currency": limit.currency}),
        },
        {name: _plain(amount, counts=counts) for name, amount in amounts.items()},
    )


def _plain(amount: Decimal, *, counts: bool) -> str | int:
    return int(amount) if counts else format_amount(amount)
