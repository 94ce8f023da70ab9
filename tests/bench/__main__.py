"""Measure, round by round, and say what it came to."""

import argparse
import asyncio
import itertools
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from tests.bench import load
from tests.bench.load import Measured
from tests.live import COMMAND

_POLICY = Path(__file__).parent / "policy.yaml"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
_numbers = itertools.count()


def main() -> int:
    """Run the benchmark and return the exit status: 0 if every request was answered as it should be."""
    parser = argparse.ArgumentParser(prog="make bench", description=sys.modules["tests.bench"].__doc__)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured, in turns")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1, help="processes that serve")
    options = parser.parse_args()
    with _service(options.workers) as (port, key):
        return _measure(port, key, options)


def _measure(port: int, key: str, options: argparse.Namespace) -> int:
    routes = {"noop": "/v1/noop", "admit": "/v1/admit"}
    results: dict[str, list[Measured]] = {name: [] for name in routes}
    for name, path in [*routes.items()] * (options.rounds + 1):
        request = _request(path, key)
        results[name].append(asyncio.run(load.run(port, options.seconds, options.connections, request)))
    for name in routes:
        del results[name][0]  # the first round warms caches and pools
        _say(name, results[name])
    rates = {name: statistics.median(found.rate for found in results[name]) for name in routes}
    print(f"\nadmit runs at {rates['admit'] / rates['noop']:.2f} of the no-op")
    return 0 if all(_sound(name, found) for name, rounds in results.items() for found in rounds) else 1


def _request(path: str, key: str) -> Callable[[], bytes]:
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"

    def following() -> bytes:
        body = {"action": {"name": "bench.pay", "arguments": {"invoice": f"I{next(_numbers)}", "amount": 12}}}
        content = json.dumps(body)
        return f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode()

    return following


def _say(name: str, rounds: list[Measured]) -> None:
    rates = sorted(found.rate for found in rounds)
    median = statistics.median(found.percentile(0.5) for found in rounds)
    slow = statistics.median(found.percentile(0.99) for found in rounds)
    print(
        f"{name:<6} {statistics.median(rates):>7,.0f} a second ({rates[0]:,.0f} to {rates[-1]:,.0f})"
        f"   half within {median:5.1f} ms, 99 % within {slow:5.1f} ms"
    )


def _sound(name: str, found: Measured) -> bool:
    if set(found.statuses) != {200}:
        print(f"{name}: not every request was answered: {dict(found.statuses)}", file=sys.stderr)
        return False
    return name == "noop" or all(json.loads(body)["allowed"] for body in found.bodies)


@contextmanager
def _service(workers: int) -> Iterator[tuple[int, str]]:
    with tempfile.TemporaryDirectory(prefix="countersign-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "state"
        command = [str(COMMAND), "dev", "--port", "0", "--data", str(data), "--policy", str(_POLICY)]
        command += ["--workers", str(workers)]
        with Popen(command, stdout=PIPE, text=True) as process:
            try:
                yield _port(process), _key(data)
            finally:
                process.terminate()


def _port(process: "Popen[str]") -> int:
    for line in process.stdout or ():
        if found := _ADDRESS.search(line):
            return int(found[1])
    raise SystemExit("the service did not start; what it said is above")


def _key(data: Path) -> str:
    keys: Mapping[str, str] = json.loads((data / "secrets" / "dev-keys.json").read_text())
    return keys["agent"]


if __name__ == "__main__":
    sys.exit(main())
