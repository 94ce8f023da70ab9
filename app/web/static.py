"""Serving what pages load."""

from starlette.responses import Response

from app.core.refusals import RefusalKind
from app.door.problems import RefusedError
from app.web import assets, routing
from app.web.requests import Request

router = routing.router()


@router.get("/console/static/{name}")
async def read(request: Request, name: str) -> Response:  # noqa: ARG001 - every route takes its request
    """Return a file; its address has its digest, so it may be kept for ever."""
    asset = assets.find(name)
    if asset is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such file")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(asset.content, headers=headers, media_type=asset.media_type)
