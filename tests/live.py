"""A service in processes of its own, as an operator runs it: to be raced against, killed and started again."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path

import httpx

COMMAND = Path(sys.executable).parent / "countersignd"
_PATIENCE = 60


class LiveService:
    """One `countersignd serve`, with one process or several, on a free port of loopback.

    What it says goes where this process' own words go, or to the end of a file.
    """

    def __init__(self, environment: Mapping[str, str], workers: int = 1, log: Path | None = None) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, **environment, "COUNTERSIGN_PORT": str(self.port)}
        self._workers = workers
        self._log = log
        self.start()

    def start(self) -> None:
        """Start it, again on the same port, and wait until it answers."""
        command = [str(COMMAND), "serve", "--workers", str(self._workers)]
        with self._log.open("ab") if self._log else nullcontext() as log:
            self.process = subprocess.Popen(
                command, env=self._environment, start_new_session=True, stdout=log, stderr=log
            )
        try:
            self._wait_until_it_answers()
        except Exception:  # whatever it was: nobody else would end it
            self.kill()
            raise

    def kill(self) -> None:
        """End all its processes as a power cut would."""
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it as an operator would, and return its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(_PATIENCE)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"the service ended with status {self.process.returncode}{self._last_words()}")
            try:
                httpx.get(f"{self.url}/healthz", timeout=2).raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return
        raise TimeoutError("the service did not answer")

    def _last_words(self) -> str:
        return f": {self._log.read_text()[-2000:]}" if self._log else ""


def free_port() -> int:
    """Return a port that is free, from where no connection takes its own: others run tests on this machine too."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
