"""Where signing in leads: the first page that one may see."""

from starlette.responses import Response

from app.web import rendering, routing
from app.web.requests import Request

router = routing.router()


@router.get("/console")
@router.get("/console/")
async def go(request: Request) -> Response:
    """Go to the first page of the navigation; a key that opens none of them is told so."""
    places = rendering.places(request)
    return routing.see(places[0].path) if places else rendering.page(request, "nothing.html")
