"""Policies tried on what was really asked, over HTTP: a shadow beside the one in force, and replays."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from app.api import problems, routing
from app.api.models.policy_tools import ReplayBody
from app.api.policy_references import referred
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.core.refusals import RefusalKind
from app.door.problems import RefusedError
from app.gate.activation import end_shadow
from app.gate.answers import audit_id
from app.gate.replays import replay
from app.policies import history

router = routing.router()


@router.post("/v1/policies/replay")
async def replay_calls(request: Request, body: ReplayBody) -> Response:
    """Weigh the calls that were recorded last under a candidate, each with the facts of its moment held fixed.

    Nothing is written. A call for which the candidate asks for a fact that was not looked up then is only counted.
    """
    tenant = request.caller.tenant
    policy = (await referred(request, body.policy, "/policy")).policy
    rows = await request.house.database.read(lambda reader: history.latest(reader, tenant, body.last))
    found = await asyncio.to_thread(replay, policy, rows)
    return answer(found.told(tenant))


@router.get("/v1/policies/shadow")
async def read_shadow(request: Request) -> Response:
    """Say how the shadow does: how many calls it was weighed on, and what it would have answered otherwise."""
    tenant = request.caller.tenant
    revision = await request.house.database.read(lambda reader: history.shadow_revision(reader, tenant))
    if revision is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "no revision is weighed as a shadow; activate one with mode shadow")
    found = await request.house.database.read(lambda reader: history.shadowed(reader, tenant, revision))
    return answer(
        {
            "revision": revision,
            "since": moment(found.since),
            "weighed": found.weighed,
            "diverged": sum(group["calls"] for group in found.divergences),
            "failed": sum(group["calls"] for group in found.failures),
            "divergences": [_named(group, tenant) for group in found.divergences],
            "failures": [_named(group, tenant) for group in found.failures],
        }
    )


def _named(group: Mapping[str, Any], tenant: str) -> Mapping[str, Any]:
    """Return a group with its examples as the ids of their records."""
    return {**group, "examples": [audit_id(tenant, seq) for seq in group["examples"]]}


@router.delete("/v1/policies/shadow", status_code=204)
async def stop_shadow(request: Request) -> Response:
    """Weigh no revision beside the one in force any more."""
    house = request.house
    refusal = await end_shadow(house.database, house.builder, request.caller.tenant, request.credential_id)
    return nothing() if refusal is None else problems.of_refusal(request, refusal)
