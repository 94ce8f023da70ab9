"""The shapes of spend, and words for spans and amounts."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from app.web import charts, visible, wording

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spent", "held", "limit", "shown", "over"),
    [
        ("0", "0", "100", ("0.00", "0.00"), False),
        ("25", "15", "100", ("25.00", "15.00"), False),
        ("60", "40", "100", ("60.00", "40.00"), False),
        ("60", "41", "100", ("60.00", "40.00"), True),
        ("150", "10", "100", ("100.00", "0.00"), True),
        ("0", "0", "0", ("0.00", "0.00"), False),
        ("1", "1", "0", ("100.00", "0.00"), True),
    ],
)
def test_a_bar_never_leaves_its_track(spent: str, held: str, limit: str, shown: tuple[str, str], over: bool) -> None:  # noqa: FBT001
    bar = charts.bar(Decimal(spent), Decimal(held), Decimal(limit))
    assert (bar.shown_spent, bar.shown_held) == shown
    assert bar.over is over


def test_a_line_reaches_from_one_side_to_the_other_and_no_higher_than_its_highest() -> None:
    line = charts.line([(NOW, Decimal(0)), (NOW, Decimal(5)), (NOW, Decimal(10))])
    assert line is not None
    assert line.path == "M0.00 120.00 L300.00 60.00 L600.00 0.00"
    assert line.area.endswith(" L600 120 L0 120 Z")
    assert charts.line([(NOW, Decimal(0))]) is None
    assert charts.line([]) is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 seconds"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (7_199, "1 hour"),
        (172_800, "2 days"),
    ],
)
def test_a_span_is_said_in_its_greatest_unit_and_never_longer_than_it_is(seconds: float, said: str) -> None:
    assert wording.span(timedelta(seconds=seconds)) == said


def test_money_is_said_with_its_thousands_apart_and_every_digit() -> None:
    assert wording.money({"amount": "1234567.89", "currency": "EUR"}) == "1,234,567.89 EUR"
    assert wording.money({"amount": "0.00000001", "currency": "USD"}) == "0.00000001 USD"


@pytest.mark.parametrize("text", ["plain", "Łucja Żółć", "مرحبا", "naïve — “quoted”", "line\nbreak\ttab", "👍"])
def test_what_can_be_seen_is_shown_as_it_is(text: str) -> None:
    assert visible.shown(text) == text
    assert not visible.has_unseen(text)


@pytest.mark.parametrize(
    "code",
    [0x0, 0x7, 0x7F, 0xA0, 0xAD, 0x200B, 0x200E, 0x202E, 0x2028, 0x2066, 0x3000, 0x3164, 0xFEFF, 0xE0041, 0xE000],
)
def test_what_cannot_be_seen_is_marked(code: int) -> None:
    assert visible.shown(f"a{chr(code)}b") == f"a<mark>U+{code:04X}</mark>b"
    assert visible.has_unseen(chr(code))


def test_text_is_escaped_and_only_ours_is_markup() -> None:
    assert visible.shown("<b>\"'&") == "&lt;b&gt;&#34;&#39;&amp;"
    assert visible.shown(visible.shown("<b>")) == "&lt;b&gt;"
    assert visible.exact("\u202e<") == "\u202e&lt;"
