"""The goals of performance, each as a ratio within one run, and how far the run is from it."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench import contest
from tests.bench.rounds import FEW_RULES, MANY_RULES, USUAL, Found
from tests.bench.rows import NOOP, Place, Row

_ADMIT = "admit, own scopes"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal, what was measured, and the bound; `at_least` says on which side of it the goal is met.

    `measured` is None where the run was too short to tell. A bound of None is no goal, only worth knowing.
    """

    goal: str
    measured: float | None
    bound: float | None = None
    at_least: bool = True
    unit: str = ""

    def __str__(self) -> str:
        """Return one line of the summary."""
        return f"{self.goal:<66}{self._said():>12}  {self._verdict()}"

    def _said(self) -> str:
        return "-" if self.measured is None else f"{self.measured:,.2f}{self.unit}"

    def _verdict(self) -> str:
        if self.measured is None:
            return "not measured in this run"
        if self.bound is None:
            return ""
        if (self.measured >= self.bound) if self.at_least else (self.measured <= self.bound):
            return "met"
        off = abs(self.measured - self.bound) / self.bound
        return f"MISSED by {off:.0%}: wanted {'at least' if self.at_least else 'at most'} {self.bound:,.2f}{self.unit}"


def verdicts(found: Found, records: int) -> list[Verdict]:
    """Return every goal with what the run says of it."""
    return [
        Verdict(f"admit at {USUAL} connections, of the no-op", _ratio(found, _admit(), _of(NOOP)), 0.7),
        Verdict("one hot scope, of own scopes", _ratio(found, _of("admit, one hot scope"), _admit()), 0.9),
        _single(found),
        Verdict(
            f"admit with {records:,} records, of the empty database",
            _ratio(found, Place(_ADMIT, USUAL, 1, records), _admit()),
            0.9,
        ),
        Verdict("admit in two processes, of one", _ratio(found, Place(_ADMIT, USUAL, 2, 0), _admit()), 1.3),
        *_beside_the_library(found),
        Verdict(
            "memory of a process at 256 connections",
            max(found.megabytes) if found.megabytes else None,
            250,
            at_least=False,
            unit=" MB",
        ),
        Verdict("decide under 5,000 rules, of under 10", _ratio(found, _of(MANY_RULES), _of(FEW_RULES))),
    ]


def _single(found: Found) -> Verdict:
    admit, noop = found.loads.find(Place(_ADMIT, 1, 1, 0)), found.loads.find(Place(NOOP, 1, 1, 0))
    fdatasync = statistics.median(found.fdatasync)
    bound = None if noop is None else 6 * fdatasync + noop.p50
    goal = f"p50 of a single admit; 6 of fdatasync ({fdatasync:.2f} ms) and the no-op's p50"
    return Verdict(goal, None if admit is None else admit.p50, bound, at_least=False, unit=" ms")


def _beside_the_library(found: Found) -> Iterator[Verdict]:
    best = max(found.loads.named(contest.NAME), key=lambda row: row.rate, default=None)
    yield Verdict("admit, of the best that ctrlrun reaches", _times(found.loads.find(_admit()), best), 10)
    both = _times(found.loads.find(_of("admit and report")), best)
    yield Verdict("admit and report, both as one, of the same", None if both is None else both / 2)


def _admit() -> Place:
    return _of(_ADMIT)


def _of(name: str) -> Place:
    return Place(name, USUAL, 1, 0)


def _ratio(found: Found, of: Place, to: Place) -> float | None:
    return _times(found.loads.find(of), found.loads.find(to))


def _times(of: Row | None, to: Row | None) -> float | None:
    return of.rate / to.rate if of and to and to.rate else None
