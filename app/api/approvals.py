"""Questions over HTTP: asking ahead, the queue, one question with a long poll, decisions, and hints of change."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Header, Path, Query
from starlette.responses import Response, StreamingResponse

from app.api import authentication, pages, problems, routing
from app.api.models.approvals import DecisionBody
from app.api.models.calls import CallBody
from app.api.models.fields import Name
from app.api.requests import Request
from app.api.responses import answer
from app.approvals.queries import Filter
from app.approvals.questions import Status
from app.core.refusals import Refusal, RefusalKind
from app.db.ids import new_id
from app.door import hints, rights
from app.door.commands import submit
from app.door.problems import RefusedError
from app.door.viewers import viewer
from app.gate import preparation, queue
from app.gate.admit import Admit
from app.gate.ask import Ask
from app.gate.cancel import Cancel, EndRun
from app.gate.group import Command
from app.gate.vote import CastVote

router = routing.router()

LONGEST_WAIT: Final = 30

# A caller chose it, so it may hold slashes; the server has decoded them by the time a route is found.
RunId = Annotated[Name, Path()]


@router.post("/v1/approvals", status_code=201, tags=["approvals"])
async def ask(request: Request, body: CallBody) -> Response:
    """Open the question of a call without admitting it (201), or name the live one (200)."""
    call = body.to_call()
    prepared = preparation.prepare(request.house.facts, request.caller, call)
    asked = await submit(request, Ask(Admit(new_id("cmd"), request.id, request.credential_id, call, prepared)))
    if isinstance(asked, Refusal):
        return problems.of_refusal(request, asked)
    if not asked.opened:
        return answer(asked.body)
    _poke(request, asked.body["id"])
    location = f"{request.house.address}/v1/approvals/{asked.body['id']}"
    return answer(asked.body, 201, {"Location": location})


@router.get("/v1/approvals", tags=["approvals"])
async def read_queue(
    request: Request,
    status: Status | None = None,
    mine: Annotated[bool, Query(description="only what I may decide")] = False,  # noqa: FBT002 - a query parameter
    limit: pages.Limit = pages.USUAL,
    cursor: pages.Cursor = None,
) -> Response:
    """List questions, the oldest first: what one may decide, all for operators and auditors, an agent's own."""
    window = pages.window(request, limit, cursor, {"status": status, "mine": str(mine)})
    reads_others = request.caller.may("approve") or request.caller.may("approvals:read")
    own = None if reads_others else request.caller.principal
    looking = await viewer(request)
    wanted = Filter(looking.now, status, own, window.after)
    seen = await request.house.database.read(
        lambda reader: queue.page(reader, looking, wanted, window.one_more, mine=mine)
    )
    return window.page(seen, lambda shown: str(shown["id"]), lambda shown: shown)


@router.get("/v1/approvals/events", tags=["approvals"], response_class=StreamingResponse)
async def stream_hints(
    request: Request, last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=32)] = None
) -> Response:
    """Stream a hint whenever a question has changed (server-sent events). It says nothing but: read again."""
    return hints.stream(request, last_event_id, lambda: _reenter(request))


@router.get("/v1/approvals/{approval_id}", tags=["approvals"])
async def read(
    request: Request,
    approval_id: str,
    wait: Annotated[int, Query(ge=0, le=LONGEST_WAIT, description="seconds to wait for a decision")] = 0,
) -> Response:
    """Return a question: at once if it is decided, else after `wait` seconds at most. Giving up changes nothing."""
    seen = await _look(request, approval_id)
    if wait and seen["status"] == Status.PENDING:
        await request.house.waits.decided(request.caller.tenant, approval_id, wait)
        await _reenter(request)
        seen = await _look(request, approval_id)
    return answer(seen)


@router.post("/v1/approvals/{approval_id}/decision", tags=["approvals"])
async def decide(request: Request, approval_id: str, body: DecisionBody) -> Response:
    """Say yes or no. One no by somebody with authority is final; a yes counts towards every rule's quorum."""
    vote = CastVote(
        id=new_id("cmd"),
        credential_id=request.credential_id,
        question_id=approval_id,
        verdict=body.to_verdict(),
        comment=body.comment,
        arguments=body.arguments,
        on_behalf_of=body.on_behalf_of,
    )
    return await _change(request, approval_id, vote)


@router.post("/v1/approvals/{approval_id}/cancel", tags=["approvals"])
async def cancel(request: Request, approval_id: str) -> Response:
    """Take one's own question back, until its approval is used."""
    return await _change(request, approval_id, Cancel(new_id("cmd"), request.credential_id, approval_id))


@router.post("/v1/runs/{run_id:path}/end", tags=["approvals"])
async def end_run(request: Request, run_id: RunId) -> Response:
    """Say that a run of one's own is over: its questions are cancelled, and nothing of it is redeemed any more."""
    ended = await submit(request, EndRun(new_id("cmd"), request.credential_id, run_id))
    if isinstance(ended, Refusal):
        return problems.of_refusal(request, ended)
    for cancelled in ended["cancelled"]:
        _poke(request, cancelled)
    return answer(ended)


async def _change(request: Request, approval_id: str, command: Command[Mapping[str, Any] | Refusal]) -> Response:
    changed = await submit(request, command)
    if isinstance(changed, Refusal):
        return problems.of_refusal(request, changed)
    _poke(request, approval_id)
    return answer(changed)


def _poke(request: Request, approval_id: str) -> None:
    request.house.waits.poke(request.caller.tenant, approval_id)


async def _look(request: Request, approval_id: str) -> dict[str, Any]:
    looking = await viewer(request)
    seen = await queue.one(request.house.looks, looking, approval_id)
    if seen is None:
        raise RefusedError(RefusalKind.NOT_FOUND, f"there is no approval {approval_id}")
    return seen


async def _reenter(request: Request) -> None:
    """Pass the door again: what was waited for may include the end of this key."""
    await authentication.enter(request, rights.entry_of(request.method, request.scope["route"].path))
