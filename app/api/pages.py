"""Lists in pages: `?limit=&cursor=` in, `{data, next_cursor}` out.

A cursor is opaque to clients. It holds where the last page ended and a digest of the list and its filters, so that it
is no use with others. It is no secret and proves nothing: what it points to is read with the caller's own rights.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query
from starlette.responses import Response

from app.api.requests import Request
from app.api.responses import answer
from app.core import strict_json
from app.core.canonical import canonical_json, digest
from app.core.strict_json import JsonError
from app.door.problems import RefusedError, bad_input

T = TypeVar("T")

MOST: Final = 200
_DIGEST: Final = len("sha256:") + 16

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most")]
Cursor = Annotated[str | None, Query(max_length=2_048, description="The `next_cursor` of the page before")]
USUAL: Final = 50


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list that is asked for: up to `limit` behind the key `after` ("" is the beginning)."""

    limit: int
    after: str
    _list: str

    @property
    def one_more(self) -> int:
        """How many to read, to know whether there is another page."""
        return self.limit + 1

    def page(self, rows: Sequence[T], key: Callable[[T], str], shown: Callable[[T], Any]) -> Response:
        """Return the page of the rows that were read, `one_more` of them at most."""
        here = rows[: self.limit]
        cursor = _encode(self._list, key(here[-1])) if len(rows) > self.limit else None
        return answer({"data": [shown(row) for row in here], "next_cursor": cursor})


def window(request: Request, limit: int, cursor: str | None, filters: Mapping[str, object] | None = None) -> Window:
    """Return what part of the list is asked for.

    Raises:
        RefusedError: the cursor is of another list, or of other filters.
    """
    said = {name: str(value) for name, value in (filters or {}).items() if value is not None}
    name = digest({"path": request.scope["path"], "filters": said})[:_DIGEST]
    return Window(limit, "" if cursor is None else _decode(name, cursor), name)


def _encode(name: str, after: str) -> str:
    return base64.urlsafe_b64encode(canonical_json([name, after])).rstrip(b"=").decode("ascii")


def _decode(name: str, cursor: str) -> str:
    try:
        content = strict_json.load(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, JsonError):
        raise _foreign() from None
    if not isinstance(content, list) or len(content) != 2 or content[0] != name or not isinstance(content[1], str):  # noqa: PLR2004
        raise _foreign()
    return content[1]


def _foreign() -> RefusedError:
    return bad_input("query parameter cursor: not a cursor of this list with these filters; begin without one")
