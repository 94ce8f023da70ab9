"""The rounds: everything is measured once in each, what will be compared side by side."""

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.bench import contest, disk, memory, scenarios, sizes
from tests.bench.filling import fill
from tests.bench.generators import Generator
from tests.bench.grounds import Grounds
from tests.bench.rows import Measurements, Place
from tests.bench.scenarios import Scenario
from tests.live import LiveService

USUAL = 64
"""The connections at which most is compared."""

FEW_RULES = "decide under 10 rules"
MANY_RULES = "decide under 5,000 rules"
CAP_REACHED = "admit, cap reached"
WITHIN_CAP = "996.00000000"
"""What 83 admissions of 12.00 hold, under a cap of 1000.00: the next would be over it."""

_EMPTY, _FILLED, _LIBRARY = "empty", "filled", "library"
_LARGEST = 256


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    rounds: int
    seconds: int
    connections: Sequence[int]
    processes: Sequence[int]
    records: int


@dataclass(slots=True)
class Found:
    """What the rounds found."""

    loads: Measurements = field(default_factory=Measurements)
    fdatasync: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


Services = Mapping[tuple[str, int], LiveService]
"""By database and number of processes."""


class Benchmark:
    """All rounds on one ground with one generator."""

    def __init__(self, grounds: Grounds, generator: Generator, extent: Extent) -> None:
        self._grounds = grounds
        self._generator = generator
        self._extent = extent
        self._scenarios = scenarios.scenarios(grounds.tenants.keys)
        self.found = Found()

    def run(self) -> Found:
        """Measure, and check afterwards that every sum is right."""
        _say(f"making {self._extent.records:,} records")
        fill(self._grounds, _FILLED, self._extent.records)
        self._grounds.empty(_LIBRARY)
        for number in range(1, self._extent.rounds + 1):
            _say(f"round {number} of {self._extent.rounds}: starting")
            self._round(f"round {number} of {self._extent.rounds}")
        self._check_sums(_FILLED)
        return self.found

    def _round(self, name: str) -> None:
        self.found.fdatasync.append(disk.fdatasync(self._grounds.disk))
        with self._services() as services:
            self._warm(services)
            for connections in self._extent.connections:
                for processes in self._extent.processes:
                    _say(f"{name}: {connections} connections, {processes} processes")
                    self._side_by_side(services, connections, processes)
            _say(f"{name}: the cap, the sizes of policies, the library")
            self._once(services[_EMPTY, 1])
        self._check_sums(_EMPTY)
        self._check_cap()
        self._call_library()

    @contextmanager
    def _services(self) -> Iterator[Services]:
        """Serve over a new empty database and over the filled one, for each number of processes."""
        self._grounds.copy(_EMPTY)
        with ExitStack() as stack:
            yield {
                (database, processes): stack.enter_context(self._grounds.serving(database, processes))
                for database in (_EMPTY, _FILLED)
                for processes in self._extent.processes
            }

    def _warm(self, services: Services) -> None:
        """Let every process compile its policy, fill its pool and prepare its statements."""
        for service in services.values():
            for scenario in self._scenarios[-2:]:
                self._generator.put(service.port, scenario, USUAL, 1)

    def _side_by_side(self, services: Services, connections: int, processes: int) -> None:
        for scenario in self._scenarios:
            for database, records in ((_EMPTY, 0), (_FILLED, self._extent.records)):
                place = Place(scenario.name, connections, processes, records)
                self._put(services[database, processes], scenario, place)

    def _once(self, service: LiveService) -> None:
        tenants = self._grounds.tenants
        few = scenarios.decision(FEW_RULES, sizes.ACTION, tenants.few_rules)
        many = scenarios.decision(MANY_RULES, sizes.ACTION, tenants.many_rules)
        for scenario in (few, many):
            self._generator.put(service.port, scenario, 1, 1)  # compiles the policy
        for scenario in (few, many, scenarios.capped(tenants.keys)):
            self._put(service, scenario, Place(scenario.name, USUAL, 1, 0))

    def _put(self, service: LiveService, scenario: Scenario, place: Place) -> None:
        look = threading.Timer(self._extent.seconds / 2, self._look_at_memory, (service, place.connections))
        look.start()
        self.found.loads.add(
            place, self._generator.put(service.port, scenario, place.connections, self._extent.seconds)
        )
        look.join()

    def _look_at_memory(self, service: LiveService, connections: int) -> None:
        if connections == _LARGEST:
            self.found.megabytes.append(memory.greatest_process(service.process.pid))

    def _call_library(self) -> None:
        if not contest.is_installed():
            return
        threads = [(number, 1) for number in self._extent.connections if number <= USUAL]
        for connections, processes in [*threads, *((USUAL, number) for number in self._extent.processes if number > 1)]:
            called = contest.call(self._grounds.url(_LIBRARY), connections, processes, self._extent.seconds)
            self.found.loads.add(Place(contest.NAME, connections, processes), called)

    def _check_sums(self, database: str) -> None:
        wrong = self._grounds.wrong_sums(database)
        if wrong:
            self.found.wrong.append(f"{len(wrong)} sums of the {database} database are not those of their entries")

    def _check_cap(self) -> None:
        held = self._grounds.held_under_cap(_EMPTY)
        if held != WITHIN_CAP:
            self.found.wrong.append(f"{held} were held under a cap of 1000.00, where 996.00 fit")


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
