"""The record, for auditors: search, export, head, keys, receipts, and a verification by the service itself."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from app.api import pages, routing
from app.api.requests import Request
from app.api.responses import answer
from app.audit import keys, records, verification
from app.audit.records import Search
from app.core.refusals import RefusalKind
from app.db.database import Reader
from app.db.ids import BEYOND_ANY
from app.door.problems import RefusedError, bad_input

router = routing.router()

_JSONL: Final = "application/jsonl"

Moment = Annotated[datetime | None, Query(description="RFC 3339, with its zone")]


@router.get("/v1/audit/records")
async def find_records(  # noqa: PLR0913, PLR0917 - each is a filter of the query
    request: Request,
    event_type: str | None = None,
    principal: str | None = None,
    action: str | None = None,
    since: Moment = None,
    until: Moment = None,
    limit: pages.Limit = pages.USUAL,
    cursor: pages.Cursor = None,
) -> Response:
    """Find records, the newest first. A search proves nothing: an export does."""
    wanted = Search(event_type, principal, action, _zoned("since", since), _zoned("until", until))
    filters = {
        "event_type": event_type,
        "principal": principal,
        "action": action,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
    }
    window = pages.window(request, limit, cursor, filters)
    before = int(window.after) if window.after else BEYOND_ANY
    found = await request.house.database.read(
        lambda reader: records.search(reader, request.caller.tenant, wanted, before, window.one_more)
    )
    return window.page(found, lambda record: str(record["seq"]), lambda record: record)


@router.get("/v1/audit/export", response_class=StreamingResponse)
async def export(
    request: Request,
    first: Annotated[int, Query(alias="from", ge=0, le=BEYOND_ANY)] = 0,
    last: Annotated[int | None, Query(alias="to", ge=0, le=BEYOND_ANY)] = None,
) -> Response:
    """Stream records `from` to `to`, both included, one a line, as verified offline.

    `X-Audit-Head` is the hash of the last one, `X-Audit-Prev` the one before the first.
    """
    tenant = request.caller.tenant
    span = await request.house.database.read(lambda reader: records.span(reader, tenant, first, last))
    headers = {
        "X-Audit-Head": span.head,
        "X-Audit-Prev": span.prev,
        "X-Audit-Records": str(span.records),
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{tenant}.jsonl"',
    }
    return StreamingResponse(records.lines(request.house.database, tenant, span), media_type=_JSONL, headers=headers)


@router.get("/v1/audit/head")
async def head(request: Request) -> Response:
    """Return the end of the chain: keep it elsewhere, since a chain alone does not show that its end was cut."""
    found = await request.house.database.read(lambda reader: records.head(reader, request.caller.tenant))
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such tenant")
    return answer(
        {
            "tenant": found.tenant,
            "seq": found.seq,
            "hash": found.hash,
            "key_id": found.key_id,
            "signature": found.signature,
        }
    )


@router.get("/v1/audit/keys")
async def public_keys(request: Request) -> Response:
    """Return the public keys that records were signed with, by name."""
    return answer({"keys": await request.house.database.read(keys.published)})


@router.get("/v1/receipts/{audit_id:path}")
async def receipt(request: Request, audit_id: str) -> Response:
    """Return one record by its audit id, `<tenant>/<seq>`, with its hash and signature."""
    tenant, _, seq = audit_id.rpartition("/")
    found = None
    if tenant == request.caller.tenant and seq.isascii() and seq.isdecimal() and int(seq[:19]) < BEYOND_ANY:
        found = await request.house.database.read(_record(tenant, int(seq[:19])))
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such record")
    return answer({"audit_id": audit_id, "record": found})


@router.post("/v1/audit/verify")
async def verify(request: Request) -> Response:
    """Verify the whole chain as it stands, inside the service: quick, but proof only for those who trust it."""
    return answer(await verification.verify(request.house.database, request.caller.tenant))


def _record(tenant: str, seq: int) -> Callable[[Reader], Awaitable[dict[str, Any] | None]]:
    return lambda reader: records.record(reader, tenant, seq)


def _zoned(name: str, moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise bad_input(f"query parameter {name}: give the zone, such as 2026-11-29T10:00:00Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise bad_input(f"query parameter {name}: a moment between the years 1 and 9999 is expected") from None
