"""What counts against a limit, told in short stories."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest

from app.core.money import Money
from app.core.policy.limits import Limit
from app.core.windows import Calendar, Rolling, Unit
from app.db.database import Database
from app.spend.book import SpendBook
from app.spend.holds import Hold, Settlement, settlement
from tests.spend.conftest import TENANT, RunGroup
from tests.spend.limits import limit
from tests.spend.recounting import differences

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


def hold(amount: str = "30", *scopes: str, currency: str = "EUR", at: datetime = NOON, name: str = "adm_1") -> Hold:
    return Hold(name, scopes or ("desk",), Decimal(amount), currency, at)


def nothing(_: SpendBook) -> None:
    """Only look."""


def sums(held: int | str | Decimal, spent: int | str | Decimal) -> tuple[Decimal, Decimal]:
    return Decimal(held), Decimal(spent)


async def room(run_group: RunGroup, one: Limit, now: datetime, scope: str = "desk") -> tuple[Decimal, Decimal]:
    return (await run_group(now, [(one, scope)], nothing)).room(one, scope)


async def test_a_scope_without_a_row_reads_as_zero(run_group: RunGroup) -> None:
    assert await room(run_group, limit("*", 1000), NOON) == sums(0, 0)
    assert await room(run_group, limit("*", 40, None, Rolling(HOUR)), NOON) == sums(0, 0)


async def test_later_commands_of_a_group_see_what_earlier_ones_took(run_group: RunGroup) -> None:
    cap = limit("*", 1000)

    def group(book: SpendBook) -> None:
        book.hold(hold(name="adm_1"))
        assert book.room(cap, "desk") == sums(30, 0)
        book.hold(hold("12.50", name="adm_2"))
        assert book.room(cap, "desk") == sums("42.50", 0)
        book.settle(hold(name="adm_1"), None, trusted=False)
        assert book.room(cap, "desk") == sums("12.50", 30)

    await run_group(NOON, [(cap, "desk")], group)
    assert await room(run_group, cap, NOON) == sums("12.50", 30)


async def test_a_new_limit_starts_with_the_truth(run_group: RunGroup) -> None:
    """Nothing limited the scope when it was spent on; every kind of limit knows all the same."""

    def spend(book: SpendBook) -> None:
        book.hold(hold("7", "desk", "team"))
        book.settle(hold("7", "desk", "team"), None, trusted=False)
        book.record("desk", Money(Decimal(5), "USD"))

    await run_group(NOON, [], spend)
    later = NOON + timedelta(minutes=59)
    assert await room(run_group, limit("*", 1), later) == sums(0, 7)
    assert await room(run_group, limit("*", 1, "USD"), later) == sums(0, 5)
    assert await room(run_group, limit("*", 1, None), later) == sums(0, 2)
    assert await room(run_group, limit("*", 1, window=Rolling(HOUR)), later) == sums(0, 7)
    assert await room(run_group, limit("*", 1, None, Calendar(Unit.WEEK, "Europe/Berlin")), later) == sums(0, 2)
    assert await room(run_group, limit("*", 1), later, "team") == sums(0, 7)


async def test_calls_without_a_cost_count(run_group: RunGroup) -> None:
    pace = limit("desk", 40, None, Rolling(HOUR))
    await run_group(NOON, [], lambda book: book.hold(hold("0", currency="")))
    assert await room(run_group, pace, NOON) == sums(1, 0)
    await run_group(NOON, [], lambda book: book.settle(hold("0", currency=""), None, trusted=False))
    assert await room(run_group, pace, NOON + HOUR - INSTANT) == sums(0, 1)
    assert await room(run_group, pace, NOON + HOUR) == sums(0, 0)


@pytest.mark.parametrize(
    "fraction", [timedelta(0), INSTANT, timedelta(milliseconds=500), timedelta(seconds=1) - INSTANT]
)
async def test_a_rolling_window_is_exact_to_the_entry(run_group: RunGroup, fraction: timedelta) -> None:
    """Entries around the broken second in which the window begins, at whole seconds and beside them."""
    window = limit("*", 1000, window=Rolling(HOUR))
    moments = [
        NOON + fraction + timedelta(seconds=number, microseconds=off) for number in range(3) for off in (-1, 0, 1)
    ]
    for moment in sorted(moments):
        await run_group(moment, [], lambda book: book.record("desk", Money(Decimal(1), "EUR")))
    for moment in moments:
        still = sum(other > moment for other in moments)
        assert await room(run_group, window, moment + HOUR) == sums(0, still)
        assert await room(run_group, window, moment + HOUR - INSTANT) == sums(
            0, sum(other >= moment for other in moments)
        )


async def test_an_unknown_outcome_keeps_its_hold_when_the_window_has_moved_on(run_group: RunGroup) -> None:
    day = limit("*", 1000, window=Calendar(Unit.DAY, "Europe/Berlin"))
    await run_group(NOON, [], lambda book: book.hold(hold()))
    tomorrow = NOON + timedelta(days=1)
    assert await room(run_group, day, tomorrow) == sums(30, 0)

    def resolve(book: SpendBook) -> None:
        book.settle(hold(), None, trusted=True)
        assert book.room(day, "desk") == sums(0, 0)

    await run_group(tomorrow, [(day, "desk")], resolve)
    assert await room(run_group, day, tomorrow) == sums(0, 0)
    assert await room(run_group, limit("*", 1000, window=Rolling(timedelta(days=2))), tomorrow) == sums(0, 30)


async def test_a_release_gives_all_back_and_a_credit_makes_no_room(run_group: RunGroup, database: Database) -> None:
    cap = limit("*", 1000)

    def group(book: SpendBook) -> None:
        book.hold(hold())
        book.release(hold())
        book.record("desk", Money(Decimal(10), "EUR"), action="late fee")
        book.credit("desk", Money(Decimal(10), "EUR"))
        assert book.room(cap, "desk") == sums(0, 10)

    await run_group(NOON, [(cap, "desk")], group)
    assert await room(run_group, cap, NOON) == sums(0, 10)
    assert await database.read(partial(differences, tenant=TENANT)) == []


@pytest.mark.parametrize(
    ("actual", "trusted", "counts"),
    [
        (None, False, Settlement(Decimal(30), "EUR")),
        ("30.00", False, Settlement(Decimal(30), "EUR")),
        ("30.01", False, Settlement(Decimal("30.01"), "EUR", overrun=True)),
        ("0.01", False, Settlement(Decimal(30), "EUR")),
        ("0.01", True, Settlement(Decimal("0.01"), "EUR")),
        ("0", True, Settlement(Decimal(0), "EUR")),
    ],
)
def test_a_lower_cost_needs_a_trusted_reporter(actual: str | None, trusted: bool, counts: Settlement) -> None:  # noqa: FBT001 - a case
    stated = None if actual is None else Money(Decimal(actual), "EUR")
    assert settlement(hold(), stated, trusted=trusted) == counts


async def test_a_cost_where_none_was_held_is_an_overrun_in_its_currency(
    run_group: RunGroup, database: Database
) -> None:
    free = hold("0", currency="")
    await run_group(NOON, [], lambda book: book.hold(free))
    await run_group(NOON, [], lambda book: book.settle(free, Money(Decimal(9), "USD"), trusted=False))
    assert await room(run_group, limit("*", 1, "USD"), NOON) == sums(0, 9)
    assert await room(run_group, limit("*", 1, None), NOON) == sums(0, 1)
    assert await database.read(partial(differences, tenant=TENANT)) == []


def test_an_actual_cost_is_in_the_currency_that_is_held() -> None:
    assert hold().takes(Money(Decimal(1), "EUR"))
    assert not hold().takes(Money(Decimal(1), "USD"))
    assert hold("0", currency="").takes(Money(Decimal(1), "USD"))


async def test_sums_beyond_the_greatest_amount_stay_exact(run_group: RunGroup, database: Database) -> None:
    greatest = Money(Decimal("999999999999999.99999999"), "EUR")

    def spend(book: SpendBook) -> None:
        for _ in range(1000):
            book.record("desk", greatest)

    for _ in range(20):
        await run_group(NOON, [], spend)
    assert await room(run_group, limit("*", 1), NOON) == sums(0, greatest.amount * 20_000)
    assert await database.read(partial(differences, tenant=TENANT)) == []


async def test_what_was_not_asked_for_is_not_taken_for_zero(run_group: RunGroup) -> None:
    def look(book: SpendBook) -> None:
        with pytest.raises(LookupError):
            book.room(limit("*", 1), "desk")
        with pytest.raises(LookupError):
            book.room(limit("*", 1, window=Rolling(HOUR)), "team")

    await run_group(NOON, [(limit("*", 1), "team")], look)
