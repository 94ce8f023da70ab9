"""The API's door: a key in the Authorization header of each request. It looks at nothing but headers."""

from app.api.requests import Request
from app.core.refusals import RefusalKind
from app.door import entrance
from app.door.problems import RefusedError
from app.door.rights import Entry
from app.identity import credentials
from app.identity.credentials import Presented

_SCHEME = "bearer "


async def enter(request: Request, entry: Entry | None) -> None:
    """Let the request through, with who asks written on it, or refuse it.

    Raises:
        RefusedError: 401 without a valid key, 403 without a right that the route takes.
    """
    if entry is None:
        raise RefusedError(RefusalKind.FORBIDDEN, "no right leads to this route")
    if entry.rights is not None:
        await entrance.enter(request, entry, _presented(request.headers.getlist("authorization")))


def _presented(headers: list[str]) -> Presented:
    if len(headers) != 1:
        raise _unauthenticated("send one key, as `Authorization: Bearer csk_…`")
    header = headers[0]
    if header[: len(_SCHEME)].lower() != _SCHEME:
        raise _unauthenticated("the Authorization header has to be of the scheme Bearer")
    presented = credentials.parse(header[len(_SCHEME) :].strip())
    if presented is None:
        raise _unauthenticated("this is not a key of this service; they begin with csk_")
    return presented


def _unauthenticated(detail: str) -> RefusedError:
    return RefusedError(RefusalKind.UNAUTHENTICATED, detail)
