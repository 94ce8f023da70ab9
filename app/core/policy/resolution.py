"""The labels and the radius of a call: what the policy says, and what the caller adds.

The caller cannot make itself safer: where the policy or the credential says something, what the caller says is a
further label and never takes one away, and its "sandboxed" counts only if the credential may attest to it.
"""

from dataclasses import dataclass
from typing import Final

from app.core.actions import Action, Caller
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.policy.actions import ActionPolicy
from app.core.policy.facts import Facts
from app.core.policy.labels import Declaration, Resolved
from app.core.values import GREATEST_INTEGER

SANDBOXED: Final = "sandboxed"
UNDETERMINED: Final = "undetermined"
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a call, by who says them; `own` are the policy's and the credential's."""

    environment: str
    kind: str
    tags: frozenset[str]
    blast_radius: int
    own: frozenset[str]
    callers: frozenset[str]
    undetermined: tuple[Trigger, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """What the caller says of its action, without what it may not."""

    name: str
    environment: str
    kind: str
    tags: frozenset[str]


def resolve(policy: ActionPolicy, action: Action, caller: Caller, facts: Facts, *, attested: bool) -> Labels:
    """Return the labels of a call, and let the conditions that follow see those that the policy says."""
    said = _said(action, attested=attested)
    name = policy.name if policy.listed else said.name
    show_declared(policy, caller, facts)
    resolved = policy.labels.resolve(facts) if policy.labels.derive else _declared(policy.labels)
    given = resolved.environment or caller.environment
    environment = given or said.environment
    kind = resolved.kind or said.kind
    derived = resolved.tags | {UNDETERMINED} if resolved.undetermined else resolved.tags
    own = _filled(*derived, given, resolved.kind, name if policy.listed else "")
    callers = _filled(*said.tags, said.kind, name, *_further(said.environment, environment)) - own
    radius = min(max(resolved.blast_radius, action.blast_radius), GREATEST_INTEGER)
    facts.change(environment=environment if given else UNKNOWN, kind=resolved.kind, blast_radius=radius, labels=own)
    return Labels(
        environment=environment,
        kind=kind,
        tags=_filled(name, *derived, *said.tags),
        blast_radius=radius,
        own=own,
        callers=callers,
        undetermined=tuple(_held(policy.name, resolved)),
    )


def _said(action: Action, *, attested: bool) -> _Said:
    if attested:
        return _Said(action.name, action.environment, action.kind, action.tags)
    return _Said(
        name="" if action.name == SANDBOXED else action.name,
        environment=UNKNOWN if action.environment == SANDBOXED else action.environment,
        kind="" if action.kind == SANDBOXED else action.kind,
        tags=action.tags - {SANDBOXED},
    )


def show_declared(policy: ActionPolicy, caller: Caller, facts: Facts) -> None:
    """Let the conditions of label rules see what is declared, before anything is derived."""
    declared = policy.labels
    given = declared.environment or caller.environment
    facts.change(
        environment=given or UNKNOWN,
        kind=declared.kind,
        blast_radius=declared.blast_radius,
        labels=_filled(*declared.tags, given, declared.kind, policy.name if policy.listed else ""),
    )


def _declared(declared: Declaration) -> Resolved:
    return Resolved(declared.environment, declared.kind, declared.tags, declared.blast_radius)


def _further(said: str, resolved: str) -> tuple[str, ...]:
    """Return the environment that the caller names as a further label; silence, read as unknown, names none."""
    return () if said == UNKNOWN != resolved else (said,)


def _filled(*labels: str) -> frozenset[str]:
    return frozenset(filter(None, labels))


def _held(action: str, resolved: Resolved) -> list[Trigger]:
    return [
        Trigger(
            Code.CONDITION_UNDETERMINED,
            Outcome.REQUIRE_HUMAN,
            f"label rule {found.rule} of {action} could not be evaluated: {found.cause}",
            {"label_rule": found.rule, "cause": found.cause},
        )
        for found in resolved.undetermined
    ]
