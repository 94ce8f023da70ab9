"""Where signing in leads, and where no page is."""

from starlette.responses import Response

from app.core.refusals import RefusalKind
from app.door.problems import RefusedError
from app.web import rendering, routing
from app.web.requests import Request

router = routing.router()


@router.get("/console")
@router.get("/console/")
async def go(request: Request) -> Response:
    """Go to the first page of the navigation; a key that opens none of them is told so."""
    places = rendering.places(request)
    return routing.see(places[0].path) if places else rendering.page(request, "nothing.html")


@router.get("/console/{rest:path}")
async def lose(request: Request, rest: str) -> Response:  # noqa: ARG001 - a route takes its request and its path
    """Say that there is no such page; every other route comes before this one."""
    raise RefusedError(RefusalKind.NOT_FOUND, "there is no such page")
