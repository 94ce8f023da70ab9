"""What went wrong, as the API says it: problems of RFC 9457, from the door's one table.

A problem names the place and what to do. It never has a value of somebody's arguments, nor what is behind an error.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.core.refusals import Refusal, RefusalKind
from app.core.strict_json import JsonError, pointer
from app.door.problems import CATALOGUE, OF_ERRORS, RETRY_AFTER, Fault, RefusedError, meaning

MEDIA_TYPE: Final = "application/problem+json"
_MOST_FAULTS = 20
_LONGEST_POINTER = 512


def of_refusal(request: Request, refusal: Refusal) -> Response:
    """Return the problem of a command's refusal; its code and values are further members."""
    faults = (Fault(refusal.detail, refusal.pointer),) if refusal.kind is RefusalKind.BAD_INPUT else ()
    members = dict(refusal.values) | ({"code": refusal.code} if refusal.code else {})
    return problem(request, refusal.kind, refusal.detail, faults, members)


def of_error(request: Request, error: RefusedError | JsonError | RequestValidationError) -> Response:
    """Return the problem of a request that the door, the loader or a model refuses."""
    if isinstance(error, RefusedError):
        return problem(request, error.kind, error.detail, error.faults)
    if isinstance(error, JsonError):
        return problem(request, RefusalKind.BAD_INPUT, error.detail, (Fault(error.detail, error.pointer),))
    faults = tuple(_fault(found) for found in error.errors()[:_MOST_FAULTS])
    return problem(request, RefusalKind.BAD_INPUT, _summary(faults), faults)


def problem(
    request: Request,
    kind: str,
    detail: str,
    faults: Iterable[Fault] = (),
    members: Mapping[str, Any] = MappingProxyType({}),
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """Return a problem of a kind of the catalogue, with further members and headers."""
    entry = CATALOGUE[kind]
    faults = tuple(faults)
    request.scope["problem"] = (members.get("code") or kind, faults[0].pointer if faults else "")
    content = dict(members) | {
        "type": f"{request.app.state.house.address}/problems/{kind}",
        "title": entry.title,
        "status": entry.status,
        "detail": detail,
        "instance": request.scope["path"],
        "request_id": request.scope.get("request_id", ""),
    }
    if errors := [{"detail": fault.detail, "pointer": _shortened(fault.pointer)} for fault in faults]:
        content["errors"] = errors
    return Response(to_json(content), entry.status, {**_headers(entry.status), **headers}, MEDIA_TYPE)


def failed(request: Request) -> Response:
    """Return the problem of an error that nobody foresaw."""
    return problem(request, "internal", "the service failed; nothing was allowed")


def install(app: FastAPI) -> None:
    """Make problems of the errors that reach the app: the database's and the router's."""
    for error in OF_ERRORS:
        app.add_exception_handler(error, _known)
    app.add_exception_handler(HTTPException, _plain)


async def _known(request: Request, error: Exception) -> Response:
    return problem(request, *meaning(error))


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is installed for this type
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted(_methods_at(request)))
        return problem(request, "method-not-allowed", f"this takes {allowed}", headers={"Allow": allowed})
    return problem(request, RefusalKind.NOT_FOUND, f"there is nothing at {request.scope['path']}")


def _methods_at(request: Request) -> set[str]:
    """Return the methods of every route at the request's path; one route knows only its own."""
    methods: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        if route.path_regex.match(request.scope["path"]):
            methods |= route.methods or set()
    return methods


def _headers(status: int) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="countersign"'
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_AFTER
    return headers


_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "this member is required",
        "extra_forbidden": "there is no such member here",
        "model_type": "an object is expected",
        "model_attributes_type": "an object is expected",
        "dict_type": "an object is expected",
        "list_type": "an array is expected",
        "string_type": "a string is expected",
        "bool_type": "true or false is expected",
        "int_type": "a whole number is expected",
        "float_type": "a number is expected",
    }
)


def _fault(found: Mapping[str, Any]) -> Fault:
    """Return one of pydantic's errors as a fault. Its `input` is never looked at."""
    source, *path = found["loc"]
    detail = _SENTENCES.get(found["type"]) or str(found["msg"]).removeprefix("Value error, ")
    if source == "body":
        return Fault(detail, pointer(tuple(step for step in path if step != "[key]")))
    return Fault(f"{source} parameter {'.'.join(map(str, path))}: {detail[:1].lower()}{detail[1:]}")


def _summary(faults: tuple[Fault, ...]) -> str:
    first = f"{faults[0].pointer}: {faults[0].detail}" if faults[0].pointer else faults[0].detail
    return first if len(faults) == 1 else f"{first} (and {len(faults) - 1} more)"


def _shortened(where: str) -> str:
    """Return the pointer, or if it is very long that of the innermost value around it that is not."""
    return where if len(where) <= _LONGEST_POINTER else where[: _LONGEST_POINTER + 1].rpartition("/")[0]
