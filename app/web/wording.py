"""How pages say things: moments, spans, money, and where a question stands."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from app.approvals.questions import NOBODY

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))

_STANDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pending": "Waiting",
        "approved": "Approved, not yet used",
        "consumed": "Approved and used",
        "denied": "Denied",
        "cancelled": "Withdrawn",
        "superseded": "No longer needed",
    }
)


def moment(at: str | datetime) -> datetime:
    """Return a moment that came as RFC 3339 text or as itself."""
    return at if isinstance(at, datetime) else datetime.fromisoformat(at)


def iso(at: str | datetime) -> str:
    """Return a moment for machines: the `datetime` of a `<time>`."""
    return moment(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(at: str | datetime) -> str:
    """Return a moment for people, where no script writes it in their own time."""
    return moment(at).astimezone(UTC).strftime("%-d %b %Y, %H:%M UTC")


def span(length: timedelta) -> str:
    """Return a span in its greatest unit, cut: `2 days`, `14 minutes`, `1 second`."""
    seconds = max(0, int(length.total_seconds()))
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), _UNITS[-1])
    count = seconds // size
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def left(until: str | datetime, now: datetime) -> str:
    """Return how much time there is until a moment."""
    return span(moment(until) - now)


def ago(at: str | datetime, now: datetime) -> str:
    """Return how long ago a moment was."""
    return f"{span(now - moment(at))} ago"


def money(cost: Mapping[str, str] | None) -> str:
    """Return an amount with its currency: `12,500.00 EUR`."""
    if cost is None:
        return ""
    whole, point, fraction = str(cost["amount"]).partition(".")
    return f"{grouped(whole)}{point}{fraction} {cost['currency']}"


def grouped(whole: str) -> str:
    """Return a whole number with a comma at each thousand."""
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}" if digits.isdecimal() else whole


def standing(question: Mapping[str, Any]) -> str:
    """Return where a question stands, in words."""
    if question["status"] != "expired":
        return _STANDINGS[question["status"]]
    return "Nobody answered" if question["decided_by"] == NOBODY else "Approved, but not used in time"


def pretty(value: object) -> str:
    """Return a JSON value over several lines, as people read it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def short(digest: str | None) -> str:
    """Return the beginning of a digest: enough to compare by eye, while the whole is near."""
    return (digest or "").removeprefix("sha256:")[:12]


FILTERS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "ago": ago,
        "clock": clock,
        "iso": iso,
        "left": left,
        "money": money,
        "grouped": grouped,
        "pretty": pretty,
        "short": short,
        "standing": standing,
    }
)
