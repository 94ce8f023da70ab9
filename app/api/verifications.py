"""Evidence over HTTP: a verification for one call."""

from starlette.responses import Response

from app.api import routing
from app.api.models.verifications import VerificationBody
from app.api.requests import Request
from app.api.responses import answer
from app.door import lanes
from app.evidence import verifications

router = routing.router()


@router.post("/v1/verifications", status_code=201, tags=["admissions"])
async def make_verification(request: Request, body: VerificationBody) -> Response:
    """Keep what was made of a finding, for one call and one admission; without a judgement the skeptic judges."""
    made, by = body.to_verification(request.house.defaults.verification), request.caller.principal
    return answer(await lanes.run(request, lambda lane: verifications.make(lane, by, made)), 201)
