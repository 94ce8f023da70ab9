"""The three answers, and which of several stands."""

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """What an agent is told: run it, wait for a person, or do not."""

    ALLOW = "allow"
    REQUIRE_HUMAN = "require_human"
    DENY = "deny"


_STRENGTH = {Outcome.ALLOW: 0, Outcome.REQUIRE_HUMAN: 1, Outcome.DENY: 2}


def strongest(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the strongest of the outcomes: deny over require_human over allow; allow when there is none."""
    return max(outcomes, key=_STRENGTH.__getitem__, default=Outcome.ALLOW)


def stronger(one: Outcome, other: Outcome) -> bool:
    """Return whether `one` is strictly more cautious than `other`."""
    return _STRENGTH[one] > _STRENGTH[other]
