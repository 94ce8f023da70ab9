"""The built-in skeptic: what a finding is worth by its own account of its grounding."""

from dataclasses import dataclass
from typing import Final

from app.core.actions import Finding
from app.core.policy.knobs import RANKS, Severity

THRESHOLD: Final = 0.6
"""The confidence from which a finding survives."""

FATAL: Final = "fatal"
CONCERN: Final = "concern"
WEAK: Final = "weak"

_WELL_GROUNDED: Final = 0.80
_GREATEST_EXCESS: Final = 0.25
_PENALTIES: Final = {WEAK: 0.1, CONCERN: 0.2}
_GREATEST_PENALTY: Final = 0.3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a finding survives, how much confidence is left, and how grave each objection is, in order."""

    survives: bool
    confidence: float
    refutations: tuple[str, ...]


def skeptic(finding: Finding, threshold: float = THRESHOLD) -> Verdict:
    """Return what the skeptic makes of a finding; arithmetic on IEEE doubles, in the order of SEMANTICS section 4."""
    refutations = tuple(_objections(finding))
    if FATAL in refutations:
        return Verdict(survives=False, confidence=0.0, refutations=refutations)
    penalty = min(_GREATEST_PENALTY, sum(_PENALTIES[refutation] for refutation in refutations))
    confidence = max(0.0, min(1.0, finding.gsar_score - penalty))
    return Verdict(confidence >= threshold, confidence, refutations)


def _objections(finding: Finding) -> list[str]:
    references = len(finding.evidence_refs)
    grave = RANKS[finding.severity] >= RANKS[Severity.HIGH.value]
    found = [
        (FATAL, references == 0),
        (CONCERN, finding.gsar_score < _WELL_GROUNDED),
        (CONCERN, grave and references == 1),
        (WEAK, finding.confidence - finding.gsar_score > _GREATEST_EXCESS),
    ]
    return [refutation for refutation, holds in found if holds]
