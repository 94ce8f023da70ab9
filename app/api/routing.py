"""The route class of every router: who asks is settled before a body is read, and a body before it is validated."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request as PlainRequest
from starlette.responses import Response
from typing_extensions import override

from app.api import authentication, problems, turned_away
from app.api.requests import Request
from app.core.strict_json import JsonError
from app.door import rights
from app.door.problems import RefusedError, bad_input

_EXPLAINED = b"explain=true"
_Handler = Callable[[PlainRequest], Coroutine[Any, Any, Response]]


class StrictRoute(APIRoute):
    """A route behind the door.

    Routes name their whole path, so that it is found in the table of rights as it stands, and take the request as
    `request: Request` for who asks and for the house; a pydantic model as a parameter is the body.
    """

    @override
    def get_route_handler(self) -> _Handler:
        """Return FastAPI's handler behind the door, handed a request whose body is read and parsed already."""
        handle = super().get_route_handler()
        entries = {
            explained: rights.entry_of(min(self.methods or {""}), self.path_format, explained=explained)
            for explained in (False, True)
        }

        async def through_the_door(plain: PlainRequest) -> Response:
            request = Request(plain.scope, plain.receive)
            entry = entries[_EXPLAINED in request.scope["query_string"]]
            try:
                await authentication.enter(request, entry)
                response = await self._serve(request, handle)
            except (RefusedError, JsonError, RequestValidationError) as error:
                response = problems.of_error(request, error)
            if entry is not None and entry.records_refusals:
                await turned_away.note(request, response)
            return response

        return through_the_door

    async def _serve(self, request: Request, handle: _Handler) -> Response:
        if "\0" in request.scope["path"] or b"%00" in request.scope["query_string"]:
            raise bad_input("NUL is not allowed in a path or query")
        if self.body_field is not None:
            await request.json()
        return await handle(request)


def router() -> APIRouter:
    """Return a router whose routes are behind the door."""
    return APIRouter(route_class=StrictRoute)
