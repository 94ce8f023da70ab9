"""Unknown outcomes: admissions that nobody has said the end of, and a person's word on each."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response

from app.core.money import Money, parse_amount
from app.core.names import LONGEST_TEXT
from app.core.refusals import Refusal, RefusalKind
from app.db.ids import new_id
from app.door.commands import submit
from app.door.problems import RefusedError
from app.effects import queries
from app.effects.admissions import Admission, State
from app.effects.queries import Filter
from app.gate import answers
from app.gate.report import Resolve, Said
from app.web import questions, refused, rendering, routing
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 50
_PATH: Final = "/console/admissions"
_OUTCOMES: Final = frozenset({State.EXECUTED, State.NOT_EXECUTED})

After = Annotated[str, Query(max_length=64)]


@router.get(_PATH)
async def read(request: Request, after: After = "") -> Response:
    """Show the admissions whose outcome is unknown, the oldest first."""
    tenant, wanted = request.caller.tenant, Filter(state=State.UNKNOWN, after=after)
    found = await request.house.database.read(lambda reader: queries.admissions(reader, tenant, wanted, _PAGE + 1))
    more = found[_PAGE - 1].id if len(found) > _PAGE else None
    return rendering.page(request, "admissions.html", admissions=_views(request, found[:_PAGE]), after=after, more=more)


@router.get(f"{_PATH}/{{admission_id}}")
async def read_one(request: Request, admission_id: str) -> Response:
    """Show one admission, with the form that resolves it while its outcome is unknown."""
    return await _show(request, admission_id)


@router.post(f"{_PATH}/{{admission_id}}")
async def resolve(request: Request, admission_id: str) -> Response:
    """Say what came of it, and why one knows; it is final."""
    fields = await request.fields()
    admission = await _find(request, admission_id)
    said = _said(admission, fields)
    if isinstance(said, Refusal):
        return await _show(request, admission_id, said, fields)
    resolved = await submit(request, Resolve(new_id("cmd"), request.credential_id, admission_id, said))
    if isinstance(resolved, Refusal):
        return await _show(request, admission_id, resolved, fields)
    return routing.see(f"{_PATH}/{admission_id}")


async def _find(request: Request, admission_id: str) -> Admission:
    tenant = request.caller.tenant
    found = await request.house.database.read(lambda reader: queries.admission(reader, tenant, admission_id))
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such admission")
    return found


async def _show(
    request: Request, admission_id: str, refusal: Refusal | None = None, filled: Mapping[str, str] | None = None
) -> Response:
    found = await _find(request, admission_id)
    return rendering.page(
        request,
        "admission.html",
        200 if refusal is None else refused.status_of(refusal),
        admission=_views(request, [found])[0],
        filled=filled or {},
        problem=None if refusal is None else questions.explain(refusal),
    )


def _views(request: Request, found: Sequence[Admission]) -> list[dict[str, Any]]:
    return [answers.view(admission, request.sight.now()) for admission in found]


def _said(admission: Admission, fields: Mapping[str, str]) -> Said | Refusal:
    outcome, reason = fields.get("outcome", ""), fields.get("reason", "").replace("\r\n", "\n").strip()
    if outcome not in _OUTCOMES:
        return Refusal(RefusalKind.BAD_INPUT, "say whether it happened")
    if not reason or len(reason) > LONGEST_TEXT or "\0" in reason:
        return Refusal(RefusalKind.BAD_INPUT, f"say how you know, in at most {LONGEST_TEXT} characters")
    actual = fields.get("actual", "").strip()
    if not actual:
        return Said(State(outcome), None, reason)
    return _with_cost(admission, State(outcome), reason, actual)


def _with_cost(admission: Admission, outcome: State, reason: str, actual: str) -> Said | Refusal:
    try:
        return Said(outcome, Money(parse_amount(actual), admission.currency), reason)
    except ValueError:
        return Refusal(RefusalKind.BAD_INPUT, "what it cost is an amount such as 12.50, without a currency")
