"""Administrative changes: one command in the tenant's lane, by somebody who still may when the lane is theirs."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.audit.lane import Lane
from app.core.refusals import RefusalKind
from app.door import rights
from app.door.problems import RefusedError
from app.door.requests import Request
from app.identity import authority

T = TypeVar("T")


async def run(request: Request, command: Callable[[Lane], Awaitable[T]]) -> T:
    """Run the command in the caller's lane and commit, unless the key lost its right on the way here.

    Raises:
        RefusedError: between the door and the lane the key was revoked, or lost the right.
        StoreUnavailableError: the database did not answer.
    """

    async def confirmed(lane: Lane) -> T:
        if lane.head.authority_epoch != request.sight.epochs.authority_epoch:
            await _confirm(request, lane)
        return await command(lane)

    return await request.house.lanes.run(request.caller.tenant, confirmed)


async def _confirm(request: Request, lane: Lane) -> None:
    today = await authority.load(lane.tx, request.caller.tenant)
    caller = None if today is None else today.caller(request.credential_id, lane.now)
    if caller is None:
        raise RefusedError(RefusalKind.UNAUTHENTICATED, "the key was revoked a moment ago")
    entry = rights.entry_of(request.method, request.scope["route"].path_format)
    if entry is None or not entry.admits(caller.rights):
        raise RefusedError(RefusalKind.FORBIDDEN, "the key lost the right to this a moment ago")
