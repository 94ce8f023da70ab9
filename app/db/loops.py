"""When a loop that runs for as long as the process does has to end."""

import asyncio


def told_to_end() -> bool:
    """Return whether the task that runs has been cancelled, even if nobody has raised it here.

    A cancellation can be lost on its way: before Python 3.12 `asyncio.wait_for`, which drivers and clients are built
    on, drops one that comes in the moment when what it waits for is done. A loop that only the exception ends would
    then go on for good, and the process that it belongs to would not end when it is told to.

    Until Python 3.13 a task group that fails while it is being left counts as such a cancellation of its task, for
    good. So a round of a loop that opens one has to be a task of its own.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
