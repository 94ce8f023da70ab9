"""The description of the API (OpenAPI 3.1): FastAPI's own, told what it cannot know.

Bad input is 400 and never 422; every problem has one shape; a key opens every route but the public ones; and each
operation names the rights that open it.
"""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI

from app.api.problems import MEDIA_TYPE
from app.door import rights
from app.door.problems import CATALOGUE
from app.door.rights import Entry

_SCHEME: Final = "key"
_NOT_OURS: Final = ("HTTPValidationError", "ValidationError")
_METHODS: Final = ("get", "post", "put", "patch", "delete")

_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": f"Ends with one of: {', '.join(CATALOGUE)}"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["detail", "pointer"],
                "properties": {"detail": {"type": "string"}, "pointer": {"type": "string", "format": "json-pointer"}},
            },
        },
    },
}


def install(app: FastAPI) -> None:
    """Let the app describe itself by this description."""
    as_fastapi_sees_it = app.openapi

    def openapi() -> dict[str, Any]:
        description = as_fastapi_sees_it()
        if _SCHEME not in description.get("components", {}).get("securitySchemes", {}):
            _complete(description)
        return description

    app.openapi = openapi  # type: ignore[method-assign] # the way that FastAPI documents


def _complete(description: dict[str, Any]) -> None:
    components = description.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _NOT_OURS:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    components["securitySchemes"] = {
        _SCHEME: {"type": "http", "scheme": "bearer", "description": "A key of this service: csk_…"}
    }
    for method, path, operation in _operations(description):
        _say_what_can_go_wrong(operation)
        _say_who_may(operation, rights.entry_of(method.upper(), path))


def _operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in description["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method, path, item[method]


def _say_what_can_go_wrong(operation: dict[str, Any]) -> None:
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = {
        "description": "A problem",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _say_who_may(operation: dict[str, Any], entry: Entry | None) -> None:
    if entry is None or entry.rights is None:
        return
    operation["security"] = [{_SCHEME: []}]
    operation["x-rights"] = sorted(entry.rights)
