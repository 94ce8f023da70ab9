"""The kill switch over HTTP."""

from typing import Any

from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.identity import RevocationBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.db.statements import Row
from app.door import lanes
from app.identity import revocations

router = routing.router()


@router.post("/v1/revocations", status_code=201)
async def place_revocation(request: Request, body: RevocationBody) -> Response:
    """Stop a principal, an action or the whole tenant, from the next request on."""
    subject, by = body.to_subject(), request.caller.principal
    revocation_id = await lanes.run(request, lambda lane: revocations.place(lane, subject, body.reason, by))
    return answer({"id": revocation_id}, 201)


@router.get("/v1/revocations")
async def list_revocations(request: Request, limit: Limit = pages.USUAL, cursor: Cursor = None) -> Response:
    """List revocations in the order of their making, lifted ones too."""
    window = pages.window(request, limit, cursor)
    tenant = request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: revocations.page(reader, tenant, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _shown)


@router.delete("/v1/revocations/{revocation_id}", status_code=204)
async def lift_revocation(request: Request, revocation_id: str) -> Response:
    """Lift a revocation, from the next request on."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: revocations.lift(lane, revocation_id, by))
    return problems.of_refusal(request, refusal) if refusal else nothing()


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "principal": row.principal,
        "action": row.action,
        "tenant": row.whole_tenant,
        "reason": row.reason,
        "placed_at": moment(row.placed_at),
        "placed_by": row.placed_by,
        "lifted_at": moment(row.lifted_at),
        "lifted_by": row.lifted_by,
    }
