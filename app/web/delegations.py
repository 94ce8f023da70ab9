"""My delegations: authority that I have lent or borrowed, lending it, and taking it back."""

from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from app.approvals import delegations
from app.core import names
from app.core.durations import DurationError, parse_duration
from app.core.names import LONGEST_NAME
from app.core.refusals import Refusal, RefusalKind
from app.db.database import Reader
from app.db.statements import Row
from app.door import lanes
from app.door.problems import RefusedError, bad_input
from app.gate import lend
from app.web import questions, refused, rendering, routing
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 200
_PAST: Final = 20
_PATH: Final = "/console/delegations"

SPANS: Final = (("8h", "8 hours"), ("1d", "a day"), ("3d", "3 days"), ("7d", "a week"), ("14d", "2 weeks"))


@router.get(_PATH)
async def read(request: Request) -> Response:
    """Show what I have lent and borrowed, and the form that lends."""
    return await _page(request)


@router.post(_PATH)
async def make(request: Request) -> Response:
    """Lend my authority to somebody, until a moment, for all questions or for those with some label."""
    fields = await request.fields()
    lender, to, span = request.caller.principal, fields.get("to", "").strip(), _span(fields.get("expires_in", ""))
    labels = frozenset(fields.get("labels", "").replace(",", " ").split())
    refusal = _unfit(to, labels)
    if refusal is None:
        lent = await lanes.run(request, lambda lane: lend.lend(lane, lender, to, span, labels))
        refusal = lent if isinstance(lent, Refusal) else None
    return routing.see(_PATH) if refusal is None else await _page(request, refusal, fields)


@router.post(f"{_PATH}/{{delegation_id}}/end")
async def end(request: Request, delegation_id: str) -> Response:
    """End a delegation at once."""
    by = request.caller.principal
    refusal = await lanes.run(request, lambda lane: lend.take_back(lane, by, delegation_id))
    if refusal is not None:
        raise RefusedError(refusal.kind, refusal.detail)
    return routing.see(_PATH)


async def _page(request: Request, refusal: Refusal | None = None, filled: Any = None) -> Response:  # noqa: ANN401
    tenant, me, now = request.caller.tenant, request.caller.principal, request.sight.now()
    rows = await request.house.database.read(lambda reader: _all(reader, tenant, me))
    running = [row for row in rows if row.revoked_at is None and row.until > now]
    return rendering.page(
        request,
        "delegations.html",
        200 if refusal is None else refused.status_of(refusal),
        lent=[row for row in running if row.lender == me],
        borrowed=[row for row in running if row.lender != me],
        ended=[row for row in rows if row not in running][: -_PAST - 1 : -1],
        spans=SPANS,
        filled=filled or {},
        problem=None if refusal is None else questions.explain(refusal),
    )


async def _all(reader: Reader, tenant: str, principal: str) -> list[Row]:
    rows: list[Row] = []
    while page := await delegations.page(reader, tenant, principal, rows[-1].id if rows else "", _PAGE):
        rows += page
    return rows


def _span(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except DurationError as error:
        raise bad_input(f"how long: {error}") from None


def _unfit(to: str, labels: frozenset[str]) -> Refusal | None:
    for name in (to, *labels):
        if not names.has_size(name, 1, LONGEST_NAME) or not name.isprintable():
            return Refusal(RefusalKind.BAD_INPUT, f"a name has 1 to {LONGEST_NAME} bytes, and nothing invisible")
    return None
