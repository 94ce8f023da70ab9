"""Every request is accounted for: it has an id, an answer whatever happens, a line in the log, and is measured."""

import re
import secrets
import time
from typing import Final

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import metrics, problems

_log = structlog.get_logger(__name__)

_HEADER: Final = b"x-request-id"
_ACCEPTABLE: Final = re.compile(rb"[\x21-\x7e]{1,128}")
_FAILED: Final = 500


class Accounting:
    """One layer of plain ASGI around everything.

    The log has the route's template and never a path, a query, a body, a header or the message of an exception: these
    may hold arguments and secrets. So no exception leaves here, or the server would write it out.
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
        started, status = time.perf_counter(), 0

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (_HEADER, request_id)]
            await send(message)

        try:
            await self._app(scope, receive, with_id)
        except Exception:  # noqa: BLE001 - whatever it was, the caller hears that the service failed
            _log.exception("request_failed", route=_route(scope), request_id=scope["request_id"])
            if not status:
                await problems.failed(Request(scope))(scope, receive, with_id)
        finally:
            _account(scope, status or _FAILED, time.perf_counter() - started)


def _request_id(scope: Scope) -> bytes:
    sent = next((value for name, value in scope["headers"] if name == _HEADER), b"")
    return sent if _ACCEPTABLE.fullmatch(sent) else secrets.token_hex(12).encode()


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path_format", ""))


def _account(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
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
