"""What puts the load on: wrk where it is installed, else a generator of our own; each in a process of its own."""

import itertools
import json
import os
import re
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.scenarios import KEPT, NUMBER, Scenario

ROOT = Path(__file__).parents[2]
_SCRIPT = Path(__file__).with_suffix("").parent / "load.lua"
_PLACES = re.compile(f"({NUMBER}|{KEPT})")
_MEASURED = re.compile(r"^MEASURED (\S+) (\d+) (\S+) (\S+) (\d+) (\d+) ?(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a load came to: answers a second, latencies in milliseconds, and the generator's share of one core."""

    rate: float
    p50: float
    p99: float
    unexpected: int
    lost: int
    example: str
    generator: float


class Generator(ABC):
    """Puts flows on a port of loopback."""

    name: str

    def __init__(self) -> None:
        self._runs = itertools.count(1)
        self._run_tag = secrets.token_hex(3)

    def put(self, port: int, scenario: Scenario, connections: int, seconds: int) -> Measured:
        """Put a scenario on a port for so many seconds; no number of a flow comes twice."""
        plan = {
            "port": port,
            "connections": connections,
            "seconds": seconds,
            "tag": f"{self._run_tag}-{next(self._runs)}-",
            "steps": [asdict(step) for step in scenario.steps],
        }
        before = _processor_time()
        said = self._put(plan)
        used = _processor_time() - before
        return measured(said, used)

    @abstractmethod
    def _put(self, plan: dict[str, Any]) -> str:
        """Run the generator and return what it prints."""


class Wrk(Generator):
    """`wrk`, with one thread, led by a script."""

    name = "wrk"

    def _put(self, plan: dict[str, Any]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "load.lua"
            script.write_text(f"plan = {_lua(_cut(plan))}\n{_SCRIPT.read_text()}")
            size = ["--threads", "1", "--connections", str(plan["connections"]), "--duration", f"{plan['seconds']}s"]
            where = ["--timeout", "30s", "--script", str(script), f"http://127.0.0.1:{plan['port']}"]
            return _output(["wrk", *size, *where])


class Own(Generator):
    """The generator of `load.py`."""

    name = "tests/bench/load.py (wrk is not installed; it takes less from the machine)"

    def _put(self, plan: dict[str, Any]) -> str:
        return _output([sys.executable, "-m", "tests.bench.load"], json.dumps(plan))


def choose() -> Generator:
    """Return the generator that leaves most of the machine to the service."""
    return Wrk() if shutil.which("wrk") else Own()


def _output(command: list[str], given: str = "") -> str:
    # Left at the usual priority, the generator gets its turn among equals: it is never what is waited for.
    found = subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ)
    if found.returncode:
        raise RuntimeError(f"the load generator ended with status {found.returncode}: {found.stderr.strip()}")
    return found.stdout


def measured(said: str, used: float = 0.0) -> Measured:
    """Return what a generator says in its line; `used` is the processor time that it took, in seconds."""
    found = _MEASURED.search(said)
    if found is None:
        raise RuntimeError(f"the load generator did not say what it measured, but: {said.strip()}")
    seconds, requests, p50, p99, unexpected, lost, example = found.groups()
    return Measured(
        rate=int(requests) / float(seconds),
        p50=float(p50),
        p99=float(p99),
        unexpected=int(unexpected),
        lost=int(lost),
        example=example[:400],
        generator=used / float(seconds),
    )


def _processor_time() -> float:
    """Return the seconds that processes used that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cut(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with paths and bodies cut at their places, so that the script only has to join them."""
    steps = [{**step, **{name: _PLACES.split(step[name]) for name in ("path", "body")}} for step in plan["steps"]]
    return {"tag": plan["tag"], "steps": steps}


def _lua(value: Any) -> str:
    if isinstance(value, str):
        return f"[==[{value}]==]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_lua(member)}" for name, member in value.items()) + "}"
    return "{" + ", ".join(map(_lua, value)) + "}"
