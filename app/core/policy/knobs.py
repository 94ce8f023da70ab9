"""The knobs of a policy: the thresholds and label sets that every call is weighed against."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.core.money import Money
from app.core.policy.places import Place


class Severity(StrEnum):
    """How bad a finding is, from harmless to worst."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


RANKS: Final = {severity.value: rank for rank, severity in enumerate(Severity)}
"""The place of each severity's word, the harmless first."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """What SEMANTICS section 1 lets a policy set, with its defaults."""

    require_verification_score: float = 0.8
    max_blast_radius: int = 1
    require_human_for: frozenset[str] = frozenset({"production"})
    deny_for: frozenset[str] = frozenset()
    require_sandbox_for: frozenset[str] = frozenset()
    min_severity: Severity = Severity.LOW
    require_human_over: Money | None = None


_LABELS: Final = ("require_human_for", "deny_for", "require_sandbox_for")
KNOBS: Final = (
    "require_verification_score",
    "max_blast_radius",
    *_LABELS,
    "min_severity",
    "require_human_over",
)


def read_knobs(place: Place, base: Knobs) -> Knobs:
    """Return the knobs that stand here, and those of `base` for what does not stand."""
    given: dict[str, Any] = {}
    for name, member in place.members(KNOBS).items():
        given[name] = _read(name, member)
    return replace(base, **given)


def _read(name: str, member: Place) -> object:
    if name in _LABELS:
        return frozenset(member.names())
    if name == "require_verification_score":
        return member.score()
    if name == "max_blast_radius":
        return member.integer(0)
    if name == "min_severity":
        return member.choice(Severity)
    return None if member.value is None else member.money()
