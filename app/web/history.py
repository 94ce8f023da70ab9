"""What has been decided, and how it ended."""

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import Response

from app.door.viewers import viewer
from app.gate import queue
from app.web import rendering, routing
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 50
_AFTER_ALL: Final = "apr_" + "z" * 26


@router.get("/console/history")
async def read(request: Request, before: Annotated[str, Query(max_length=64)] = _AFTER_ALL) -> Response:
    """Show questions that are over, the newest first."""
    looking = await viewer(request)
    past = await request.house.database.read(lambda reader: queue.past(reader, looking, before, _PAGE))
    return rendering.page(request, "history.html", questions=past.questions, before=past.before)
