"""Remarks on rules and conditions: what is never reached, bounded on one side only, or not there."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.core.drafting import bounds
from app.core.drafting.remarks import Remark, error, warning
from app.core.policy.actions import ActionPolicy
from app.core.policy.comparisons import Comparison
from app.core.policy.conditions import Condition, members_read
from app.core.policy.labels import LabelRule, MalformedRule, RadiusRule
from app.core.policy.problems import suggestion
from app.core.policy.source import Path
from app.core.policy.syntax import Apply, Constant, Name, Select, Tree, walk

# Every rule is compared with those before it; this many, so that a very long list does not take a very long time.
_MOST_COMPARED = 200
_UPPER = frozenset({"gt", "gte", "lt", "lte"})


def lint_rules(action: ActionPolicy) -> Iterator[Remark]:
    """Yield remarks on the rules and label rules of an action."""
    yield from _malformed(action)
    yield from _unreachable(action)
    yield from _one_sided(action)
    yield from _arguments(action)
    if not action.rules:
        message = "it has neither rules nor a decision: whatever the knobs do not hold is allowed"
        yield warning("no-rules", message, "actions", action.name)


def _malformed(action: ActionPolicy) -> Iterator[Remark]:
    for place, rule in enumerate(action.labels.derive):
        if isinstance(rule, MalformedRule):
            message = f"{rule.why}; it is undetermined on every call, which holds every call"
            yield error("malformed-rule", message, "actions", action.name, "labels", "derive", place)


def _unreachable(action: ActionPolicy) -> Iterator[Remark]:
    earlier: list[bounds.Said] = []
    for place, rule in enumerate(action.rules):
        said = bounds.said(rule.when)
        covering = bounds.covered_by(earlier[:_MOST_COMPARED], said)
        if covering is not None:
            message = f"it is never reached: rule {covering + 1} matches whatever this one would"
            yield warning("unreachable-rule", message, "actions", action.name, "rules", place)
        earlier.append(said)


def _one_sided(action: ActionPolicy) -> Iterator[Remark]:
    compared: dict[str, tuple[Path, list[float]]] = {}
    for path, name, value in _numbers_compared(action):
        compared.setdefault(name, (path, []))[1].append(value)
    for name, (path, values) in compared.items():
        if min(values) > 0 and not _has_minimum(action, name):
            message = f"arguments.{name} is bounded on one side only: a negative one passes; give it a `minimum`"
            yield warning("one-sided-bound", message, *path)


def _numbers_compared(action: ActionPolicy) -> Iterator[tuple[Path, str, float]]:
    """Yield where an argument is compared with which number."""
    for path, when in conditions(action):
        if isinstance(when, Comparison):
            value = when.value
            if when.operator in _UPPER and isinstance(value, (int, float)) and not isinstance(value, bool):
                yield path, when.argument, value
            continue
        for node in walk(when.tree):
            match bounds.comparison(node):
                case (("arguments", name), interval):
                    yield path, name, interval.least if interval.most == float("inf") else interval.most


def _has_minimum(action: ActionPolicy, name: str) -> bool:
    properties = _properties(action)
    schema = properties.get(name)
    return isinstance(schema, Mapping) and bool({"minimum", "exclusiveMinimum", "enum", "const"} & schema.keys())


def _properties(action: ActionPolicy) -> Mapping[str, Any]:
    schema = action.arguments.schema if action.arguments else None
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _arguments(action: ActionPolicy) -> Iterator[Remark]:
    read = list(_arguments_read(action))
    if action.arguments is None:
        if read:
            message = "it reads arguments and has no schema for them: what is missing holds or denies the call"
            yield warning("no-schema", message, "actions", action.name)
        return
    promises = action.arguments.promises
    for path, name in read:
        if promises.names and name not in promises.names:
            message = f"the schema has no argument {name!r}: {suggestion(name, promises.names)}"
            yield warning("unknown-argument", message, *path)
    for path, when in conditions(action):
        if isinstance(when, Condition):
            for name in sorted(_unguarded(when.tree) & promises.names - promises.required):
                message = f"arguments.{name} may be missing, which holds the call: ask has(arguments.{name}) first"
                yield warning("unguarded-argument", message, *path)


def _unguarded(tree: Tree) -> set[str]:
    """Return the arguments that a condition reads as members without asking anywhere whether they are there."""
    read: set[str] = set()
    asked: set[str] = set()
    for node in walk(tree):
        match node:
            case Select(operand=Name(name="arguments"), member=member, test=test):
                (asked if test else read).add(member)
            case Apply(function="@in", arguments=(Constant(value=str(member)), Name(name="arguments"))):
                asked.add(member)
    return read - asked


def conditions(action: ActionPolicy) -> Iterator[tuple[Path, Condition | Comparison]]:
    """Yield the conditions of an action with the places at which they stand."""
    for place, rule in enumerate(action.labels.derive):
        if isinstance(rule, (LabelRule, RadiusRule)) and rule.when is not None:
            yield ("actions", action.name, "labels", "derive", place, "when"), rule.when
    for place, decided in enumerate(action.rules):
        if decided.when is not None:
            yield ("actions", action.name, "rules", place, "when"), decided.when


def _arguments_read(action: ActionPolicy) -> Iterator[tuple[Path, str]]:
    """Yield every argument that the action names, with the place."""
    top = ("actions", action.name)
    for path, when in conditions(action):
        names = [when.argument] if isinstance(when, Comparison) else sorted(members_read(when.tree, "arguments"))
        yield from ((path, name) for name in names)
    for place, rule in enumerate(action.labels.derive):
        if isinstance(rule, RadiusRule):
            yield (*top, "labels", "derive", place, "blast_radius", "arg"), rule.argument
    for key, template in (("asset", action.asset), ("effect", action.effect)):
        yield from (((*top, key), name) for name in (template.arguments if template else ()))
    for place, template in enumerate(action.spend):
        yield from (((*top, "spend", place), name) for name in template.arguments)
    if action.cost and action.cost.price and action.cost.price.path:
        yield (*top, "cost"), action.cost.price.path[0]
    for place, name in enumerate(action.terms.show):
        yield (*top, "approval", "show", place), name
    for outcome, sentence in action.terms.refusal.items():
        yield from (((*top, "refusal", outcome.value), name) for name in sentence.arguments)
