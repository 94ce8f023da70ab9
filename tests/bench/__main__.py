"""Measure, round by round, and say what it came to."""

import argparse
import json
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path

from tests.bench import contest, generators, goals, rows
from tests.bench.grounds import grounds
from tests.bench.rounds import USUAL, Benchmark, Extent, Found

_BUILD = generators.ROOT / "build"
_WHOLE = Extent(rounds=3, seconds=2, connections=(USUAL, 1, 16, 256), processes=(1, 2), records=1_000_000)
_QUICK = Extent(rounds=1, seconds=1, connections=(USUAL, 1), processes=(1, 2), records=20_000)
_TOO_BUSY = 0.8


def main() -> int:
    """Run the benchmark and return the exit status: 0 if every answer and every sum was as it should be."""
    extent = _extent()
    generator = generators.choose()
    with grounds() as ground:
        found = Benchmark(ground, generator, extent).run()
    said = _report(found, generator.name, extent)
    print(said)
    _keep(found, said)
    return 1 if found.loads.faults() or found.wrong else 0


def _extent() -> Extent:
    parser = argparse.ArgumentParser(prog="make bench", description=sys.modules["tests.bench"].__doc__)
    parser.add_argument("--quick", action="store_true", help="about a minute: less of everything")
    parser.add_argument("--rounds", type=int, help="how often each is measured")
    parser.add_argument("--seconds", type=int, help="of each measurement")
    parser.add_argument("--connections", type=int, nargs="+")
    parser.add_argument("--processes", type=int, nargs="+", help="that serve; 1 must be among them")
    parser.add_argument("--records", type=int, help="in the database that is not empty")
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    return replace(_QUICK if given.pop("quick") else _WHOLE, **given)


def _report(found: Found, generator: str, extent: Extent) -> str:
    busiest = found.loads.greatest_generator_share()
    lines = [
        "",
        rows.table(found.loads.rows()),
        "",
        f"medians of {extent.rounds} rounds of {extent.seconds} s each, a request being one HTTP request",
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"load from {generator}, in a process of its own that took at most {busiest:.0%} of one core",
        *_loud(found, busiest),
        "",
        *map(str, goals.verdicts(found, extent.records)),
    ]
    return "\n".join(lines)


def _loud(found: Found, busiest: float) -> list[str]:
    said = [f"WRONG: {what}" for what in [*found.loads.faults(), *found.wrong]]
    if busiest > _TOO_BUSY:
        said.append("WRONG: the load generator was busy: the service may be faster than this says")
    if not contest.is_installed():
        said.append("SKIPPED: the library ctrlrun is not installed; pip install --editable '.[bench]' installs it")
    return said or ["every answer was as it should be, every sum that of its entries, and no cap was passed by a cent"]


def _keep(found: Found, said: str) -> None:
    _BUILD.mkdir(exist_ok=True)
    listed = [row.as_json() for row in found.loads.rows()]
    (_BUILD / "bench.json").write_text(json.dumps(listed, indent=2) + "\n")
    (_BUILD / "bench.txt").write_text(said + "\n")
    where = Path(os.path.relpath(_BUILD / "bench.json"))
    print(f"\n{len(listed)} rows are in {where}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
