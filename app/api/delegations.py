"""Authority that people lend each other, over HTTP."""

from typing import Any

from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.approvals import DelegationBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.approvals import delegations
from app.core.refusals import Refusal
from app.db.statements import Row
from app.door import lanes
from app.gate import lend

router = routing.router()


@router.post("/v1/delegations", status_code=201, tags=["approvals"])
async def make(request: Request, body: DelegationBody) -> Response:
    """Lend one's own authority, from the next vote on; what was lent to oneself cannot be lent on."""
    lender, labels = request.caller.principal, frozenset(body.labels)
    lent = await lanes.run(request, lambda lane: lend.lend(lane, lender, body.to, body.expires_in, labels))
    return problems.of_refusal(request, lent) if isinstance(lent, Refusal) else answer({"id": lent}, 201)


@router.get("/v1/delegations", tags=["approvals"])
async def read(request: Request, limit: Limit = pages.USUAL, cursor: Cursor = None) -> Response:
    """List what one has lent and borrowed, in the order of their making, ended ones too."""
    window = pages.window(request, limit, cursor)
    tenant, principal = request.caller.tenant, request.caller.principal
    rows = await request.house.database.read(
        lambda reader: delegations.page(reader, tenant, principal, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _shown)


@router.delete("/v1/delegations/{delegation_id}", status_code=204, tags=["approvals"])
async def end(request: Request, delegation_id: str) -> Response:
    """End a delegation at once, as its lender or as who got it."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: lend.take_back(lane, by, delegation_id))
    return problems.of_refusal(request, refusal) if refusal else nothing()


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "from": row.lender,
        "to": row.delegate,
        "labels": row.labels,
        "granted_at": moment(row.granted_at),
        "expires_at": moment(row.until),
        "revoked_at": moment(row.revoked_at),
        "revoked_by": row.revoked_by,
    }
