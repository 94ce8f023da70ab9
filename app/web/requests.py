"""A request of a browser: who is signed in, and a form as it was filled in."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl

from app.core.refusals import RefusalKind
from app.door import requests
from app.door.problems import RefusedError, bad_input

if TYPE_CHECKING:
    from app.identity.sessions import Session

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 1_000


class Request(requests.Request):
    """One request of the console."""

    @property
    def own_session(self) -> "Session":
        """The session that the request is made in. Only for routes that take one."""
        return cast("Session", self.scope["own_session"])

    @property
    def signed_in(self) -> bool:
        """Whether it is known who makes the request."""
        return "caller" in self.scope

    @property
    def here(self) -> str:
        """The path and query that were asked for."""
        query = self.url.query
        return f"{self.scope['path']}?{query}" if query else str(self.scope["path"])

    async def fields(self) -> Mapping[str, str]:
        """Return the fields of the form that was sent, by name; of two of one name the last.

        Raises:
            RefusedError: it is no form, or has too many fields.
        """
        if self.media_type != _FORM:
            raise bad_input("this takes a form of the console")
        try:
            sent = (await self.body()).decode()
            return dict(parse_qsl(sent, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"))
        except ValueError:
            raise RefusedError(RefusalKind.BAD_INPUT, "the form cannot be read") from None
