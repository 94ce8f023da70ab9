"""Hints that questions have changed, as server-sent events: each says nothing but "read again"."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from starlette.responses import StreamingResponse

from app.approvals import queries
from app.door.requests import Request

_HEARTBEAT: Final = 15.0
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def stream(request: Request, last_event_id: str | None, reenter: Callable[[], Awaitable[None]]) -> StreamingResponse:
    """Return a stream of hints, from the one after `last_event_id` on.

    `reenter` passes the door again before each: what has changed may be the end of the key.
    """
    known = last_event_id is not None and last_event_id.isascii() and last_event_id.isdecimal()
    seen = int(last_event_id or 0) if known else None
    return StreamingResponse(_hints(request, seen, reenter), media_type="text/event-stream", headers=_HEADERS)


async def _hints(request: Request, seen: int | None, reenter: Callable[[], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield an event for what was missed since `seen`, then one for every change, and a comment to keep it open."""
    tenant = request.caller.tenant
    yield "retry: 2000\n\n"
    async for changed in request.house.waits.changes(tenant, _HEARTBEAT):
        await reenter()
        latest = await request.house.database.read(lambda reader: queries.latest_change(reader, tenant))
        if changed or (seen is not None and latest != seen):
            yield f"id: {latest}\nevent: changed\ndata: {{}}\n\n"
        else:
            yield ": still here\n\n"
        seen = latest
