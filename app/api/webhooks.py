"""Webhooks over HTTP: registered after a challenge, changed, rotated, and what was delivered to them.

A secret is shown by the call that makes it and never again.
"""

from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.responses import Response

from app.api import pages, problems, routing
from app.api.models.webhooks import RotationBody, WebhookBody, WebhookChangeBody
from app.api.pages import Cursor, Limit
from app.api.requests import Request
from app.api.responses import answer, moment, nothing
from app.core.refusals import RefusalKind
from app.db.ids import new_id
from app.db.statements import Row
from app.door import lanes
from app.door.problems import RefusedError, bad_input
from app.gate import webhooks as registrations
from app.outbox import deliveries, webhooks
from app.outbox.sealing import Sealed, SealError, new_secret
from app.outbox.webhooks import NewWebhook

router = routing.router()

State = Literal["pending", "delivered", "failed"]


@router.post("/v1/webhooks", status_code=201, tags=["webhooks"])
async def register_webhook(request: Request, body: WebhookBody) -> Response:
    """Register a webhook whose receiver echoes the challenge. `secret` is shown now and never again."""
    secret, by = new_secret(), request.caller.principal
    await _challenge(request, body.url, secret)
    sealed = request.house.sealer.seal(request.caller.tenant, new_id("whk"), secret)
    new = NewWebhook(body.url, tuple(body.events), body.legacy_header, sealed)
    refusal = await lanes.run(request, lambda lane: registrations.register(lane, new, by))
    if refusal:
        return problems.of_refusal(request, refusal)
    return answer({"id": new.id, "secret": secret}, 201, {"Location": f"{request.house.address}/v1/webhooks/{new.id}"})


@router.get("/v1/webhooks", tags=["webhooks"])
async def list_webhooks(request: Request, limit: Limit = pages.USUAL, cursor: Cursor = None) -> Response:
    """List webhooks in the order of their making; never their secrets."""
    window, tenant = pages.window(request, limit, cursor), request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: webhooks.page(reader, tenant, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.id), _shown)


@router.get("/v1/webhooks/{webhook_id}", tags=["webhooks"])
async def read_webhook(request: Request, webhook_id: str) -> Response:
    """Return a webhook; never its secret."""
    return answer(_shown(await _find(request, webhook_id)))


@router.patch("/v1/webhooks/{webhook_id}", tags=["webhooks"])
async def change_webhook(request: Request, webhook_id: str, body: WebhookChangeBody) -> Response:
    """Change where a webhook leads, what it gets, or whether it gets the legacy header."""
    found, by, wanted = await _find(request, webhook_id), request.caller.principal, body.to_change()
    if body.url is not None and body.url != found.url:
        await _challenge(request, body.url, _opened(request, found))
    refusal = await lanes.run(request, lambda lane: registrations.change(lane, webhook_id, wanted, by))
    if refusal:
        return problems.of_refusal(request, refusal)
    return answer(_shown(await _find(request, webhook_id)))


@router.post("/v1/webhooks/{webhook_id}/rotate", tags=["webhooks"])
async def rotate_webhook(request: Request, webhook_id: str, body: RotationBody) -> Response:
    """Give a webhook another secret, shown now and never again; meanwhile messages are signed with both."""
    secret, by, overlap = new_secret(), request.caller.principal, body.overlap or timedelta()
    sealed = request.house.sealer.seal(request.caller.tenant, webhook_id, secret)
    refusal = await lanes.run(request, lambda lane: registrations.rotate(lane, sealed, lane.now + overlap, by))
    if refusal:
        return problems.of_refusal(request, refusal)
    return answer({"id": webhook_id, "secret": secret})


@router.delete("/v1/webhooks/{webhook_id}", status_code=204, tags=["webhooks"])
async def remove_webhook(request: Request, webhook_id: str) -> Response:
    """Remove a webhook. What is still on its way to it is not sent any more."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: registrations.remove(lane, webhook_id, by))
    return problems.of_refusal(request, refusal) if refusal else nothing()


@router.get("/v1/webhooks/{webhook_id}/deliveries", tags=["webhooks"])
async def list_deliveries(
    request: Request,
    webhook_id: str,
    limit: Limit = pages.USUAL,
    cursor: Cursor = None,
    state: Annotated[State | None, Query(description="Only those that stand so")] = None,
) -> Response:
    """List what was sent to a webhook and is on its way to it, the newest first; it is kept for 30 days."""
    await _find(request, webhook_id)
    window, tenant = pages.window(request, limit, cursor, {"state": state}), request.caller.tenant
    rows = await request.house.database.read(
        lambda reader: deliveries.page(reader, tenant, webhook_id, state, window.after, window.one_more)
    )
    return window.page(rows, lambda row: str(row.message_id), _delivery)


@router.post("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202, tags=["webhooks"])
async def redeliver(request: Request, webhook_id: str, delivery_id: str) -> Response:
    """Send a message to a webhook once more, whether it has failed or arrived; one on its way is left alone."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: registrations.redeliver(lane, webhook_id, delivery_id, by))
    return problems.of_refusal(request, refusal) if refusal else answer({"id": delivery_id, "state": "pending"}, 202)


async def _find(request: Request, webhook_id: str) -> Row:
    tenant = request.caller.tenant
    found = await request.house.database.read(lambda reader: webhooks.find(reader, tenant, webhook_id))
    if found is None:
        refusal = registrations.unknown()
        raise RefusedError(refusal.kind, refusal.detail)
    return found


def _opened(request: Request, found: Row) -> str:
    try:
        return request.house.sealer.open(Sealed(request.caller.tenant, found.id, found.secret))
    except SealError:
        detail = "the webhook's secret does not open with the service's keys any more: rotate it first"
        raise RefusedError(RefusalKind.CONFLICT, detail) from None


async def _challenge(request: Request, url: str, secret: str) -> None:
    """Ask the receiver whether it wants what will be sent to it; no transaction is open meanwhile.

    Raises:
        RefusedError: the URL leads where none may, or its receiver did not echo the challenge.
    """
    reason = await request.house.challenger.challenge(url, secret)
    if reason is not None:
        raise bad_input(f"{reason}; a receiver has to answer the challenge with its `challenge`", "/url")


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "url": row.url,
        "events": row.events,
        "legacy_header": row.legacy_header,
        "created_at": moment(row.created_at),
        "created_by": row.created_by,
        "previous_secret_until": moment(row.previous_until),
    }


def _delivery(row: Row) -> dict[str, Any]:
    return {
        "id": row.message_id,
        "event": row.event,
        "approval_id": row.subject,
        "state": row.state,
        "attempts": row.attempts,
        "detail": row.detail,
        "created_at": moment(row.created_at),
        "attempted_at": moment(row.attempted_at),
        "next_attempt_at": moment(row.next_attempt_at),
    }
