"""A service of the demo's own: `countersignd dev` on a free port, with an empty folder for its state."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

_BIN = Path(sys.executable).parent
_POLICY = Path(__file__).parent / "policy.yaml"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Laptop:
    """A running service, the keys that it was born with, and a folder for what the demo writes."""

    url: str
    keys: Mapping[str, str]
    folder: Path


@contextmanager
def started() -> Iterator[Laptop]:
    """Run the service until the context ends."""
    with tempfile.TemporaryDirectory(prefix="countersign-demo-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "state"
        command = [str(_BIN / "countersignd"), "dev", "--port", "0", "--data", str(data), "--policy", str(_POLICY)]
        quiet = os.environ | {"COUNTERSIGN_CONSOLE": "false"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=quiet) as process:
            try:
                url = _address(process)
                _wait(url)
                keys = json.loads((data / "secrets" / "dev-keys.json").read_text())
                yield Laptop(url, keys, Path(folder))
            finally:
                process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    for line in process.stdout or ():
        if found := _ADDRESS.search(line):
            return found[0]
    raise SystemExit("the service did not start; what it said is above")


def _wait(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/readyz", timeout=2, trust_env=False).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"the service at {url} is not ready after {_PATIENCE} seconds")
