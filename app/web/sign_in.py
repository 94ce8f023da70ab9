"""Signing in with a key, and out again."""

from starlette.responses import Response

from app.core.refusals import RefusalKind
from app.door import entrance
from app.door.problems import RefusedError
from app.door.rights import Freshness
from app.identity import credentials
from app.identity import sessions as identity_sessions
from app.web import refused, rendering, routing, sessions
from app.web.requests import Request

router = routing.router()

_HOME = "/console"


@router.get("/console/sign-in")
async def ask(request: Request) -> Response:
    """Show the form."""
    return rendering.page(request, "sign_in.html", again=_HOME, problem="")


@router.post("/console/sign-in")
async def sign_in(request: Request) -> Response:
    """Open a session with a key, and go on to the page that was asked for."""
    fields = await request.fields()
    again = _ours(fields.get("again", ""))
    try:
        token = await _open(request, fields.get("key", ""))
    except RefusedError as error:
        return refused.sign_in(request, again, error.detail)
    response = routing.see(again)
    sessions.give(response, request.house, token)
    return response


@router.post("/console/sign-out")
async def sign_out(request: Request) -> Response:
    """End the session, here and for everybody who may have got hold of its token."""
    session = request.own_session
    await request.house.lanes.run(session.tenant, lambda lane: identity_sessions.end(lane.tx, session, lane.now))
    response = routing.see("/console/sign-in")
    sessions.take(response, request.house)
    return response


async def _open(request: Request, key: str) -> str:
    presented = credentials.parse(key.strip())
    if presented is None:
        raise RefusedError(RefusalKind.UNAUTHENTICATED, "this is not a key of this service; they begin with csk_")
    identity, sight = await entrance.authenticate(request.house.watch, presented, Freshness.NOW)
    return request.house.sessions.open(sight.authority, identity.credential_id, sight.now())


def _ours(path: str) -> str:
    """Return the path if it is one of the console, so that nobody is sent elsewhere after signing in."""
    inside = path == _HOME or path.startswith((f"{_HOME}/", f"{_HOME}?"))
    return path if inside and path.isascii() and path.isprintable() and "\\" not in path else _HOME
