"""What a key stands for, told to whoever holds it."""

from starlette.responses import Response

from app.api import routing
from app.api.requests import Request
from app.api.responses import answer

router = routing.router()


@router.get("/v1/whoami")
async def whoami(request: Request) -> Response:
    """Return the principal, its facts, and what the key may do."""
    caller = request.caller
    return answer(
        {
            "principal": caller.principal,
            "kind": caller.kind,
            "owner": caller.owner,
            "tenant": caller.tenant,
            "environment": caller.environment,
            "roles": sorted(caller.roles),
            "rights": sorted(caller.rights),
            "speak_for": sorted(request.speak_for),
            "credential": request.credential_id,
            "revoked": request.sight.authority.is_revoked(caller.principal),
        }
    )
