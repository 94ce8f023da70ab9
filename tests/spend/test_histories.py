"""Whatever happens on a few scopes, every limit sees exactly what the entries say, and the sums equal them."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.money import Money
from app.core.policy.limits import Limit
from app.core.windows import Calendar, Rolling, Unit, Window, start
from app.db import books
from app.db.database import Database, Limits, Writer
from app.spend.book import SpendBook
from app.spend.holds import Hold
from tests.spend.limits import limit
from tests.spend.recounting import differences

SCOPES = ("desk", "booking:AB12", "booking:\u00c4\U0001f600")
WINDOWS: tuple[Window | None, ...] = (
    None,
    Rolling(timedelta(seconds=90)),
    Rolling(timedelta(hours=1)),
    Rolling(timedelta(days=3)),
    Calendar(Unit.HOUR, "Asia/Kathmandu"),
    Calendar(Unit.DAY, "Europe/Berlin"),
    Calendar(Unit.MONTH, "America/New_York"),
)
LIMITS = [
    (limit("*", 1_000, currency, window), scope) for window in WINDOWS for currency in ("EUR", None) for scope in SCOPES
]
# Just before the clocks of Berlin go back, so that histories pass the change.
BEGINNING = datetime(2026, 10, 24, 21, 30, tzinfo=UTC)

# A machine that is busy with other tests proves nothing about money.
PATIENT = Limits(connections=1, connect=30, statement=30)
_tenants = (f"tenant-{number}" for number in itertools.count())
_ids = (f"adm_{number}" for number in itertools.count())

amounts = st.decimals(0, Decimal("999999999999999.99999999"), places=8) | st.sampled_from(
    [Decimal(0), Decimal("0.00000001"), Decimal(30), Decimal("0.1")]
)
scopes = st.lists(st.sampled_from(SCOPES), min_size=1, unique=True).map(tuple)
# Whole seconds and whole windows often, and an instant beside them.
lengths = [timedelta(seconds=1), timedelta(seconds=90), timedelta(minutes=30), timedelta(hours=1), timedelta(hours=23)]
pauses = st.builds(
    lambda length, off: max(length + off, timedelta(0)),
    st.sampled_from([timedelta(0), *lengths, timedelta(days=3), timedelta(days=9)]),
    st.sampled_from([timedelta(0), timedelta(microseconds=1), timedelta(microseconds=-1)]),
)


@dataclass(frozen=True)
class Take:
    """Hold an amount on scopes; the currency may be none."""

    scopes: tuple[str, ...]
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Close:
    """Settle or release one of the open holds; `actual` is in a currency that it takes."""

    which: int
    executed: bool
    actual: Decimal | None
    trusted: bool


@dataclass(frozen=True)
class Enter:
    """Record or credit money that was not held."""

    scope: str
    money: Money
    credit: bool


takes = st.builds(Take, scopes, amounts, st.sampled_from(["EUR", "USD"]))
costless = st.builds(Take, scopes, st.just(Decimal(0)), st.just(""))
closes = st.builds(Close, st.integers(0, 9), st.booleans(), st.none() | amounts, st.booleans())
monies = st.builds(Money, amounts, st.sampled_from(["EUR", "USD"]))
enters = st.builds(Enter, st.sampled_from(SCOPES), monies, st.booleans())
groups = st.lists(takes | costless | closes | enters, min_size=1, max_size=5)
histories = st.lists(st.tuples(pauses, groups), min_size=1, max_size=12)


class Ledger:
    """The model: holds that are open and sums that were spent, in lists, counted afresh for every question."""

    def __init__(self) -> None:
        self.open: list[Hold] = []
        self.spent: list[tuple[str, Decimal, str, datetime]] = []

    def room(self, one: Limit, scope: str, now: datetime) -> tuple[Decimal, Decimal]:
        since = start(one.window, now) if one.window else BEGINNING
        held = [hold.amount for hold in self.open if scope in hold.scopes and one.currency in {None, hold.currency}]
        spent = [
            amount
            for where, amount, currency, taken_at in self.spent
            if where == scope and one.currency in {None, currency} and taken_at >= since
        ]
        return measure(one, held), measure(one, spent)

    def spend(self, scope: str, amount: Decimal, currency: str, taken_at: datetime) -> None:
        self.spent.append((scope, amount, currency, taken_at))


def measure(one: Limit, found: Sequence[Decimal]) -> Decimal:
    return Decimal(len(found)) if one.currency is None else sum(found, Decimal(0))


def take(book: SpendBook, ledger: Ledger, step: Take, now: datetime) -> None:
    hold = Hold(next(_ids), step.scopes, step.amount, step.currency, now)
    book.hold(hold)
    ledger.open.append(hold)


def close(book: SpendBook, ledger: Ledger, step: Close) -> None:
    if not ledger.open:
        return
    hold = ledger.open.pop(step.which % len(ledger.open))
    if not step.executed:
        book.release(hold)
        return
    actual = None if step.actual is None else Money(step.actual, hold.currency or "EUR")
    spent = book.settle(hold, actual, trusted=step.trusted)
    for scope in hold.scopes:
        ledger.spend(scope, spent.amount, spent.currency, hold.taken_at)


def enter(book: SpendBook, ledger: Ledger, step: Enter, now: datetime) -> None:
    if step.credit:
        book.credit(step.scope, step.money)
    else:
        book.record(step.scope, step.money)
        ledger.spend(step.scope, step.money.amount, step.money.currency, now)


def play(book: SpendBook, ledger: Ledger, step: Take | Close | Enter, now: datetime) -> None:
    match step:
        case Take():
            take(book, ledger, step, now)
        case Close():
            close(book, ledger, step)
        case Enter():
            enter(book, ledger, step, now)


def assert_agree(book: SpendBook, ledger: Ledger, now: datetime) -> None:
    for one, scope in LIMITS:
        assert book.room(one, scope) == ledger.room(one, scope, now), (one, scope)


async def play_group(
    tx: Writer, tenant: str, ledger: Ledger, now: datetime, group: Sequence[Take | Close | Enter]
) -> None:
    book = SpendBook(now)
    book.want(LIMITS)
    await books.read(tx, tenant, [book])
    assert_agree(book, ledger, now)
    for step in group:
        play(book, ledger, step, now)
        assert_agree(book, ledger, now)
    await books.write(tx, tenant, [book])


async def play_history(url: str, history: Sequence[tuple[timedelta, Sequence[Take | Close | Enter]]]) -> None:
    database = Database.at(url, PATIENT)
    tenant, ledger, now = next(_tenants), Ledger(), BEGINNING
    try:
        for pause, group in history:
            now += pause
            await database.transact(partial(play_group, tenant=tenant, ledger=ledger, now=now, group=group))
        assert await database.read(partial(differences, tenant=tenant)) == []
    finally:
        await database.close()


# The database is shared by the examples, each under a tenant of its own.
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
def test_every_limit_sees_what_the_entries_say(
    database_url: str, history: Sequence[tuple[timedelta, Sequence[Take | Close | Enter]]]
) -> None:
    asyncio.run(play_history(database_url, history))
