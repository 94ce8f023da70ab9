"""The `Idempotency-Key` header: a quoted string, as the IETF draft has it, or bare."""

import re
from typing import Annotated, Any, Final

from fastapi import Header

from app.door.problems import bad_input
from app.door.requests import Request

LONGEST_IDEMPOTENCY_KEY: Final = 255

_QUOTED = re.compile(r'"([\x21\x23-\x7e]*)"')
_BARE = re.compile(r"[\x21\x23-\x7e]+")

_HEADER: Final = "Idempotency-Key"

DESCRIBED: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": _HEADER,
            "in": "header",
            "required": False,
            "description": "Quoted or bare, 255 at most",
            "schema": {"type": "string"},
        }
    ]
}
"""For `openapi_extra` of a route that reads the header by `header_of`: admissions do, since a parameter that FastAPI
solves costs as much as parsing the body."""

IdempotencyKey = Annotated[str | None, Header(alias=_HEADER, description="Quoted or bare, 255 at most")]


def header_of(request: Request) -> str | None:
    """Return the header as it was sent, if it was."""
    return request.headers.get(_HEADER)


def key_of(header: str) -> str:
    """Return the key that the header gives.

    Raises:
        RefusedError: it is malformed, or too long.
    """
    quoted = _QUOTED.fullmatch(header)
    key = quoted[1] if quoted else header
    if not _BARE.fullmatch(key) or len(key) > LONGEST_IDEMPOTENCY_KEY:
        raise bad_input(f"header Idempotency-Key: 1 to {LONGEST_IDEMPOTENCY_KEY} visible characters are expected")
    return key
