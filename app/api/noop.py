"""A route that does nothing, authenticated and parsed like an admission: what admissions are measured against."""

from starlette.responses import Response

from app.api import routing
from app.api.models.calls import CallBody
from app.api.requests import Request
from app.api.responses import answer

router = routing.router()


@router.post("/v1/noop", include_in_schema=False)
async def noop(request: Request, body: CallBody) -> Response:
    """Take a call, do nothing with it, and say so."""
    call = body.to_call()
    return answer({"outcome": None, "principal": request.caller.principal, "action": call.action.name})
