"""The rules of an action: the first that matches gives the base outcome."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome, strongest
from app.core.policy.conditions import Condition, UndeterminedError
from app.core.policy.facts import Facts
from app.core.policy.labels import Around, read_condition
from app.core.policy.places import Place


@dataclass(frozen=True, slots=True)
class Rule:
    """An outcome for the calls of which the condition holds; for all calls if there is none."""

    decision: Outcome
    when: Condition | None = None
    reason: str = ""


def weigh(rules: Sequence[Rule], action: str, facts: Facts) -> list[Trigger]:
    """Return what the rules say of a call: nothing if they allow it, or if there are none.

    A rule whose condition cannot be evaluated is not one that does not match. The call is then held at least, the
    rule's own outcome stands, and so does what the later rules give.
    """
    fired: list[Trigger] = []
    for number, rule in enumerate(rules, 1):
        try:
            matches = rule.when is None or rule.when.holds(facts)
        except UndeterminedError as error:
            fired.append(_undetermined(number, rule, action, str(error)))
            continue
        if matches:
            return [*fired, *_base(number, rule, action)]
    if rules:
        fired.append(Trigger(Code.NO_RULE, Outcome.DENY, f"no rule of {action} matches"))
    return fired


def _base(number: int, rule: Rule, action: str) -> Iterator[Trigger]:
    if rule.decision is not Outcome.ALLOW:
        message = rule.reason or f"rule {number} of {action} says {rule.decision}"
        yield Trigger(Code.RULE, rule.decision, message, {"rule": number})


def _undetermined(number: int, rule: Rule, action: str, cause: str) -> Trigger:
    outcome = strongest([rule.decision, Outcome.REQUIRE_HUMAN])
    message = f"rule {number} of {action} could not be evaluated: {cause}"
    return Trigger(Code.CONDITION_UNDETERMINED, outcome, message, {"rule": number, "cause": cause})


_RULE: Final = ("when", "decision", "reason")


def read_rules(place: Place, around: Around) -> tuple[Rule, ...]:
    """Return the rules of the list that stands here; an empty one would say nothing and allow."""
    if place.value == []:
        place.complain("no rule; write `decision: deny`, or leave `rules` out for the knobs to decide")
    return tuple(_read_rule(element, around) for element in place.elements())


def _read_rule(place: Place, around: Around) -> Rule:
    members = place.members(_RULE, ("decision",))
    return Rule(
        decision=members["decision"].choice(Outcome) if "decision" in members else Outcome.DENY,
        when=read_condition(members["when"], around) if "when" in members else None,
        reason=members["reason"].text() if "reason" in members else "",
    )
