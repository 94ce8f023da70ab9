"""Work without an end ends when the process is told to, in whatever moment that is."""

import asyncio
import gc
import signal
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
