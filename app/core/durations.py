"""Spans of time as policies and bodies write them: `30s`, `15m`, `1h`, `30d`."""

import re
from datetime import timedelta
from typing import Final

_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])", re.ASCII)
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}

GREATEST: Final = timedelta(days=3_650)
"""Ten years: longer than anything that is waited for or counted over."""

LONGEST_WAIT: Final = timedelta(days=30)
"""The hard bound of what a question waits, of how long its yes may be used, and of a verification."""

LONGEST_LEASE: Final = timedelta(hours=24)
"""The hard bound of a lease, its extensions included."""

LONGEST_EXTENSION: Final = timedelta(hours=1)
"""The hard bound of one extension, from when it is asked for."""


class DurationError(ValueError):
    """The text is not a duration."""


def parse_duration(value: object) -> timedelta:
    """Return the span that a whole number and one unit state: s, m, h or d.

    Raises:
        DurationError: it is anything else, zero, or longer than ten years.
    """
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise DurationError("not a duration: a whole number and s, m, h or d, such as 15m")
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds > GREATEST.total_seconds():
        raise DurationError("the duration is longer than ten years (3650d)")
    return timedelta(seconds=seconds)


def format_duration(span: timedelta) -> str:
    """Return whole seconds in the greatest unit that states them exactly: 90 minutes are 90m, 24 hours 1d."""
    seconds = int(span.total_seconds())
    unit = next(unit for unit, length in _SECONDS.items() if seconds % length == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"
