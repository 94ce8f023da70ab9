"""Principals over HTTP: who can ask, own and decide, and their roles."""

from typing import Any

from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.identity import PrincipalBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment
from app.core.refusals import Refusal
from app.db.statements import Row
from app.door import lanes
from app.identity import principals

router = routing.router()


@router.post("/v1/principals")
async def put_principal(request: Request, body: PrincipalBody) -> Response:
    """Make a principal, or change its owner and roles; what is left out stays as it is."""
    said, by = body.to_statement(), request.caller.principal
    stored = await lanes.run(request, lambda lane: principals.put(lane, said, by))
    return problems.of_refusal(request, stored) if isinstance(stored, Refusal) else answer(principals.facts(stored))


@router.get("/v1/principals")
async def list_principals(request: Request, limit: Limit = pages.USUAL, cursor: Cursor = None) -> Response:
    """List principals by name."""
    window = pages.window(request, limit, cursor)
    tenant = request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: principals.page(reader, tenant, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.name), _shown)


def _shown(row: Row) -> dict[str, Any]:
    return {
        "principal": row.name,
        "kind": row.kind,
        "owner": row.owner,
        "roles": row.roles,
        "created_at": moment(row.created_at),
        "changed_at": moment(row.changed_at),
    }
