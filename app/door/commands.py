"""Commands of the desk, as routes hand them in."""

from typing import TypeVar

from app.door.requests import Request
from app.gate.group import Command

T = TypeVar("T")


async def submit(request: Request, command: Command[T]) -> T:
    """Return the command's answer, once it is committed.

    Raises:
        DeskFullError, StoreUnavailableError: nothing was changed; try again.
    """
    return await request.house.desk.submit(request.caller.tenant, command)
