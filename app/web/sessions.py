"""The session cookie, and the console's door: a session that still stands, with a right that the page takes."""

from typing import Final

from starlette.responses import Response

from app.core.refusals import RefusalKind
from app.door import entrance
from app.door.house import House
from app.door.problems import RefusedError
from app.door.rights import Entry
from app.identity import sessions
from app.identity.sessions import Session
from app.web.requests import Request

_NAME: Final = "countersign"
_HOST_PREFIX: Final = "__Host-"


async def enter(request: Request, entry: Entry | None) -> None:
    """Let the request through, with who is signed in written on it, or refuse it.

    Raises:
        RefusedError: 401 without a session whose key stands, 403 without a right that the page takes.
    """
    if entry is None:
        raise RefusedError(RefusalKind.FORBIDDEN, "no right leads to this page")
    if entry.rights is None:
        return
    session = _presented(request)
    if session is None:
        raise RefusedError(RefusalKind.UNAUTHENTICATED, "")
    if await request.house.database.read(lambda reader: sessions.is_ended(reader, session)):
        raise RefusedError(RefusalKind.UNAUTHENTICATED, "you have signed out")
    request.scope["own_session"] = session
    await entrance.enter(request, entry, session)


def give(response: Response, house: House, token: str) -> None:
    """Have the browser keep the session until it is closed, and show it to the console alone."""
    response.set_cookie(_name(house), token, path="/", secure=not house.development, httponly=True, samesite="strict")


def take(response: Response, house: House) -> None:
    """Have the browser forget the session."""
    response.delete_cookie(_name(house), path="/", secure=not house.development, httponly=True, samesite="strict")


def _presented(request: Request) -> Session | None:
    token = request.cookies.get(_name(request.house))
    return None if token is None else request.house.sessions.read(token)


def _name(house: House) -> str:
    """Return the cookie's name; the prefix binds it to this host and to TLS (RFC 6265bis, section 4.1.3.2)."""
    return _NAME if house.development else f"{_HOST_PREFIX}{_NAME}"
