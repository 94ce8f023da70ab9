"""The queue: what waits for whoever is signed in, what is approved and not yet used, and hints to read again."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Header, Query
from starlette.responses import Response

from app.approvals.queries import Filter
from app.approvals.questions import Status
from app.core.values import Json
from app.db.database import Reader
from app.door import hints, rights
from app.door.viewers import viewer
from app.gate import queue
from app.gate.question_views import Viewer
from app.web import rendering, routing, sessions
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 50

After = Annotated[str, Query(max_length=64)]


@router.get("/console/approvals")
async def read(request: Request, after: After = "") -> Response:
    """Show what one may decide, the oldest first; to operators and auditors, everything that waits."""
    looking = await viewer(request)
    waiting, unused = await request.house.database.read(lambda reader: _read(reader, looking, after))
    more = waiting[_PAGE - 1]["id"] if len(waiting) > _PAGE else None
    here, me = waiting[:_PAGE], request.caller.principal
    return rendering.page(
        request,
        "approvals.html",
        waiting=[question for question in here if not _answered(question, me)],
        answered=[question for question in here if _answered(question, me)],
        unused=unused[:_PAGE],
        after=after,
        more=more,
        decides=looking.caller.may("approve"),
    )


@router.get("/console/events")
async def stream(
    request: Request, last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=32)] = None
) -> Response:
    """Stream a hint whenever a question has changed, for the script that reads the page again."""
    entry = rights.entry_of("GET", "/console/events")
    return hints.stream(request, last_event_id, lambda: sessions.enter(request, entry))


def _answered(question: Mapping[str, Any], principal: str) -> bool:
    return any(vote["by"] == principal for vote in question["votes"])


async def _read(reader: Reader, looking: Viewer, after: str) -> tuple[list[dict[str, Json]], list[dict[str, Json]]]:
    mine = looking.caller.may("approve")
    waiting = Filter(looking.now, Status.PENDING, after=after)
    unused = Filter(looking.now, Status.APPROVED)
    return (
        await queue.page(reader, looking, waiting, _PAGE + 1, mine=mine),
        [] if after else await queue.page(reader, looking, unused, _PAGE, mine=mine),
    )
