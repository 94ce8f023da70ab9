"""The decision: the strongest of what fired stands, and advice can only raise it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.core.actions import Advice
from app.core.codes import Code, Trigger, in_order
from app.core.outcomes import Outcome, stronger, strongest

NOTHING_FIRED = "no check fired"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome with everything that led to it.

    `policy_outcome` is what stands without advice; `advised_outcome` the strongest advice, None if there was none;
    `escalated` tells that the advice raised the outcome.
    """

    outcome: Outcome
    triggered: tuple[Trigger, ...]
    reason: str
    policy_outcome: Outcome
    advised_outcome: Outcome | None = None
    escalated: bool = False


def decide(triggered: Iterable[Trigger], advice: Sequence[Advice] = ()) -> Decision:
    """Return the decision over what fired, in the order of the table, and over the advice."""
    fired = in_order(triggered)
    policy_outcome = strongest(trigger.outcome for trigger in fired)
    raising = [one for one in advice if stronger(one.outcome, policy_outcome)]
    fired = (*fired, *map(_advised, raising))
    outcome = strongest([policy_outcome, *(one.outcome for one in raising)])
    return Decision(
        outcome=outcome,
        triggered=fired,
        reason=_reason(fired),
        policy_outcome=policy_outcome,
        advised_outcome=strongest(one.outcome for one in advice) if advice else None,
        escalated=bool(raising),
    )


def with_check(decision: Decision, trigger: Trigger) -> Decision:
    """Return the decision with a further check that fired."""
    fired = in_order((*decision.triggered, trigger))
    outcome = strongest((decision.outcome, trigger.outcome))
    return replace(decision, outcome=outcome, triggered=fired, reason=_reason(fired))


def _reason(fired: Sequence[Trigger]) -> str:
    return "; ".join(trigger.message for trigger in fired) or NOTHING_FIRED


def _advised(advice: Advice) -> Trigger:
    who = advice.by or "the caller"
    note = f": {advice.note}" if advice.note else ""
    return Trigger(Code.ADVICE, advice.outcome, f"{who} advises {advice.outcome}{note}", {"by": advice.by})
