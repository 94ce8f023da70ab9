"""Request ids, the log line of each request, and its measures: one layer of plain ASGI around everything."""

import re
import secrets
import time
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import metrics

_log = structlog.get_logger(__name__)

_HEADER: Final = b"x-request-id"
_ACCEPTABLE: Final = re.compile(rb"[\x21-\x7e]{1,128}")


class RequestLayer:
    """Gives every request an id, echoes it, and writes what came of it to the log and the measures.

    The log has the route's template and never a query, a body, or a header: these may hold arguments and secrets.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope["request_id"] = request_id.decode("ascii")
        started, status = time.perf_counter(), 500

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (_HEADER, request_id)]
            await send(message)

        try:
            await self._app(scope, receive, with_id)
        finally:
            _account(scope, status, time.perf_counter() - started)


def _request_id(scope: Scope) -> bytes:
    sent = next((value for name, value in scope["headers"] if name == _HEADER), b"")
    return sent if _ACCEPTABLE.fullmatch(sent) else secrets.token_hex(12).encode()


def _account(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "")
    metrics.served(scope["method"], route, status, seconds)
    caller = scope.get("caller")
    _log.info(
        "request",
        method=scope["method"],
        route=route,
        status=status,
        milliseconds=round(seconds * 1000, 2),
        request_id=scope["request_id"],
        tenant=caller.tenant if caller else "",
        credential=scope.get("credential_id", ""),
    )
