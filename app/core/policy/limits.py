"""Spending limits: how much the calls on a scope may cost, or how many there may be."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final

from app.core.durations import GREATEST
from app.core.globs import Glob
from app.core.names import LONGEST_KEY
from app.core.policy.places import Place
from app.core.policy.templates import OF_SYSTEM
from app.core.windows import Calendar, Rolling, Unit, UnknownZoneError, Window


class Metric(StrEnum):
    """What a limit counts."""

    MONEY = "money"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `amount` of `currency`, or that many calls, on every scope that the pattern matches, each by itself.

    `window` None counts over all time.
    """

    name: str
    pattern: str
    metric: Metric
    amount: Decimal
    currency: str | None = None
    window: Window | None = None
    _glob: Glob = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the pattern apart once."""
        object.__setattr__(self, "_glob", Glob(self.pattern))

    def takes(self, cost: Decimal) -> Decimal:
        """Return what a call of this cost takes of the limit: the cost, or one if it counts calls."""
        return _ONE if self.metric is Metric.COUNT else cost

    def matches(self, scope: str) -> bool:
        """Return whether the limit covers the scope. No limit covers those that the service keeps for itself."""
        return self._glob.matches(scope) and not scope.startswith(OF_SYSTEM)


_ONE: Final = Decimal(1)


class LimitIndex:
    """The limits of a policy, found by the scopes that they cover without looking at each.

    Most limits of a long list are for one scope each; only those with a `*` have to be tried.
    """

    def __init__(self, limits: Iterable[Limit]) -> None:
        self._exact: defaultdict[str, list[tuple[int, Limit]]] = defaultdict(list)
        self._patterns: list[tuple[int, Limit]] = []
        for place, limit in enumerate(limits):
            (self._patterns if "*" in limit.pattern else self._exact[limit.pattern]).append((place, limit))

    def covering(self, scopes: Sequence[str]) -> tuple[tuple[Limit, str], ...]:
        """Return each limit with each of the scopes that it covers, in the order of the limits."""
        found = [(place, limit, scope) for scope in scopes for place, limit in self._exact.get(scope, ())]
        found += [(place, limit, scope) for scope in scopes for place, limit in self._patterns if limit.matches(scope)]
        found.sort(key=lambda one: one[0])
        return tuple((limit, scope) for _, limit, scope in found)


_LIMIT: Final = ("name", "scope", "metric", "limit", "window")
_WINDOW: Final = ("calendar", "timezone", "rolling")


def read_limits(place: Place) -> tuple[Limit, ...]:
    """Return the limits of the list that stands here; their names differ."""
    limits: dict[str, Limit] = {}
    for element in place.elements():
        limit = _read_limit(element)
        if limit.name in limits:
            element.complain("another limit has this name; give each a `name` of its own")
        limits[limit.name] = limit
    return tuple(limits.values())


def _read_limit(place: Place) -> Limit:
    members = place.members(_LIMIT, ("scope", "limit"))
    pattern = members["scope"].name(LONGEST_KEY) if "scope" in members else ""
    metric = members["metric"].choice(Metric) if "metric" in members else Metric.MONEY
    amount, currency = _read_amount(members["limit"], metric) if "limit" in members else (Decimal(), None)
    return Limit(
        name=members["name"].name() if "name" in members else pattern,
        pattern=pattern,
        metric=metric,
        amount=amount,
        currency=currency,
        window=_read_window(members["window"]) if "window" in members else None,
    )


def _read_amount(place: Place, metric: Metric) -> tuple[Decimal, str | None]:
    if metric is Metric.COUNT:
        return Decimal(place.integer(0)), None
    if not isinstance(place.value, dict):
        place.expected("an object with amount and currency (or `metric: count` beside it)")
        return Decimal(), None
    money = place.money()
    return money.amount, money.currency


def _read_window(place: Place) -> Window | None:
    members = place.members(_WINDOW)
    if ("calendar" in members) == ("rolling" in members):
        place.complain("a window is either `calendar`, with a `timezone`, or `rolling`")
        return None
    if "rolling" in members:
        if "timezone" in members:
            members["timezone"].complain("a rolling window has no time zone")
        return Rolling(members["rolling"].duration(GREATEST))
    return _read_calendar(members)


def _read_calendar(members: dict[str, Place]) -> Window | None:
    unit = members["calendar"].choice(Unit)
    if "timezone" not in members:
        return Calendar(unit)
    zone = members["timezone"].text()
    try:
        return Calendar(unit, zone)
    except UnknownZoneError as error:
        members["timezone"].complain(str(error))
        return None
