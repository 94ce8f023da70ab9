"""The route class of every page: who is signed in, where a change comes from, the page; and a no is a page too."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request as PlainRequest
from starlette.responses import Response
from typing_extensions import override

from app.core.refusals import RefusalKind
from app.door import rights
from app.door.problems import OF_ERRORS, RefusedError, bad_input, meaning
from app.web import origins, refused, sessions
from app.web.requests import Request

_log = structlog.get_logger(__name__)

_Handler = Callable[[PlainRequest], Coroutine[Any, Any, Response]]

_HEADERS: Final = {
    # Everything from this host, nothing inline, nothing embedded, forms sent to this host only.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Without an origin to go with a form, a browser writes `Origin: null`; to other hosts nothing is told.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class PageRoute(APIRoute):
    """A page behind the door. Routes name their whole path, and take the request as `request: Request`."""

    @override
    def get_route_handler(self) -> _Handler:
        """Return FastAPI's handler behind the door; whatever refuses is answered by a page."""
        handle = super().get_route_handler()
        entry = rights.entry_of(min(self.methods or {""}), self.path_format)

        async def through_the_door(plain: PlainRequest) -> Response:
            request = Request(plain.scope, plain.receive)
            try:
                await sessions.enter(request, entry)
                origins.check(request)
                _check_path(request)
                response = await handle(request)
            except RefusedError as error:
                response = refused.page(request, error.kind, error.detail)
            except RequestValidationError:
                response = refused.page(request, RefusalKind.BAD_INPUT, "The address holds what this page cannot take.")
            except tuple(OF_ERRORS) as error:
                response = refused.page(request, *meaning(error))
            except Exception:  # noqa: BLE001 - whatever it was, who looks at a page is answered by a page
                _log.exception("request_failed", route=self.path_format, request_id=request.id)
                response = refused.failed(request)
            return _secured(response)

        return through_the_door


def router() -> APIRouter:
    """Return a router whose routes are pages."""
    return APIRouter(route_class=PageRoute, include_in_schema=False)


def see(path: str) -> Response:
    """Send the browser on to a page, to read it: what a change answers, so that reloading repeats nothing."""
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": path})


def _check_path(request: Request) -> None:
    if "\0" in request.scope["path"] or b"%00" in request.scope["query_string"]:
        raise bad_input("NUL is not allowed in an address")


def _secured(response: Response) -> Response:
    response.headers.update(_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
