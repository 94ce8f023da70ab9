"""API keys over HTTP: made, listed, rotated, revoked. A key is shown once, by the call that makes or rotates it."""

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.fields import Name
from app.api.models.identity import KeyBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.core.refusals import Refusal
from app.db.statements import Row
from app.door import lanes
from app.identity import credentials
from app.identity.credentials import IssuedKey

router = routing.router()


@router.post("/v1/keys", status_code=201)
async def create_key(request: Request, body: KeyBody) -> Response:
    """Make a key. `key` in the answer is shown now and never again; `findings` say what is odd about it."""
    new, by = body.to_key(), request.caller.principal
    issued = await lanes.run(request, lambda lane: credentials.issue(lane, new, by))
    if isinstance(issued, Refusal):
        return problems.of_refusal(request, issued)
    return answer(shown_once(issued), 201, {"Location": f"{request.house.address}/v1/keys/{issued.id}"})


@router.get("/v1/keys")
async def list_keys(
    request: Request,
    limit: Limit = pages.USUAL,
    cursor: Cursor = None,
    principal: Annotated[Name | None, Query(description="Only this principal's")] = None,
) -> Response:
    """List keys, revoked ones too; never their secrets."""
    window = pages.window(request, limit, cursor, {"principal": principal})
    tenant = request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: credentials.page(reader, tenant, principal, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _shown)


@router.post("/v1/keys/{key_id}/rotate")
async def rotate_key(request: Request, key_id: str) -> Response:
    """Give a key another secret; the one before is worth nothing with the next request."""
    by = request.caller.principal
    issued = await lanes.run(request, lambda lane: credentials.rotate(lane, key_id, by))
    if isinstance(issued, Refusal):
        return problems.of_refusal(request, issued)
    return answer(shown_once(issued))


@router.delete("/v1/keys/{key_id}", status_code=204)
async def revoke_key(request: Request, key_id: str) -> Response:
    """End a key for good, with the next request."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: credentials.revoke(lane, key_id, by))
    return problems.of_refusal(request, refusal) if refusal else nothing()


def shown_once(issued: IssuedKey) -> dict[str, Any]:
    """Return a key as the answer that makes it shows it."""
    return {
        "id": issued.id,
        "key": issued.key,
        "principal": issued.principal,
        "findings": list(issued.findings),
    }


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "principal": row.principal,
        "kind": row.kind,
        "owner": row.owner,
        "environment": row.environment,
        "bundles": row.bundles,
        "roles": row.roles,
        "rights": row.rights,
        "speak_for": row.speak_for,
        "created_at": moment(row.created_at),
        "created_by": row.created_by,
        "expires_at": moment(row.expires_at),
        "revoked_at": moment(row.revoked_at),
    }
