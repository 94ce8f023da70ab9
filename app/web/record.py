"""The record, for auditors: found by filters, its end, and a verification at once."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response

from app.audit import records, verification
from app.audit.records import ChainHead, Search, UnreadableRecordError
from app.db.database import Reader
from app.db.ids import BEYOND_ANY
from app.door.problems import bad_input
from app.web import rendering, routing
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 50
_PATH: Final = "/console/record"

Text = Annotated[str, Query(max_length=512)]
Before = Annotated[int, Query(ge=0, le=BEYOND_ANY)]


@router.get(_PATH)
async def find(
    request: Request,
    event_type: Text = "",
    principal: Text = "",
    action: Text = "",
    since: Text = "",
    until: Text = "",
    before: Before = BEYOND_ANY,
) -> Response:
    """Show the records that match, the newest first, and the end of the chain."""
    filters = {"event_type": event_type, "principal": principal, "action": action, "since": since, "until": until}
    return await _page(request, filters, before)


@router.post(f"{_PATH}/verify")
async def verify(request: Request) -> Response:
    """Verify the whole chain as it stands, and say what that shows."""
    found = await verification.verify(request.house.database, request.caller.tenant)
    return await _page(request, {}, BEYOND_ANY, found)


async def _page(
    request: Request, filters: Mapping[str, str], before: int, verified: Mapping[str, Any] | None = None
) -> Response:
    tenant, wanted = request.caller.tenant, _search(filters)

    async def read(reader: Reader) -> tuple[list[dict[str, Any]] | None, ChainHead | None]:
        return await _found(reader, tenant, wanted, before), await records.head(reader, tenant)

    found, head = await request.house.database.read(read)
    readable = found or []
    filtered = {name: value for name, value in filters.items() if value}
    return rendering.page(
        request,
        "record.html",
        records=readable[:_PAGE],
        unreadable=found is None,
        who=_who,
        head=head,
        verified=verified,
        filters={name: filters.get(name, "") for name in ("event_type", "principal", "action", "since", "until")},
        older=filtered | {"before": str(readable[_PAGE - 1]["seq"])} if len(readable) > _PAGE else None,
    )


async def _found(reader: Reader, tenant: str, wanted: Search, before: int) -> list[dict[str, Any]] | None:
    """Return what is found; None if something there is no record, since somebody has been at the table."""
    try:
        return list(await records.search(reader, tenant, wanted, before, _PAGE + 1))
    except UnreadableRecordError:
        return None


def _who(record: Mapping[str, Any]) -> str:
    """Return whose doing a record is of: the voter's or the decider's, else that of who asked."""
    payload = record["payload"]
    vote = payload.get("vote")
    named = vote.get("cast_by") if isinstance(vote, dict) else payload.get("decided_by") or payload.get("by")
    return str(named or payload.get("principal") or "")


def _search(filters: Mapping[str, str]) -> Search:
    """Return what the filters look for; `until` is a day that is still in it."""
    since, until = _day(filters.get("since", "")), _day(filters.get("until", ""), timedelta(days=1))
    return Search(
        event_type=filters.get("event_type") or None,
        principal=filters.get("principal") or None,
        action=filters.get("action") or None,
        since=since,
        until=until,
    )


def _day(text: str, later: timedelta = timedelta()) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC) + later
    except (ValueError, OverflowError):
        raise bad_input("a day is written as 2026-11-29") from None
