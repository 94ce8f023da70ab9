"""Turns: how many requests begin in one turn of the event loop."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

MOST: Final = 3
"""Requests that begin in one turn. A request computes for about half a millisecond before it first waits."""


class Turns:
    """One layer of plain ASGI that lets a few requests begin, and then everything else have its turn.

    A loop runs all that is ready before it looks at its sockets again. When a hundred requests come at once, each of
    them computes until it waits for its group, and meanwhile the answers of Postgres to the group before lie unread:
    database and service then work one after the other instead of side by side.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._places = asyncio.Semaphore(MOST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request when it is its turn; first come, first served."""
        if scope["type"] == "http":
            await self._places.acquire()
            # Given back in the next turn, whether or not this request still computes or waits by then.
            asyncio.get_running_loop().call_soon(self._places.release)
        await self._app(scope, receive, send)
