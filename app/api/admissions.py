"""Asking before acting, and saying what came of it."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from app.api import idempotency, pages, problems, routing
from app.api.models.calls import CallBody, ExtendBody, OutcomeBody, ResolveBody
from app.api.requests import Request
from app.api.responses import answer
from app.core.names import LONGEST_KEY
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.ids import new_id
from app.door.commands import submit
from app.door.problems import RefusedError
from app.effects import queries
from app.effects.admissions import State
from app.effects.queries import Filter
from app.gate import answers, measures, preparation
from app.gate.admit import Admit
from app.gate.answers import Answer
from app.gate.decide import decide_call
from app.gate.extend import Extend
from app.gate.group import Command
from app.gate.report import Report, Resolve, Said
from app.gate.visibility import may_see

router = routing.router()


@router.post("/v1/decide")
async def decide(
    request: Request,
    body: CallBody,
    explain: Annotated[bool, Query(description="Add every rule and check with what it saw; needs `explain`.")] = False,  # noqa: FBT002 # FastAPI reads query parameters from the signature
) -> Response:
    """Say what the policy would answer. Nothing is stored or used up, and stored state is not looked at."""
    house, sight = request.house, request.sight
    if explain and not request.caller.may("explain"):
        raise RefusedError(RefusalKind.FORBIDDEN, "explain=true needs the right explain, which the key does not have")
    facts = await house.facts.about(house.database, request.caller, sight.epochs)
    return answer(decide_call(body.to_call(), request.caller, facts, sight.now(), explained=explain).body)


@router.post("/v1/admit", openapi_extra=idempotency.DESCRIBED)
async def admit(request: Request, body: CallBody) -> Response:
    """Ask to act. `allowed` is true only for an admission, and then means: run exactly what you sent."""
    answered = await _admit(request, body)
    return _refused(request, answered) if isinstance(answered, Refusal) else answer(answered.body)


@router.post("/v1/admissions", status_code=201, openapi_extra=idempotency.DESCRIBED)
async def create_admission(request: Request, body: CallBody) -> Response:
    """Ask to act, for callers that look at the status only: 201 means run it, anything else means do not."""
    answered = await _admit(request, body)
    if isinstance(answered, Refusal):
        return _refused(request, answered)
    if answered.allowed:
        location = f"{request.house.address}/v1/admissions/{answered.body['admission']['id']}"
        return answer(answered.body, 201, {"Location": location})
    kind = "approval-required" if answered.body["outcome"] == "require_human" else "denied"
    return problems.problem(request, kind, answered.body["reason"], members=answered.body)


async def _admit(request: Request, body: CallBody) -> Answer | Refusal:
    call = body.to_call(idempotency.header_of(request))
    prepared = preparation.prepare(request.house.facts, request.caller, call)
    command = Admit(new_id("adm"), request.id, request.credential_id, call, prepared)
    answered = await submit(request, command)
    if isinstance(answered, Answer):
        measures.answered(answered)
    return answered


@router.get("/v1/admissions")
async def list_admissions(
    request: Request,
    state: Literal["reserved", "executed", "not_executed", "unknown"] | None = None,
    run_id: Annotated[str | None, Query(max_length=LONGEST_KEY)] = None,
    limit: pages.Limit = pages.USUAL,
    cursor: pages.Cursor = None,
) -> Response:
    """List admissions, the oldest first: one's own, or all for holders of `report` or `resolve`."""
    caller = request.caller
    window = pages.window(request, limit, cursor, {"state": state, "run_id": run_id})
    own = None if caller.may("report") or caller.may("resolve") else caller.principal
    wanted = Filter(principal=own, state=state, run_id=run_id, after=window.after)
    found = await request.house.database.read(
        lambda reader: queries.admissions(reader, caller.tenant, wanted, window.one_more)
    )
    now = request.sight.now()
    return window.page(found, lambda admission: admission.id, lambda admission: answers.view(admission, now))


@router.get("/v1/admissions/{admission_id}")
async def read_admission(request: Request, admission_id: str) -> Response:
    """Return an admission: its state, its lease, and what it holds."""
    caller = request.caller
    found = await request.house.database.read(lambda reader: queries.admission(reader, caller.tenant, admission_id))
    if found is None or not may_see(caller, found.principal):
        raise RefusedError(RefusalKind.NOT_FOUND, f"there is no admission {admission_id}")
    return answer(answers.view(found, request.sight.now()))


@router.post("/v1/admissions/{admission_id}/outcome")
async def report(request: Request, admission_id: str, body: OutcomeBody) -> Response:
    """Say what came of an admission. The same again is fine; a contradiction is a conflict."""
    actual = None if body.actual_cost is None else body.actual_cost.to_money()
    said = Said(State(body.outcome), actual, body.detail, body.result_digest)
    return await _change(request, Report(new_id("cmd"), request.credential_id, admission_id, said))


@router.post("/v1/admissions/{admission_id}/extend")
async def extend(request: Request, admission_id: str, body: ExtendBody) -> Response:
    """Move the end of the lease to `lease` from now: an hour at most, and 24 hours after it began."""
    return await _change(request, Extend(new_id("cmd"), request.credential_id, admission_id, body.lease))


@router.post("/v1/admissions/{admission_id}/resolve")
async def resolve(request: Request, admission_id: str, body: ResolveBody) -> Response:
    """Say what came of an admission that nobody knows the outcome of, and why; it is final."""
    actual = None if body.actual_cost is None else body.actual_cost.to_money()
    said = Said(State(body.outcome), actual, body.reason)
    return await _change(request, Resolve(new_id("cmd"), request.credential_id, admission_id, said))


@router.get("/v1/effects")
async def read_effect(request: Request, key: Annotated[str, Query(min_length=1, max_length=LONGEST_KEY)]) -> Response:
    """Return where a consequence stands, by its key."""
    found = await request.house.database.read(lambda reader: queries.effect(reader, request.caller.tenant, key))
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "nobody has reserved this effect")
    return answer(found)


async def _change(request: Request, command: Command[dict[str, Json] | Refusal]) -> Response:
    changed = await submit(request, command)
    return _refused(request, changed) if isinstance(changed, Refusal) else answer(changed)


def _refused(request: Request, refusal: Refusal) -> Response:
    return problems.of_refusal(request, refusal)
