"""What the process does as soon as it is told to end, while requests are still in flight."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

_TOLD_BY: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def when_told_to_end(act: Callable[[], None]) -> Iterator[None]:
    """Act on the signals that end the process, before the server's own handlers do.

    A server waits for requests in flight before it ends the app, so whoever waits for people has to be told earlier.
    Only the main thread gets signals; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _TOLD_BY}

    def first(number: int, frame: FrameType | None) -> None:
        act()
        then = before[signal.Signals(number)]
        if callable(then):
            then(number, frame)

    for number in _TOLD_BY:
        signal.signal(number, first)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def until_told(work: Coroutine[Any, Any, None]) -> None:
    """Do work that has no end until the process is told to end; then let it tidy up.

    The loop takes the signals. A handler that raises does so wherever the interpreter happens to be, and what is
    called from C, or is just being collected, swallows it: the process was told and goes on.
    """
    loop, working = asyncio.get_running_loop(), asyncio.ensure_future(work)
    for number in _TOLD_BY:
        loop.add_signal_handler(number, working.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await working
    finally:
        for number in _TOLD_BY:
            loop.remove_signal_handler(number)
