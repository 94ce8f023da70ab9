"""Work without an end ends when the process is told to, in whatever moment that is."""

import asyncio
import gc
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from app.door.ending import until_told


class _Told:
    """Something whose collection is the moment of the signal, where an exception would be swallowed."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        """Be told."""
        signal.raise_signal(signal.SIGTERM)


def _plainly() -> None:
    signal.raise_signal(signal.SIGTERM)


def _while_collecting() -> None:
    _Told()
    gc.collect()


def _by_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("tell", [_plainly, _while_collecting, _by_ctrl_c])
async def test_it_ends_and_tidies_up(tell: Callable[[], None]) -> None:
    tidied: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            tidied.append(True)

    asyncio.get_running_loop().call_later(0.01, tell)
    async with asyncio.timeout(5):
        await until_told(work())
    assert tidied == [True]


async def test_what_goes_wrong_is_not_taken_for_the_end() -> None:
    async def work() -> None:
        raise LookupError("no such thing")

    with pytest.raises(LookupError):
        await until_told(work())


_TOLD_UNHEARD = """
import signal
from app.cli import server

class Collected:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

server.end_when_told()
Collected()
print("goes on", flush=True)
server.{begins}
print("serves", flush=True)
"""


@pytest.mark.parametrize("begins", ["serve(None, 1)", "serve(None, 2)", "work()"])
def test_who_is_told_before_it_serves_does_not_begin_to(begins: str) -> None:
    script = _TOLD_UNHEARD.format(begins=begins)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, "goes on\n")
