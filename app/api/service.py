"""The service about itself: alive, ready, and what its problems mean."""

from typing import Final

from starlette.responses import PlainTextResponse, Response

from app.api import problems, routing
from app.api.requests import Request
from app.api.responses import answer
from app.core.refusals import RefusalKind
from app.door.problems import CATALOGUE

router = routing.router()

_OK: Final = 200
_UNAVAILABLE: Final = 503


@router.get("/healthz")
@router.get("/health", include_in_schema=False)
async def healthz(request: Request) -> Response:  # noqa: ARG001 - every route takes its request
    """Whether the process answers. It asks nothing else, so that a database that is down restarts no replica."""
    return answer({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Whether the service can decide: database, schema, signing key and chain heads; 503 names what is missing."""
    findings = await request.house.readiness.findings(request.house)
    content = {"status": "unready" if findings else "ready", "findings": findings}
    return answer(content, _UNAVAILABLE if findings else _OK)


@router.get("/problems/{kind}")
async def explain_problem(request: Request, kind: str) -> Response:
    """What a problem means and what to do about it, in a sentence each."""
    entry = CATALOGUE.get(kind)
    if entry is None:
        return problems.problem(request, RefusalKind.NOT_FOUND, "there is no such kind of problem")
    return PlainTextResponse(f"{entry.status} {kind}: {entry.title}\n\n{entry.remedy}\n")
