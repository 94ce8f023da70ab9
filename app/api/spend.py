"""Money over HTTP: what is held and spent, entries without an admission, and reservations without an action."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.idempotency import IdempotencyKey, key_of
from app.api.models.spend import EntryBody, ReleaseBody, ReservationBody, SettleBody
from app.api.pages import Cursor
from app.api.requests import Request
from app.api.responses import answer, moment
from app.core import windows
from app.core.money import Money, format_amount
from app.core.names import LONGEST_KEY
from app.core.policy.limits import Limit
from app.core.refusals import Refusal
from app.core.values import Json
from app.db.database import Reader
from app.db.ids import BEYOND_ANY, new_id
from app.db.statements import Row
from app.door.commands import submit
from app.effects.admissions import State
from app.gate.entries import Enter
from app.gate.reservations import EndReservation, Reserve, Wanted
from app.spend import queries, standings
from app.spend.entries import Kind
from app.spend.standings import Standing

router = routing.router()


Scope = Annotated[str, Query(min_length=1, max_length=LONGEST_KEY)]


@router.get("/v1/spend")
async def list_scopes(
    request: Request,
    prefix: Annotated[str, Query(max_length=LONGEST_KEY, description="How the scopes begin")] = "",
    limit: pages.Limit = pages.USUAL,
    cursor: Cursor = None,
) -> Response:
    """List the scopes that something was ever held or spent on, with their sums in every currency."""
    window = pages.window(request, limit, cursor, {"prefix": prefix})
    tenant = request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: queries.scopes(reader, tenant, prefix, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.scope), lambda row: {"scope": row.scope, "sums": _sums(row.sums)})


@router.get("/v1/spend/scope")
async def read_scope(request: Request, scope: Scope) -> Response:
    """Return how a scope stands under each limit that covers it; one that nothing happened on stands at zero."""
    house, sight, tenant = request.house, request.sight, request.caller.tenant
    facts = await house.facts.seen(house.database, tenant, sight.epochs)
    limits = () if facts.policy is None else facts.policy.policy.limits

    async def read(reader: Reader) -> dict[str, Any]:
        found = await standings.read(reader, tenant, scope, limits, sight.now())
        sums = await queries.sums(reader, tenant, scope)
        return {"scope": scope, "limits": [_standing(one) for one in found], "sums": _sums(sums)}

    return answer(await house.database.read(read))


@router.get("/v1/spend/entries")
async def list_entries(
    request: Request, scope: Scope, limit: pages.Limit = pages.USUAL, cursor: Cursor = None
) -> Response:
    """List what happened on a scope, the newest first."""
    window = pages.window(request, limit, cursor, {"scope": scope})
    before = int(window.after) if window.after else BEYOND_ANY
    rows = await request.house.database.read(
        lambda reader: queries.entries(reader, request.caller.tenant, scope, before, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _entry)


@router.post("/v1/spend/entries", status_code=201)
async def create_entry(request: Request, body: EntryBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Enter money that no admission held: a `record` counts as spent, a `credit` makes no room.

    Under one idempotency key it is entered once.
    """
    command = Enter(
        id=new_id("cmd"),
        request_id=request.id,
        credential_id=request.credential_id,
        kind=Kind(body.kind),
        scope=body.scope,
        money=body.to_money(),
        action=body.action,
        idempotency_key=_key(idempotency_key),
    )
    entered = await submit(request, command)
    return problems.of_refusal(request, entered) if isinstance(entered, Refusal) else answer(entered, 201)


@router.post("/v1/spend/reservations", status_code=201)
async def create_reservation(
    request: Request, body: ReservationBody, idempotency_key: IdempotencyKey = None
) -> Response:
    """Take room on every scope, for metering: 201 only if all limits have it."""
    wanted = Wanted(tuple(body.scopes), body.to_money(), body.expires_in, _key(idempotency_key))
    reserved = await submit(request, Reserve(new_id("rsv"), request.id, request.credential_id, wanted))
    if isinstance(reserved, Refusal):
        return problems.of_refusal(request, reserved)
    if not reserved.allowed:
        return problems.problem(request, "denied", reserved.body["reason"], members=reserved.body)
    location = f"{request.house.address}/v1/admissions/{reserved.body['id']}"
    return answer(reserved.body, 201, {"Location": location})


@router.post("/v1/spend/reservations/{reservation_id}/settle")
async def settle_reservation(request: Request, reservation_id: str, body: SettleBody) -> Response:
    """Count what was used, or all that is held; more than that counts too, as an overrun."""
    return await _end(request, reservation_id, State.EXECUTED, body.actual)


@router.post("/v1/spend/reservations/{reservation_id}/release")
async def release_reservation(request: Request, reservation_id: str) -> Response:
    """Give back all that is held: nothing was used. It takes no body, or an empty object."""
    if await request.body():
        await request.parse(ReleaseBody)
    return await _end(request, reservation_id, State.NOT_EXECUTED, None)


async def _end(request: Request, reservation_id: str, outcome: State, actual: Decimal | None) -> Response:
    command = EndReservation(new_id("cmd"), request.credential_id, reservation_id, outcome, actual)
    ended = await submit(request, command)
    return problems.of_refusal(request, ended) if isinstance(ended, Refusal) else answer(ended)


def _key(header: str | None) -> str | None:
    return None if header is None else key_of(header)


def _sums(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sums of each currency; null stands for calls without a cost, which only count."""
    return [
        {
            "currency": sums["currency"] or None,
            "held": format_amount(Decimal(sums["held"])),
            "held_count": sums["held_count"],
            "spent": format_amount(Decimal(sums["spent"])),
            "spent_count": sums["spent_count"],
            "credited": format_amount(Decimal(sums["credited"])),
        }
        for sums in found
    ]


def _standing(standing: Standing) -> dict[str, Any]:
    limit = standing.limit
    return {
        "name": limit.name,
        "metric": limit.metric,
        "limit": _stated(limit),
        "window": windows.describe(limit.window),
        "held": _measured(limit, standing.held),
        "spent": _measured(limit, standing.spent),
        "left": _measured(limit, standing.left),
    }


def _stated(limit: Limit) -> dict[str, Json] | int:
    """Return the limit as a policy writes it."""
    if limit.currency is None:
        return int(limit.amount)
    return Money(limit.amount, limit.currency).as_json()


def _measured(limit: Limit, sum_: Decimal) -> str | int:
    return int(sum_) if limit.currency is None else format_amount(sum_)


def _entry(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "scope": row.scope,
        "kind": row.kind,
        "amount": format_amount(row.amount),
        "currency": row.currency or None,
        "admission_id": row.admission_id,
        "action": row.action,
        "overrun": row.overrun,
        "taken_at": moment(row.taken_at),
        "at": moment(row.at),
    }
