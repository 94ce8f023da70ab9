"""What a policy says an action is: its environment, kind, tags and radius, declared and derived from arguments."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from app.core.policy.argument_types import Arguments
from app.core.policy.comparisons import OPERATORS, Comparison
from app.core.policy.conditions import Condition, ConditionError, UndeterminedError, compile_condition
from app.core.policy.facts import Facts
from app.core.policy.places import Place
from app.core.policy.problems import alternatives, shown
from app.core.values import GREATEST_INTEGER, Json, JsonObject

When: TypeAlias = Comparison | Condition

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONGEST_INTEGER: Final = 17


@dataclass(frozen=True, slots=True)
class LabelRule:
    """When it holds, these tags, this kind and this environment."""

    when: When
    add_tags: frozenset[str] = frozenset()
    set_kind: str = ""
    set_environment: str = ""


@dataclass(frozen=True, slots=True)
class RadiusRule:
    """When it holds, as many things as an argument counts (`count`) or states (`value`); `default` if it cannot say."""

    argument: str
    counts: bool
    default: int | None = None
    when: When | None = None


@dataclass(frozen=True, slots=True)
class MalformedRule:
    """A rule that cannot mean anything: undetermined on every call, so that it holds the call until it is mended."""

    why: str


Rule: TypeAlias = LabelRule | RadiusRule | MalformedRule


@dataclass(frozen=True, slots=True)
class Undetermined:
    """A rule, counted from 1, that could not be evaluated, and why."""

    rule: int
    cause: str


@dataclass(slots=True)
class Resolved:
    """What the policy says of one call. Environment and kind are empty where it says nothing."""

    environment: str
    kind: str
    tags: frozenset[str]
    blast_radius: int
    undetermined: list[Undetermined] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Declaration:
    """The labels of an action as declared, and the rules that derive more."""

    environment: str = ""
    kind: str = ""
    tags: frozenset[str] = frozenset()
    blast_radius: int = 1
    derive: tuple[Rule, ...] = ()

    def resolve(self, facts: Facts) -> Resolved:
        """Return what the declaration says of a call; each rule that holds applies, in order."""
        resolved = Resolved(self.environment, self.kind, self.tags, self.blast_radius)
        for number, rule in enumerate(self.derive, 1):
            try:
                _apply(rule, facts, resolved)
            except UndeterminedError as error:
                resolved.undetermined.append(Undetermined(number, str(error)))
        return resolved


def holds(when: When, facts: Facts) -> bool:
    """Return whether a rule's `when` holds.

    Raises:
        UndeterminedError: it cannot be evaluated.
    """
    if isinstance(when, Comparison):
        return when.holds(facts.call.action.arguments)
    return when.holds(facts)


def _apply(rule: Rule, facts: Facts, resolved: Resolved) -> None:
    match rule:
        case MalformedRule(why):
            raise UndeterminedError(why)
        case LabelRule(when) if holds(when, facts):
            resolved.tags |= rule.add_tags
            resolved.kind = rule.set_kind or resolved.kind
            resolved.environment = rule.set_environment or resolved.environment
        case RadiusRule(when=when) if when is None or holds(when, facts):
            _widen(rule, facts.call.action.arguments, resolved)


def _widen(rule: RadiusRule, arguments: JsonObject, resolved: Resolved) -> None:
    try:
        radius = _radius(rule, arguments)
    except UndeterminedError:
        resolved.blast_radius = max(resolved.blast_radius, rule.default or 0)
        raise
    resolved.blast_radius = max(resolved.blast_radius, radius)


def _radius(rule: RadiusRule, arguments: JsonObject) -> int:
    if rule.argument not in arguments:
        raise UndeterminedError(f"the argument {shown(rule.argument)} is missing")
    value = arguments[rule.argument]
    radius = _size(value) if rule.counts else _stated(value)
    if radius is None:
        what = "has no elements to count" if rule.counts else "is no integer"
        raise UndeterminedError(f"the argument {shown(rule.argument)} {what}")
    return min(radius, GREATEST_INTEGER)


def _size(value: Json) -> int | None:
    return len(value) if isinstance(value, (list, tuple, Mapping)) else None


def _stated(value: Json) -> int | None:
    """Return the integer that a value states: a fraction is cut toward zero, a text must be an integer literal."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return math.trunc(value) if math.isfinite(value) else None
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        return None
    digits = value.lstrip("+-0") or "0"
    size = int(digits) if len(digits) < _LONGEST_INTEGER else GREATEST_INTEGER
    return -size if value.startswith("-") else size


_LABELS: Final = ("environment", "kind", "tags", "blast_radius", "derive")
_LABEL_RULE: Final = ("when", "add_tags", "set_kind", "set_environment")
_SETS: Final = _LABEL_RULE[1:]
_RULE: Final = (*_LABEL_RULE, "blast_radius")
_RADIUS: Final = ("arg", "agg", "default")


@dataclass(frozen=True, slots=True)
class Around:
    """What a rule of an action stands in: the arguments that it may read, and whether the cost has a currency."""

    arguments: Arguments
    currency_fixed: bool


def read_declaration(place: Place, around: Around) -> Declaration:
    """Return the declaration that stands here."""
    members = place.members(_LABELS)
    return Declaration(
        environment=_trimmed(members, "environment"),
        kind=_trimmed(members, "kind"),
        tags=frozenset(members["tags"].name_or_names()) if "tags" in members else frozenset(),
        blast_radius=members["blast_radius"].integer(0) if "blast_radius" in members else 1,
        derive=tuple(_read_rules(members["derive"], around)) if "derive" in members else (),
    )


def _trimmed(members: Mapping[str, Place], name: str) -> str:
    return members[name].text().strip() if name in members else ""


def _read_rules(place: Place, around: Around) -> Iterator[Rule]:
    for element in place.elements():
        yield _read_rule(element, around)


def _read_rule(place: Place, around: Around) -> Rule:
    members = place.members(_RULE)
    when = read_when(members["when"], around) if "when" in members else None
    if isinstance(when, MalformedRule):
        return when
    if "blast_radius" in members:
        if members.keys() & set(_SETS):
            return MalformedRule("it has a blast_radius and sets labels; make it two rules")
        return _read_radius(members["blast_radius"], when)
    rule = LabelRule(
        when=when or Comparison("", "eq", None),
        add_tags=frozenset(members["add_tags"].name_or_names()) if "add_tags" in members else frozenset(),
        set_kind=_trimmed(members, "set_kind"),
        set_environment=_trimmed(members, "set_environment"),
    )
    if when is None:
        return MalformedRule("it has no `when`")
    return rule if rule.add_tags or rule.set_kind or rule.set_environment else MalformedRule("it sets nothing")


def _read_radius(place: Place, when: When | None) -> Rule:
    members = place.members(_RADIUS)
    default = members["default"].integer(0) if "default" in members else None
    agg = members["agg"].value if "agg" in members else None
    if agg not in {"count", "value", None}:
        members["agg"].complain("expected count or value")
    argument = members["arg"].value if "arg" in members else None
    if not isinstance(argument, str) or agg is None:
        return MalformedRule("its blast_radius needs both `arg` and `agg`")
    return RadiusRule(argument, agg == "count", default, when)


def read_when(place: Place, around: Around) -> When | MalformedRule:
    """Return the comparison or the condition that stands here."""
    if isinstance(place.value, str):
        return read_condition(place, around) or MalformedRule("its condition is not one")
    members = place.members(("arg", *OPERATORS))
    operators = [name for name in members if name != "arg"]
    argument = members["arg"].value if "arg" in members else None
    if not isinstance(argument, str):
        return MalformedRule("its `when` has no `arg`")
    if len(operators) != 1:
        return MalformedRule(f"its `when` needs one operator: {alternatives(OPERATORS)}")
    value = members[operators[0]].value
    if operators[0] == "in" and not isinstance(value, list):
        return MalformedRule("its `in` needs a list")
    return Comparison(argument, operators[0], value)


def read_condition(place: Place, around: Around) -> Condition | None:
    """Return the CEL condition that stands here, or None after a complaint."""
    if not isinstance(place.value, str):
        place.expected("text: a condition")
        return None
    try:
        return compile_condition(place.value, around.arguments, currency_fixed=around.currency_fixed)
    except ConditionError as error:
        place.complain(str(error))
        return None
