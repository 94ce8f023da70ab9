"""The keys that tools verify permits with, offline."""

from starlette.responses import Response

from app.api import routing
from app.api.requests import Request
from app.api.responses import answer
from app.audit import keys
from app.core.permits import public_jwk

router = routing.router()


@router.get("/.well-known/jwks.json")
async def jwks(request: Request) -> Response:
    """Return the public keys of permits, those of retired ones too: a permit outlives a rotation (RFC 7517)."""
    published = await request.house.database.read(keys.published)
    return answer({"keys": [public_jwk(entry["pem"], key_id) for key_id, entry in published.items()]})
