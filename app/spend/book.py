"""The book of what is held and spent on a tenant's scopes, for the length of one group."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from app.core import windows
from app.core.money import Money
from app.core.policy.limits import Limit
from app.core.windows import Window
from app.db.books import Rows
from app.spend import buckets, entries, totals, window_sums
from app.spend.buckets import Growths
from app.spend.entries import Entry, Kind
from app.spend.holds import Hold, Settlement, settlement
from app.spend.totals import COUNT, Change, Totals
from app.spend.window_sums import WindowSums

_ONE = Decimal(1)


class SpendBook:
    """Totals of scopes, and sums of the windows that limits look at; later commands see what earlier ones did.

    All is read before anything is changed. What was not asked for can still be changed, since only differences are
    written. A scope without a row reads as zero.
    """

    READS: ClassVar[Mapping[str, str]] = {
        "spend_totals": totals.READ,
        "spend_windows": window_sums.READ,
        "spend_entries_by_key": entries.READ,
    }
    WRITES: ClassVar[Mapping[str, str]] = {
        "spend_entries_made": entries.WRITE,
        "spend_totals_changed": totals.WRITE,
        "spend_buckets_grown": buckets.WRITE,
    }

    def __init__(self, now: datetime) -> None:
        self._now = now
        # None stands for sums that were asked for and are not read yet.
        self._totals: dict[tuple[str, str], Totals | None] = {}
        self._windows = WindowSums()
        self._starts: dict[Window, datetime] = {}
        self._keys: set[str] = set()
        self._by_key: dict[str, Entry] = {}
        self._entries: list[Entry] = []
        self._changes: defaultdict[tuple[str, str], Change] = defaultdict(Change)
        self._growths = Growths()

    # what a group asks for before it is read

    def want(self, limits: Iterable[tuple[Limit, str]]) -> None:
        """Ask for the room under limits, each with a scope that it covers."""
        for limit, scope in limits:
            self._totals.setdefault((scope, _unit(limit)), None)
            if limit.window is not None:
                self._windows.want(scope, _unit(limit), self._start(limit.window))

    def want_totals(self, scopes: Iterable[str], currency: str) -> None:
        """Ask for the totals of scopes in a currency."""
        for scope in scopes:
            self._totals.setdefault((scope, currency), None)

    def want_entry(self, key: str) -> None:
        """Ask for what was entered under an idempotency key."""
        self._keys.add(key)

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return the sums that were asked for and not read yet."""
        missing = [{"scope": scope, "unit": unit} for (scope, unit), sums in self._totals.items() if sums is None]
        return {
            "spend_totals": missing,
            "spend_windows": self._windows.wants(),
            "spend_entries_by_key": sorted(self._keys - self._by_key.keys()),
        }

    def load(self, name: str, rows: Rows) -> None:
        """Take in the sums that were found; what was asked for and not found is zero."""
        match name:
            case "spend_windows":
                self._windows.load(rows)
            case "spend_entries_by_key":
                self._by_key |= {row["idempotency_key"]: entries.from_row(row) for row in rows}
            case _:
                self._load_totals(rows)

    def _load_totals(self, rows: Rows) -> None:
        found = {(row["scope"], row["unit"]): totals.from_row(row) for row in rows}
        for key, sums in self._totals.items():
            self._totals[key] = sums or found.get(key) or Totals()

    def _start(self, window: Window) -> datetime:
        if window not in self._starts:
            self._starts[window] = windows.start(window, self._now)
        return self._starts[window]

    # what a command sees

    def room(self, limit: Limit, scope: str) -> tuple[Decimal, Decimal]:
        """Return what is held on a scope, whatever its age, and what was spent in the limit's window."""
        sums = self.sums(scope, _unit(limit))
        if limit.window is None:
            return sums.held, sums.spent
        return sums.held, self._windows.spent(scope, _unit(limit), self._start(limit.window))

    def sums(self, scope: str, unit: str) -> Totals:
        """Return the sums of a scope in a currency, or its counts.

        Raises:
            LookupError: they were not asked for before the group was read.
        """
        sums = self._totals.get((scope, unit))
        if sums is None:
            raise LookupError("the totals were not asked for")
        return sums

    def entry_of(self, key: str) -> Entry | None:
        """Return what was entered under an idempotency key that was asked for."""
        return self._by_key.get(key)

    # what a command changes

    def hold(self, hold: Hold) -> None:
        """Take room on every scope."""
        self._enter(Kind.HOLD, hold, hold.as_held)
        for scope in hold.scopes:
            self._change(scope, hold.currency, Change(Totals(held=hold.amount), Totals(held=_ONE)))

    def settle(self, hold: Hold, actual: Money | None, *, trusted: bool) -> Settlement:
        """Turn a hold into what was spent, in the window in which it was taken, and return what counts.

        `trusted` tells that a holder of `report` or `resolve` states the actual cost. It is in the hold's currency.
        """
        spent = settlement(hold, actual, trusted=trusted)
        self._enter(Kind.SETTLE, hold, spent)
        self._give_back(hold)
        for scope in hold.scopes:
            self._spend(scope, spent.amount, spent.currency, hold.taken_at)
        return spent

    def release(self, hold: Hold) -> None:
        """Give a hold back: what it was for did not happen, and costs nothing."""
        self._enter(Kind.RELEASE, hold, hold.as_held)
        self._give_back(hold)

    def record(self, scope: str, money: Money, action: str = "", key: str | None = None) -> Entry:
        """Count money that was spent without having been held, whether or not there was room for it."""
        self._spend(scope, money.amount, money.currency, self._now)
        return self._enter_alone(Kind.RECORD, scope, money, action, key)

    def credit(self, scope: str, money: Money, action: str = "", key: str | None = None) -> Entry:
        """Note money that came back; it makes no room."""
        self._change(scope, money.currency, Change(Totals(credited=money.amount)))
        return self._enter_alone(Kind.CREDIT, scope, money, action, key)

    def writes(self) -> Mapping[str, Rows]:
        """Return the entries, and the differences that they make to totals and buckets, each row once."""
        return {
            "spend_entries_made": [entry.as_row() for entry in self._entries],
            "spend_totals_changed": [change.as_row(*key) for key, change in self._changes.items()],
            "spend_buckets_grown": self._growths.as_rows(),
        }

    def _enter(self, kind: Kind, hold: Hold, what: Settlement) -> None:
        self._entries.extend(
            Entry(
                kind=kind,
                scope=scope,
                amount=what.amount,
                currency=what.currency,
                taken_at=hold.taken_at,
                at=self._now,
                admission_id=hold.admission_id,
                action=hold.action,
                overrun=what.overrun,
            )
            for scope in hold.scopes
        )

    def _enter_alone(self, kind: Kind, scope: str, money: Money, action: str, key: str | None) -> Entry:
        entry = Entry(
            kind=kind,
            scope=scope,
            amount=money.amount,
            currency=money.currency,
            taken_at=self._now,
            at=self._now,
            action=action,
            idempotency_key=key,
        )
        self._entries.append(entry)
        if key is not None:
            self._by_key[key] = entry
        return entry

    def _give_back(self, hold: Hold) -> None:
        difference = Change(Totals(held=hold.amount.copy_negate()), Totals(held=_ONE.copy_negate()))
        for scope in hold.scopes:
            self._change(scope, hold.currency, difference)

    def _spend(self, scope: str, amount: Decimal, currency: str, taken_at: datetime) -> None:
        self._change(scope, currency, Change(Totals(spent=amount), Totals(spent=_ONE)))
        self._growths.add(scope, currency, amount, taken_at)
        self._windows.add(scope, currency, amount, taken_at)

    def _change(self, scope: str, currency: str, change: Change) -> None:
        self._changes[scope, currency].add(change)
        for unit, difference in ((currency, change.money), (COUNT, change.count)):
            sums = self._totals.get((scope, unit))
            if sums is not None:
                sums.add(difference)


def _unit(limit: Limit) -> str:
    return COUNT if limit.currency is None else limit.currency
