"""Grants over HTTP: who may ask for what, where a tenant has switched them on."""

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.grants import GrantBody, RequiredBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.core.actions import Caller
from app.core.names import LONGEST_NAME
from app.core.refusals import Refusal
from app.db.statements import Row
from app.door import lanes
from app.gate import granting
from app.gate.granting import Granter
from app.grants import queries
from app.grants.queries import Filter

router = routing.router()

Subject = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME, description="Whose grants")]


@router.post("/v1/grants", status_code=201)
async def create_grant(request: Request, body: GrantBody) -> Response:
    """Make a root grant: what its subject may ask for, from the next request on."""
    wish, by = body.to_wish(), request.caller.principal
    made = await lanes.run(request, lambda lane: granting.create(lane, by, wish))
    return problems.of_refusal(request, made) if isinstance(made, Refusal) else answer({"id": made}, 201)


@router.post("/v1/grants/{grant_id}/delegations", status_code=201)
async def delegate_grant(request: Request, grant_id: str, body: GrantBody) -> Response:
    """Pass on a part of a delegable grant that one holds; a part lies within it in every dimension."""
    wish, by = body.to_wish(), request.caller.principal
    made = await lanes.run(request, lambda lane: granting.delegate(lane, by, grant_id, wish))
    return problems.of_refusal(request, made) if isinstance(made, Refusal) else answer({"id": made}, 201)


@router.get("/v1/grants")
async def list_grants(
    request: Request, subject: Subject = None, limit: Limit = pages.USUAL, cursor: Cursor = None
) -> Response:
    """List grants in the order of their making, ended ones too: what one holds and gave, or all for who may see it."""
    caller = request.caller
    window = pages.window(request, limit, cursor, {"subject": subject})
    wanted = Filter(subject, None if _sees_all(caller) else caller.principal)
    rows = await request.house.database.read(
        lambda reader: queries.page(reader, caller.tenant, wanted, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _shown)


@router.delete("/v1/grants/{grant_id}", status_code=204)
async def revoke_grant(request: Request, grant_id: str) -> Response:
    """End a grant, and all that was delegated from it, with the next request."""
    by = Granter(request.caller.principal, request.caller.may("principals"))
    refusal = await lanes.run(request, lambda lane: granting.revoke(lane, by, grant_id))
    return problems.of_refusal(request, refusal) if refusal else nothing()


@router.get("/v1/grants/required")
async def read_required(request: Request) -> Response:
    """Say whether the tenant requires grants."""
    required = await request.house.database.read(lambda reader: queries.required(reader, request.caller.tenant))
    return answer({"required": required})


@router.put("/v1/grants/required")
async def put_required(request: Request, body: RequiredBody) -> Response:
    """Require grants of every principal, from the next request on, or let them play no part any more."""
    by = request.caller.principal
    await lanes.run(request, lambda lane: granting.require(lane, by, required=body.required))
    return answer({"required": body.required})


def _sees_all(caller: Caller) -> bool:
    return caller.may("principals") or caller.may("audit:read")


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "parent": row.parent,
        "subject": row.subject,
        **(row.bounds if isinstance(row.bounds, dict) else {}),
        "expires_at": moment(row.expires_at),
        "delegable": row.delegable,
        "granted_at": moment(row.granted_at),
        "granted_by": row.granted_by,
        "revoked_at": moment(row.revoked_at),
        "revoked_by": row.revoked_by,
    }
