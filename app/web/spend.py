"""Spend: what is held and spent on each scope, as a bar against each limit and as a line over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final, Literal

from fastapi import Query
from starlette.responses import Response

from app.core import windows
from app.core.money import format_amount
from app.core.policy.limits import Limit
from app.db.database import Reader
from app.db.ids import BEYOND_ANY
from app.db.statements import Row
from app.spend import queries, standings
from app.spend.buckets import EPOCH
from app.spend.standings import Standing
from app.web import charts, rendering, routing, wording
from app.web.charts import Bar, Line
from app.web.requests import Request

router = routing.router()

_PAGE: Final = 25
_ENTRIES: Final = 25

Scope = Annotated[str, Query(min_length=1, max_length=512)]
Text = Annotated[str, Query(max_length=512)]
Over = Literal["day", "month"]

# The width of a step in seconds, and how many steps there are.
_STEPS: Final[dict[Over, tuple[int, int]]] = {"day": (3_600, 24), "month": (86_400, 30)}


@dataclass(frozen=True, slots=True)
class Gauge:
    """How a scope stands under one limit, in words and as a bar."""

    name: str
    window: str
    limit: str
    spent: str
    held: str
    left: str
    bar: Bar


@dataclass(frozen=True, slots=True)
class Course:
    """What was spent in one currency over time."""

    currency: str
    top: str
    line: Line


@router.get("/console/spend")
async def read(request: Request, prefix: Text = "", after: Text = "") -> Response:
    """Show the scopes with their limits."""
    tenant = request.caller.tenant
    limits = await _limits(request)

    async def look(reader: Reader) -> tuple[Sequence[Row], dict[str, list[Standing]]]:
        rows = await queries.scopes(reader, tenant, prefix, after, _PAGE + 1)
        names = [row.scope for row in rows[:_PAGE]]
        return rows, await standings.of_scopes(reader, tenant, names, limits, request.sight.now())

    rows, found = await request.house.database.read(look)
    scopes = [{"scope": row.scope, "sums": row.sums, "gauges": _gauges(found[row.scope])} for row in rows[:_PAGE]]
    more = rows[_PAGE - 1].scope if len(rows) > _PAGE else None
    return rendering.page(request, "spend.html", scopes=scopes, prefix=prefix, more=more)


@router.get("/console/spend/scope")
async def read_scope(request: Request, scope: Scope, over: Over = "month") -> Response:
    """Show one scope: under its limits, over time, and what happened on it last."""
    tenant, now = request.caller.tenant, request.sight.now()
    limits, width, since = await _limits(request), _STEPS[over][0], _first_step(over, now)

    async def look(reader: Reader) -> tuple[Sequence[Standing], Sequence[Row], Sequence[Row]]:
        return (
            await standings.read(reader, tenant, scope, limits, now),
            await queries.over_time(reader, tenant, scope, width, since),
            await queries.entries(reader, tenant, scope, BEYOND_ANY, _ENTRIES),
        )

    found, steps, entries = await request.house.database.read(look)
    return rendering.page(
        request,
        "scope.html",
        scope=scope,
        over=over,
        gauges=_gauges(found),
        courses=_courses(steps, over, since),
        entries=[(row, _amount(row.amount, row.currency)) for row in entries],
    )


async def _limits(request: Request) -> tuple[Limit, ...]:
    house = request.house
    facts = await house.facts.seen(house.database, request.caller.tenant, request.sight.epochs)
    return () if facts.policy is None else tuple(facts.policy.policy.limits)


def _gauges(found: Iterable[Standing]) -> list[Gauge]:
    return [_gauge(standing) for standing in found]


def _gauge(standing: Standing) -> Gauge:
    limit, unit = standing.limit, standing.limit.currency
    return Gauge(
        name=limit.name,
        window=_window(limit),
        limit=_amount(limit.amount, unit),
        spent=_amount(standing.spent, unit),
        held=_amount(standing.held, unit),
        left=_amount(standing.left, unit),
        bar=charts.bar(standing.spent, standing.held, limit.amount),
    )


def _window(limit: Limit) -> str:
    said = windows.describe(limit.window)
    if said is None:
        return "for all time"
    return f"in any {said['rolling']}" if "rolling" in said else f"each {said['calendar']}, {said['timezone']}"


def _amount(amount: Decimal, currency: str | None) -> str:
    """Return money with its currency, or of a limit that counts calls a whole number."""
    if currency is None:
        return wording.grouped(str(int(amount)))
    return wording.money({"amount": format_amount(amount), "currency": currency}).strip()


def _first_step(over: Over, now: datetime) -> datetime:
    width, count = _STEPS[over]
    current = now - (now - EPOCH) % timedelta(seconds=width)
    return current - timedelta(seconds=width * (count - 1))


def _courses(rows: Sequence[Row], over: Over, since: datetime) -> list[Course]:
    """Return a line for every currency; a step in which nothing was spent is zero."""
    width, count = _STEPS[over]
    steps = [since + timedelta(seconds=width * place) for place in range(count)]
    courses = []
    for currency in sorted({row.currency for row in rows if row.currency}):
        spent = {row.start: row.spent for row in rows if row.currency == currency}
        drawn = charts.line([(step, spent.get(step, Decimal(0))) for step in steps])
        if drawn is not None:
            courses.append(Course(currency, _amount(drawn.top, currency), drawn))
    return courses
