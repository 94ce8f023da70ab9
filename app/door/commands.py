"""Commands of the desk, as routes hand them in."""

from typing import TypeVar

from app.door.requests import Request
from app.gate.group import Command

T = TypeVar("T")


async def submit(request: Request, command: Command[T]) -> T:
    """Return the command's answer, once it is committed.

    Raises:
        DeskFullError: nothing was changed; try again.
        StoreUnavailableError: no answer in time; the same command, sent again under its key, counts once.
    """
    return await request.house.desk.submit(request.caller.tenant, command)
