"""The spans of time that a spending limit counts over, and where the running one began.

A calendar window follows the clock on the wall of its time zone, through every change of it: a day may have 23 or 25
hours, and an hour that the wall clock shows twice is two windows. A rolling window reaches back from now.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from app.core.durations import format_duration
from app.core.values import JsonObject

_INSTANT = timedelta(microseconds=1)
# What a machine keeps beside the zones: its own setting, and the zone of a machine that has none.
_NO_ZONES = frozenset({"localtime", "posixrules", "Factory"})


class UnknownZoneError(ValueError):
    """The name is no time zone of the IANA database."""


class Unit(StrEnum):
    """What a calendar window is one of; a week is ISO's and begins on Monday."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Calendar:
    """The running hour, day, week, month or year of a time zone."""

    unit: Unit
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        """Refuse a zone that the IANA database does not name.

        Raises:
            UnknownZoneError: `timezone` is not one, such as Europe/Berlin.
        """
        if self.timezone not in _zones():
            raise UnknownZoneError("not a time zone of the IANA database, such as Europe/Berlin")


@dataclass(frozen=True, slots=True)
class Rolling:
    """The last `length` before now: an entry counts for exactly that long."""

    length: timedelta


Window: TypeAlias = Calendar | Rolling


def start(window: Window, now: datetime) -> datetime:
    """Return the first instant, in UTC and inclusive, of the window that `now` lies in."""
    if isinstance(window, Rolling):
        return now.astimezone(UTC) - window.length + _INSTANT
    local = now.astimezone(ZoneInfo(window.timezone))
    return _beginning(local, window.unit).astimezone(UTC)


def _beginning(local: datetime, unit: Unit) -> datetime:
    """Return the wall-clock time at which the unit began.

    A beginning that the wall clock skips is, with fold 0, the instant of the change; one that it shows twice is the
    first of the two. Only an hour keeps its fold, because the second showing of an hour is a window of its own.
    """
    hour = local.replace(minute=0, second=0, microsecond=0)
    midnight = hour.replace(hour=0, fold=0)
    match unit:
        case Unit.HOUR:
            return hour
        case Unit.DAY:
            return midnight
        case Unit.WEEK:
            return midnight - timedelta(days=midnight.weekday())
        case Unit.MONTH:
            return midnight.replace(day=1)
        case Unit.YEAR:
            return midnight.replace(month=1, day=1)


def describe(window: Window | None) -> JsonObject | None:
    """Return the window as a policy writes it; None stands for all time."""
    match window:
        case None:
            return None
        case Calendar(unit, timezone):
            return {"calendar": str(unit), "timezone": timezone}
        case Rolling(length):
            return {"rolling": format_duration(length)}


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _NO_ZONES
