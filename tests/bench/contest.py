"""Putting calls on the library `ctrlrun`, where the extra `bench` is installed."""

import json
import secrets
import statistics
import sys
from importlib.util import find_spec
from subprocess import PIPE, Popen

from sqlalchemy.engine import make_url

from tests.bench import generators
from tests.bench.generators import ROOT, Measured

NAME = "ctrlrun, protected call"


def is_installed() -> bool:
    """Return whether the library is there, with what it needs for Postgres."""
    return all(find_spec(module) is not None for module in ("ctrlrun", "psycopg"))


def call(url: str, threads: int, processes: int, seconds: int) -> Measured:
    """Call for so many seconds from so many threads in all, evenly spread over processes."""
    where = make_url(url)
    wanted = {
        "conninfo": f"host={where.query['host']} user={where.username} dbname={where.database}",
        "threads": threads // processes,
        "seconds": seconds,
    }
    running = [_start({**wanted, "tag": secrets.token_hex(4)}) for _ in range(processes)]
    found = [_end(each) for each in running]
    return Measured(
        rate=sum(each.rate for each in found),
        p50=statistics.median(each.p50 for each in found),
        p99=max(each.p99 for each in found),
        unexpected=0,
        lost=0,
        example="",
        generator=0,
    )


def _start(wanted: dict[str, object]) -> "Popen[str]":
    process = Popen([sys.executable, "-m", "tests.bench.library"], stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT)
    assert process.stdin is not None
    with process.stdin as given:
        json.dump(wanted, given)
    return process


def _end(process: "Popen[str]") -> Measured:
    assert process.stdout is not None
    with process, process.stdout as said:
        return generators.measured(said.read())
