"""Whether the process lives, and whether it can decide."""

from typing import Final

from starlette.responses import Response

from app.api import routing
from app.api.requests import Request
from app.api.responses import answer

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
    findings = await request.house.readiness.findings()
    content = {"status": "unready" if findings else "ready", "findings": findings}
    return answer(content, _UNAVAILABLE if findings else _OK)
