"""What was measured, as rows: the median of every round."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.bench.generators import Measured

NOOP = "no-op"


@dataclass(frozen=True, slots=True)
class Place:
    """What was put on what: a row's key. `records` is None for what is no load on the service."""

    name: str
    connections: int
    processes: int
    records: int | None = None

    @property
    def noop(self) -> "Place":
        """The no-op that it is compared with."""
        return Place(NOOP, self.connections, self.processes, self.records)

    def __str__(self) -> str:
        """Return the name with how many records there were before."""
        return f"{self.name}, {self.records:,} records" if self.records else self.name


@dataclass(frozen=True, slots=True)
class Row:
    """Answers a second and latencies in milliseconds; `ratio` is to the no-op in the same place, if there was one."""

    place: Place
    rate: float
    p50: float
    p99: float
    lowest: float
    highest: float
    ratio: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the row for `build/bench.json`."""
        return {
            "name": str(self.place),
            "connections": self.place.connections,
            "processes": self.place.processes,
            "requests_per_second": round(self.rate, 1),
            "p50_ms": round(self.p50, 3),
            "p99_ms": round(self.p99, 3),
            "ratio_to_noop": None if self.ratio is None else round(self.ratio, 3),
        }


class Measurements:
    """Everything that was measured, round after round."""

    def __init__(self) -> None:
        self._found: dict[Place, list[Measured]] = {}

    def add(self, place: Place, measured: Measured) -> None:
        """Keep what a round found in a place."""
        self._found.setdefault(place, []).append(measured)

    def rows(self) -> list[Row]:
        """Return a row for every place, the load on the service first, by connections and processes."""
        return [self._row(place) for place in sorted(self._found, key=_order)]

    def find(self, place: Place) -> Row | None:
        """Return the row of a place, if it was measured."""
        return self._row(place) if place in self._found else None

    def named(self, name: str) -> list[Row]:
        """Return all rows of a name."""
        return [self._row(place) for place in self._found if place.name == name]

    def greatest_generator_share(self) -> float:
        """Return the most that the generator used of one core, in the median of the rounds of a place."""
        return max(statistics.median(found.generator for found in rounds) for rounds in self._found.values())

    def faults(self) -> list[str]:
        """Return what went wrong: answers that were not as they should be, and none at all."""
        return [
            f"{place}, {place.connections} connections, {place.processes} processes: {found.rate:,.0f} answers a"
            f" second, {found.unexpected} not as they should be, {found.lost} lost {found.example}"
            for place, rounds in self._found.items()
            for found in rounds
            if found.unexpected or found.lost or not found.rate
        ]

    def _row(self, place: Place) -> Row:
        rounds = self._found[place]
        rates = [found.rate for found in rounds]
        rate = statistics.median(rates)
        return Row(
            place,
            rate,
            statistics.median(found.p50 for found in rounds),
            statistics.median(found.p99 for found in rounds),
            min(rates),
            max(rates),
            self._ratio(place, rate),
        )

    def _ratio(self, place: Place, rate: float) -> float | None:
        if place.records is None or place.noop not in self._found:
            return None
        compared = statistics.median(found.rate for found in self._found[place.noop])
        return rate / compared if compared else None


def _order(place: Place) -> tuple[bool, int, int, int]:
    return place.records is None, place.records or 0, place.processes, place.connections


def table(rows: Sequence[Row]) -> str:
    """Return the rows as people read them."""
    size = f"{'':<44}{'conn.':>6}{'proc.':>6}"
    found = f"{'a second':>10}{'(lowest to highest)':>22}{'p50 ms':>9}{'p99 ms':>9}{'ratio':>7}"
    return "\n".join([size + found, *map(_line, rows)])


def _line(row: Row) -> str:
    place, spread = row.place, f"({row.lowest:,.0f} to {row.highest:,.0f})"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return (
        f"{place!s:<44}{place.connections:>6}{place.processes:>6}{row.rate:>10,.0f}{spread:>22}"
        f"{row.p50:>9.2f}{row.p99:>9.2f}{ratio:>7}"
    )
