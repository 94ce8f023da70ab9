"""What is asked: an action, the call around it, and who asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.values import JsonObject


@dataclass(frozen=True, slots=True)
class Action:
    """What would be done, as the caller states it, with defaults filled.

    `environment` "unknown" and `kind` "" mean that the caller says nothing. `blast_radius` counts the things that
    one call touches.
    """

    name: str
    arguments: JsonObject = field(default_factory=dict)
    asset: str = ""
    environment: str = "unknown"
    kind: str = ""
    tags: frozenset[str] = frozenset()
    blast_radius: int = 1
    cost: Money | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What an agent claims to have found, with its grounding: `gsar_score` and `confidence` in 0..1."""

    title: str
    severity: str
    gsar_score: float
    evidence_refs: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Verification:
    """What a skeptic made of a finding; `confidence` in 0..1."""

    survives: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class Advice:
    """An opinion that can only raise caution."""

    outcome: Outcome
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to act: the action, and what was sent around it.

    `effect` and `spend` are the caller's own key and scopes; they come beside the policy's, never instead.
    """

    action: Action
    context: JsonObject = field(default_factory=dict)
    approval_context: Mapping[str, str] = field(default_factory=dict)
    finding: Finding | None = None
    verification_id: str | None = None
    advice: tuple[Advice, ...] = ()
    precondition: str | None = None
    spend: tuple[str, ...] = ()
    effect: str | None = None
    lease: timedelta | None = None
    approval_id: str | None = None
    run_id: str | None = None
    idempotency_key: str | None = None
    permit: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, from the credential and never from a body.

    `kind` is agent, service or human; `environment` "" when the credential does not say.
    """

    tenant: str
    principal: str
    kind: str
    owner: str
    environment: str = ""
    roles: frozenset[str] = frozenset()
    rights: frozenset[str] = frozenset()

    def may(self, right: str) -> bool:
        """Return whether the credential gives the right."""
        return right in self.rights
