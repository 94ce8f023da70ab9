"""The terms of an action: what holds once it was asked, held or admitted."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from app.core.durations import LONGEST_LEASE, LONGEST_WAIT
from app.core.outcomes import Outcome
from app.core.policy.places import Place
from app.core.policy.templates import Sentence, read_sentence


class OutcomeBy(StrEnum):
    """Whose "not executed" frees key and hold: the agent's own word, or only that of a holder of `report`."""

    AGENT = "agent"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Terms:
    """Waits, lease and attempts; what approvers see and what is bound; what a user hears.

    None stands for the default of the service's settings.
    """

    ttl: timedelta | None = None
    use_within: timedelta | None = None
    show: tuple[str, ...] = ()
    bind: tuple[str, ...] = ()
    lease: timedelta | None = None
    max_attempts: int = 3
    outcome_by: OutcomeBy = OutcomeBy.AGENT
    refusal: dict[Outcome, Sentence] = field(default_factory=dict)


TERMS: Final = ("approval", "refusal", "lease", "max_attempts", "outcome_by")
_APPROVAL: Final = ("ttl", "use_within", "show", "bind")
_REFUSAL: Final = (Outcome.DENY.value, Outcome.REQUIRE_HUMAN.value)


def read_terms(members: dict[str, Place]) -> Terms:
    """Return the terms among the members of an action."""
    given: dict[str, Any] = {}
    if "approval" in members:
        given |= {name: _approval(name, place) for name, place in members["approval"].members(_APPROVAL).items()}
    if "refusal" in members:
        sentences = members["refusal"].members(_REFUSAL)
        given["refusal"] = {Outcome(name): read_sentence(place) for name, place in sentences.items()}
    if "lease" in members:
        given["lease"] = members["lease"].duration(LONGEST_LEASE)
    if "max_attempts" in members:
        given["max_attempts"] = members["max_attempts"].integer(1)
    if "outcome_by" in members:
        given["outcome_by"] = members["outcome_by"].choice(OutcomeBy)
    return replace(Terms(), **given)


def _approval(name: str, place: Place) -> object:
    return place.duration(LONGEST_WAIT) if name in {"ttl", "use_within"} else place.names()
