"""The policy in force and its revisions, to read."""

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import Response

from app.core.refusals import RefusalKind
from app.db.ids import BEYOND_ANY
from app.door.problems import RefusedError
from app.policies import revisions
from app.policies.revisions import Revision
from app.web import rendering, routing
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 50
_DIGITS: Final = 18

Before = Annotated[int, Query(ge=1, le=BEYOND_ANY)]


@router.get("/console/policy")
async def read(request: Request, before: Before = BEYOND_ANY) -> Response:
    """Show the policy in force, and the revisions with the newest first."""
    tenant, active = request.caller.tenant, request.sight.epochs.policy_revision
    found = await request.house.database.read(lambda reader: revisions.newest(reader, tenant, before, _PAGE + 1))
    in_force = None if active is None else await _find(request, active)
    more = found[_PAGE - 1].revision if len(found) > _PAGE else None
    return rendering.page(request, "policy.html", in_force=in_force, revisions=found[:_PAGE], more=more)


@router.get("/console/policy/{revision}")
async def read_revision(request: Request, revision: str) -> Response:
    """Show one revision with its document as it was sent."""
    number = int(revision[:_DIGITS]) if revision.isascii() and revision.isdecimal() else 0
    found = await _find(request, number)
    return rendering.page(
        request, "revision.html", revision=found, active=found.revision == request.sight.epochs.policy_revision
    )


async def _find(request: Request, number: int) -> Revision:
    tenant = request.caller.tenant
    found = await request.house.database.read(lambda reader: revisions.read(reader, tenant, number))
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such revision")
    return found
