"""Windows follow the wall clock of their zone, through every change of it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.windows import Calendar, Rolling, Unit, UnknownZoneError, describe, start

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Havana",
    "Africa/Cairo",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
)
calendars = st.builds(Calendar, st.sampled_from(Unit), st.sampled_from(ZONES))
instants = st.datetimes(datetime(2024, 1, 1), datetime(2036, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - given one


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# The clocks of Berlin: forward at 2026-03-29 01:00 UTC (02:00 → 03:00), back at 2026-10-25 01:00 UTC (03:00 → 02:00).
@pytest.mark.parametrize(
    ("unit", "zone", "now", "began"),
    [
        ("day", "Europe/Berlin", "2026-03-29T00:30:00", "2026-03-28T23:00:00"),
        ("day", "Europe/Berlin", "2026-03-29T21:59:59", "2026-03-28T23:00:00"),
        ("day", "Europe/Berlin", "2026-03-29T22:00:00", "2026-03-29T22:00:00"),
        ("day", "Europe/Berlin", "2026-10-25T22:59:59", "2026-10-24T22:00:00"),
        ("day", "Europe/Berlin", "2026-10-25T23:00:00", "2026-10-25T23:00:00"),
        ("hour", "Europe/Berlin", "2026-03-29T01:15:00", "2026-03-29T01:00:00"),
        ("hour", "Europe/Berlin", "2026-10-25T00:30:00", "2026-10-25T00:00:00"),
        ("hour", "Europe/Berlin", "2026-10-25T01:30:00", "2026-10-25T01:00:00"),
        ("week", "Europe/Berlin", "2026-10-25T23:30:00", "2026-10-25T23:00:00"),
        ("week", "Europe/Berlin", "2026-10-25T22:30:00", "2026-10-18T22:00:00"),
        ("month", "Europe/Berlin", "2026-10-31T22:59:59", "2026-09-30T22:00:00"),
        ("month", "Europe/Berlin", "2026-10-31T23:00:00", "2026-10-31T23:00:00"),
        ("year", "Europe/Berlin", "2026-12-31T22:59:59.999999", "2025-12-31T23:00:00"),
        ("year", "Europe/Berlin", "2026-12-31T23:00:00", "2026-12-31T23:00:00"),
        ("month", "UTC", "2028-02-29T12:00:00", "2028-02-01T00:00:00"),
        # ISO week 1 of 2027 begins on Monday, 4 January; the days before belong to week 53 of 2026.
        ("week", "UTC", "2027-01-03T23:59:59", "2026-12-28T00:00:00"),
        ("week", "UTC", "2027-01-04T00:00:00", "2027-01-04T00:00:00"),
        # Cairo skips midnight: on 2026-04-24 the clock goes from 00:00 to 01:00, at 22:00 UTC the day before.
        ("day", "Africa/Cairo", "2026-04-23T21:59:59", "2026-04-22T22:00:00"),
        ("day", "Africa/Cairo", "2026-04-23T22:00:00", "2026-04-23T22:00:00"),
        # Havana shows midnight twice: on 2026-11-01 the clock goes from 01:00 back to 00:00, at 05:00 UTC.
        ("day", "America/Havana", "2026-11-01T04:10:00", "2026-11-01T04:00:00"),
        ("day", "America/Havana", "2026-11-01T05:10:00", "2026-11-01T04:00:00"),
        # Lord Howe changes by half an hour: on 2026-04-05 from 02:00 back to 01:30, at 15:00 UTC the day before.
        ("hour", "Australia/Lord_Howe", "2026-04-04T14:45:00", "2026-04-04T14:00:00"),
        ("hour", "Australia/Lord_Howe", "2026-04-04T15:15:00", "2026-04-04T14:00:00"),
        ("hour", "Australia/Lord_Howe", "2026-04-04T15:45:00", "2026-04-04T15:30:00"),
        ("hour", "Asia/Kathmandu", "2026-07-01T12:00:00", "2026-07-01T11:15:00"),
    ],
)
def test_a_calendar_window_begins_where_the_wall_clock_says(unit: str, zone: str, now: str, began: str) -> None:
    assert start(Calendar(Unit(unit), zone), utc(now)) == utc(began)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29T12:00:00", 23),
        ("Europe/Berlin", "2026-10-25T12:00:00", 25),
        ("Africa/Cairo", "2026-04-24T12:00:00", 23),
        ("America/Havana", "2026-11-01T17:00:00", 25),
        ("Australia/Lord_Howe", "2026-04-05T02:00:00", 24.5),
    ],
)
def test_a_day_has_the_hours_that_the_change_of_clock_leaves_it(zone: str, day: str, hours: float) -> None:
    window = Calendar(Unit.DAY, zone)
    began = start(window, utc(day))
    ended = start(window, utc(day) + timedelta(days=1))
    assert ended - began == timedelta(hours=hours)


@given(calendars, instants)
def test_a_window_contains_now_and_begins_with_itself(window: Calendar, now: datetime) -> None:
    began = start(window, now)
    assert began <= now
    assert start(window, began) == began
    assert now - began < timedelta(days=367)


@given(calendars, instants, st.timedeltas(timedelta(0), timedelta(days=400)))
def test_a_window_never_moves_back(window: Calendar, now: datetime, later: timedelta) -> None:
    assert start(window, now) <= start(window, now + later)


@given(calendars, instants)
def test_a_window_begins_on_a_quarter_of_an_hour(window: Calendar, now: datetime) -> None:
    assert start(window, now).timestamp() % 900 == 0


@given(st.sampled_from(ZONES), instants)
def test_before_a_day_began_the_wall_clock_showed_another_date(zone: str, now: datetime) -> None:
    began = start(Calendar(Unit.DAY, zone), now)
    before = began - timedelta(microseconds=1)
    assert began.astimezone(ZoneInfo(zone)).date() == now.astimezone(ZoneInfo(zone)).date()
    assert before.astimezone(ZoneInfo(zone)).date() < now.astimezone(ZoneInfo(zone)).date()


def test_a_rolling_window_drops_an_entry_exactly_after_its_length() -> None:
    taken = utc("2026-11-02T10:00:00")
    window = Rolling(timedelta(hours=1))
    assert start(window, taken + timedelta(minutes=59, seconds=59, microseconds=999_999)) <= taken
    assert start(window, taken + timedelta(hours=1)) > taken


@pytest.mark.parametrize(
    "name", ["", "Berlin", "europe/berlin", "Europe", "../etc/passwd", "/etc/localtime", "localtime", "Europe/Berlin "]
)
def test_only_names_of_the_iana_database_are_zones(name: str) -> None:
    with pytest.raises(UnknownZoneError):
        Calendar(Unit.DAY, name)


def test_a_window_is_described_as_a_policy_writes_it() -> None:
    assert describe(None) is None
    assert describe(Rolling(timedelta(minutes=90))) == {"rolling": "90m"}
    assert describe(Calendar(Unit.MONTH, "Europe/Berlin")) == {"calendar": "month", "timezone": "Europe/Berlin"}
