"""Answers: JSON as it leaves, made once and handed to the server without another look."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from pydantic_core import to_json
from starlette.responses import Response

from app.core.chain import timestamp

_JSON: Final = "application/json"
_NO_STORE: Final = {"Cache-Control": "no-store"}


def answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response: decimals and moments as strings, never cached, since every answer is of its moment."""
    return Response(to_json(content), status, _NO_STORE if headers is None else {**_NO_STORE, **headers}, _JSON)


def moment(at: datetime | None) -> str | None:
    """Return a moment as answers write it: RFC 3339, UTC, microseconds."""
    if at is None:
        return None
    # Postgres' infinity comes without a zone, and as far away as a year can be.
    return timestamp(at if at.tzinfo else at.replace(tzinfo=UTC))


def nothing() -> Response:
    """Return the response of what has been done and has no more to say (204)."""
    return Response(status_code=204, headers=_NO_STORE)
