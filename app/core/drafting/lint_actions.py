"""Remarks on what an action leaves open: to its caller, to chance, or to nobody."""

from collections.abc import Iterator, Mapping
from typing import Final

from app.core.drafting.remarks import Remark, warning
from app.core.drafting.scopes import meet, pattern_of
from app.core.outcomes import Outcome
from app.core.policy import Policy
from app.core.policy.actions import ActionPolicy
from app.core.policy.labels import LabelRule
from app.core.policy.limits import Metric
from app.core.policy.policies import Unlisted
from app.core.policy.problems import suggestion
from app.core.policy.resolution import UNDETERMINED
from app.core.policy.source import Path
from app.core.values import Json


def lint_action(policy: Policy, action: ActionPolicy) -> Iterator[Remark]:
    """Yield remarks on what the document says of an action, and leaves out."""
    top = ("actions", action.name)
    if not action.labels.environment:
        message = "its environment is left to the credential and the caller; declare one under `labels`"
        yield warning("environment-open", message, *top)
    if not action.labels.kind:
        yield warning("kind-open", "its kind is left to the caller; declare one under `labels`", *top)
    yield from _cost(policy, action)
    if _may_be_held(action) and not _decidable(policy, action):
        message = "it may wait for a person, and no approver rule matches its labels: nobody could decide"
        yield warning("no-approver", message, *top)
    if action.arguments is not None:
        yield from _keywords(action.arguments.schema, (*top, "arguments"))


def lint_unlisted(policy: Policy) -> Iterator[Remark]:
    """Yield remarks on what happens to actions that the document does not list."""
    if policy.unlisted is Unlisted.DENY or any(rule.matches(frozenset()) for rule in policy.approvers):
        return
    message = "unlisted actions may wait for a person, and every approver rule asks for labels: nobody could decide"
    yield warning("no-approver", message, "unlisted")


def _cost(policy: Policy, action: ActionPolicy) -> Iterator[Remark]:
    top = ("actions", action.name)
    if action.cost is not None and action.effect is None:
        message = "it costs money and has no `effect`: a retry could pay twice"
        yield warning("cost-without-effect", message, *top)
    if (action.cost is None and _spends_money(policy, action)) or (action.cost is not None and not action.cost.price):
        message = "its cost is the caller's word; give the action a `cost` with an amount if its arguments tell it"
        yield warning("cost-by-caller", message, *top)


def _spends_money(policy: Policy, action: ActionPolicy) -> bool:
    """Return whether some limit counts the money of the action."""
    patterns = [limit.pattern for limit in policy.limits if limit.metric is Metric.MONEY]
    return any(meet(pattern, pattern_of(template)) for pattern in patterns for template in action.spend)


def _may_be_held(action: ActionPolicy) -> bool:
    knobs = action.knobs
    if action.rules and all(rule.decision is Outcome.DENY for rule in action.rules):
        return False
    return (
        any(rule.decision is Outcome.REQUIRE_HUMAN for rule in action.rules)
        or bool(_possible_labels(action) & knobs.require_human_for)
        or knobs.require_verification_score > 0
        or (knobs.require_human_over is not None and bool(action.cost))
        or bool(action.labels.derive)
        or bool(action.conditions())
    )


def _decidable(policy: Policy, action: ActionPolicy) -> bool:
    return any(rule.matches(_possible_labels(action)) for rule in policy.approvers)


def _possible_labels(action: ActionPolicy) -> frozenset[str]:
    """Return every label that the policy may give the action."""
    declared = action.labels
    found = {action.name, declared.environment, declared.kind, *declared.tags, UNDETERMINED}
    for rule in declared.derive:
        if isinstance(rule, LabelRule):
            found |= {*rule.add_tags, rule.set_kind, rule.set_environment}
    return frozenset(found - {""})


_OF_SCHEMAS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_OF_NAMED_SCHEMAS: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")
_SCHEMA: Final = (
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_KEYWORDS: Final = frozenset({
    "$schema", "$ref", "$id", "$comment", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum",
    "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems",
    "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired", "title",
    "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format", "contentEncoding",
    "contentMediaType", *_OF_SCHEMAS, *_OF_NAMED_SCHEMAS, *_SCHEMA,
})  # fmt: skip
"""The keywords of JSON Schema 2020-12 (core, applicator, validation, metadata, format and content vocabularies)."""


def _keywords(schema: Json, path: Path) -> Iterator[Remark]:
    """Yield remarks on words of a schema that no vocabulary has, and that therefore check nothing."""
    if not isinstance(schema, Mapping):
        return
    for keyword in schema:
        if keyword not in _KEYWORDS and not keyword.startswith("x-"):
            message = f"{keyword!r} is no keyword of JSON Schema and checks nothing: {suggestion(keyword, _KEYWORDS)}"
            yield warning("schema-keyword", message, *path, keyword)
    for keyword, value in schema.items():
        for step, below in _schemas_below(keyword, value):
            yield from _keywords(below, (*path, keyword, *step))


def _schemas_below(keyword: str, value: Json) -> Iterator[tuple[Path, Json]]:
    if keyword in _SCHEMA:
        yield (), value
    elif keyword in _OF_SCHEMAS and isinstance(value, list):
        yield from (((place,), schema) for place, schema in enumerate(value))
    elif keyword in _OF_NAMED_SCHEMAS and isinstance(value, Mapping):
        yield from (((name,), schema) for name, schema in value.items())
