"""Tenants over HTTP, for the platform's keys: those of the tenant `system`."""

from typing import Any

from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.keys import shown_once
from app.api.models.identity import TenantBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer
from app.core.refusals import Refusal
from app.db.statements import Row
from app.identity import tenants

router = routing.router()


@router.post("/v1/tenants", status_code=201)
async def create_tenant(request: Request, body: TenantBody) -> Response:
    """Make a tenant and its administrator's key, which is shown now and never again."""
    by = f"{request.caller.tenant}/{request.caller.principal}"
    issued = await tenants.create(request.house.lanes, body.tenant, body.to_key(), by)
    if isinstance(issued, Refusal):
        return problems.of_refusal(request, issued)
    return answer({"tenant": body.tenant, **shown_once(issued)}, 201)


@router.get("/v1/tenants")
async def list_tenants(request: Request, limit: Limit = pages.USUAL, cursor: Cursor = None) -> Response:
    """List tenants by name, with the length of their records."""
    window = pages.window(request, limit, cursor)
    rows = await request.house.database.read(lambda reader: tenants.page(reader, window.after, window.one_more))
    return window.page(rows, lambda row: str(row.tenant), _shown)


def _shown(row: Row) -> dict[str, Any]:
    return {"tenant": row.tenant, "records": row.seq}
