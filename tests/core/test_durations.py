"""Durations have one form, and come back as they were written."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.durations import GREATEST, DurationError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("30s", timedelta(seconds=30)),
        ("15m", timedelta(minutes=15)),
        ("1h", timedelta(hours=1)),
        ("30d", timedelta(days=30)),
        ("3650d", GREATEST),
    ],
)
def test_a_whole_number_and_a_unit(text: str, span: timedelta) -> None:
    assert parse_duration(text) == span
    assert format_duration(span) == text


@pytest.mark.parametrize(
    "value",
    ["", "15", "m", "0m", "-1h", "+1h", "1.5h", "1 h", " 1h", "1h ", "01h", "1H", "1w", "1h30m", "\u0661h", "1_0s",
     "1h\n", "3651d", "99999999999s", 15, 1.5, True, None, ["1h"]],
)  # fmt: skip
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(DurationError):
        parse_duration(value)


@given(st.integers(1, int(GREATEST.total_seconds())))
def test_what_is_written_reads_the_same(seconds: int) -> None:
    span = timedelta(seconds=seconds)
    assert parse_duration(format_duration(span)) == span


def test_the_greatest_unit_that_is_exact_is_used() -> None:
    assert format_duration(timedelta(hours=24)) == "1d"
    assert format_duration(timedelta(minutes=90)) == "90m"
