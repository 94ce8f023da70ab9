"""What each kind of problem means: where the `type` of a problem leads."""

from starlette.responses import PlainTextResponse, Response

from app.api import problems, routing
from app.core.refusals import RefusalKind
from app.door.problems import CATALOGUE
from app.door.requests import Request

router = routing.router()


@router.get("/problems/{kind}")
async def explain_problem(request: Request, kind: str) -> Response:
    """What a problem means and what to do about it, in a sentence each."""
    entry = CATALOGUE.get(kind)
    if entry is None:
        return problems.problem(request, RefusalKind.NOT_FOUND, "there is no such kind of problem")
    return PlainTextResponse(f"{entry.status} {kind}: {entry.title}\n\n{entry.remedy}\n")
