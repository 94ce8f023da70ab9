"""An explanation: every rule and check of a policy with the values that it saw, for whoever may see them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from app.core.actions import Call, Caller
from app.core.codes import Code
from app.core.decision import Decision
from app.core.money import Money
from app.core.policy import Policy, Weighing, resolution
from app.core.policy.actions import ActionPolicy
from app.core.policy.comparisons import Comparison
from app.core.policy.conditions import Condition, UndeterminedError
from app.core.policy.facts import VARIABLES, Facts
from app.core.policy.labels import LabelRule, MalformedRule, RadiusRule, Rule, holds
from app.core.policy.weighing import Scale
from app.core.values import Json


class Result(StrEnum):
    """What became of a rule. A rule after the first that matched was not asked."""

    MATCHED = "matched"
    NOT_MATCHED = "not_matched"
    UNDETERMINED = "undetermined"
    NOT_REACHED = "not_reached"


@dataclass(frozen=True, slots=True)
class RuleSeen:
    """A rule, counted from 1, its condition as text, what became of it, and the values that it looked at."""

    rule: int
    when: str | None
    result: Result
    saw: Mapping[str, Json] = field(default_factory=dict)
    cause: str | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """A check, whether it fired, and what it compared."""

    code: Code
    fired: bool
    saw: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that was asked of a call."""

    label_rules: tuple[RuleSeen, ...]
    rules: tuple[RuleSeen, ...]
    checks: tuple[CheckSeen, ...]


def explain(
    policy: Policy, call: Call, caller: Caller, now: datetime, weighing: Weighing, decision: Decision
) -> Explanation:
    """Return how the policy came to a decision that was made of this weighing."""
    action = policy.action(call.action.name)
    scale = Scale(action, call, caller, Facts(call, caller, now, action.reads), literal=False)
    scale.asset()
    scale.cost()
    resolution.show_declared(action, caller, scale.facts)
    label_rules = tuple(_label_rule(number, rule, scale.facts) for number, rule in enumerate(action.labels.derive, 1))
    scale.labels()
    rules = tuple(_rules(action, scale.facts))
    fired = {trigger.code for trigger in decision.triggered}
    checks = tuple(CheckSeen(code, code in fired, saw(call, weighing)) for code, saw in _CHECKS.items())
    return Explanation(label_rules, rules, checks)


def _label_rule(number: int, rule: Rule, facts: Facts) -> RuleSeen:
    match rule:
        case MalformedRule(why):
            return RuleSeen(number, None, Result.UNDETERMINED, cause=why)
        case LabelRule(when=when):
            return _seen(number, when, facts)
        case RadiusRule(argument=argument, when=when):
            seen = _seen(number, when, facts)
            return RuleSeen(number, seen.when, seen.result, {**seen.saw, **_argument(argument, facts)}, seen.cause)


def _rules(action: ActionPolicy, facts: Facts) -> Iterator[RuleSeen]:
    reached = True
    for number, rule in enumerate(action.rules, 1):
        when = rule.when.text if rule.when else None
        if not reached:
            yield RuleSeen(number, when, Result.NOT_REACHED, decision=rule.decision.value)
            continue
        seen = _seen(number, rule.when, facts)
        yield RuleSeen(number, when, seen.result, seen.saw, seen.cause, rule.decision.value)
        reached = seen.result is not Result.MATCHED


def _seen(number: int, when: Comparison | Condition | None, facts: Facts) -> RuleSeen:
    if when is None:
        return RuleSeen(number, None, Result.MATCHED)
    text, saw = _text(when), _saw(when, facts)
    try:
        result = Result.MATCHED if holds(when, facts) else Result.NOT_MATCHED
    except UndeterminedError as error:
        return RuleSeen(number, text, Result.UNDETERMINED, saw, str(error))
    return RuleSeen(number, text, result, saw)


def _text(when: Comparison | Condition) -> str:
    return when.text if isinstance(when, Condition) else f"{when.argument} {when.operator} {when.value}"


def _saw(when: Comparison | Condition, facts: Facts) -> Mapping[str, Json]:
    if isinstance(when, Comparison):
        return _argument(when.argument, facts)
    return {path: value for path in sorted(when.reads) if (value := _read(path, when.reads, facts)) is not _ABSENT}


_ABSENT: Final = object()


def _read(path: str, reads: frozenset[str], facts: Facts) -> Any:  # noqa: ANN401  # any JSON, or absent
    """Return what stands at `name` or `name.member`; a name of whose members some are read stands for those alone."""
    name, _, member = path.partition(".")
    if not member and any(other.startswith(f"{name}.") for other in reads):
        return _ABSENT
    value = VARIABLES[name](facts)
    if not member:
        return value.isoformat() if isinstance(value, datetime) else value
    return value.get(member, _ABSENT)


def _argument(name: str, facts: Facts) -> Mapping[str, Json]:
    arguments = facts.call.action.arguments
    return {f"arguments.{name}": arguments[name]} if name in arguments else {}


def _money(money: Money | None) -> Json:
    return None if money is None else money.as_json()


_CHECKS: Final[Mapping[Code, Callable[[Call, Weighing], Mapping[str, Json]]]] = {
    Code.LABEL_DENIED: lambda _, weighing: {
        "labels": list(weighing.labels), "deny_for": sorted(weighing.knobs.deny_for)
    },
    Code.SANDBOX_REQUIRED: lambda _, weighing: {
        "labels": list(weighing.labels), "require_sandbox_for": sorted(weighing.knobs.require_sandbox_for)
    },
    Code.SEVERITY_BELOW_MINIMUM: lambda call, weighing: {
        "severity": None if call.finding is None else call.finding.severity,
        "min_severity": weighing.knobs.min_severity.value,
    },
    Code.VERIFICATION_MISSING: lambda _, weighing: {"required": weighing.knobs.require_verification_score},
    Code.VERIFICATION_REFUTED: lambda _, weighing: {"required": weighing.knobs.require_verification_score},
    Code.VERIFICATION_BELOW_BAR: lambda _, weighing: {"required": weighing.knobs.require_verification_score},
    Code.BLAST_RADIUS_EXCEEDED: lambda _, weighing: {
        "blast_radius": weighing.blast_radius, "max_blast_radius": weighing.knobs.max_blast_radius
    },
    Code.COST_OVER_LIMIT: lambda _, weighing: {
        "cost": _money(weighing.cost), "require_human_over": _money(weighing.knobs.require_human_over)
    },
    Code.SPEND_LIMIT_EXCEEDED: lambda _, weighing: {
        "limits": [{"limit": limit.name, "scope": scope} for limit, scope in weighing.limits]
    },
    Code.LABEL_REQUIRES_HUMAN: lambda _, weighing: {
        "labels": list(weighing.labels), "require_human_for": sorted(weighing.knobs.require_human_for)
    },
}  # fmt: skip
"""The ten checks of the knobs, and what each of them compares."""
