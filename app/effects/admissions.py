"""An admission: the one answer that permits, and the states that it may move through."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final


class State(StrEnum):
    """Where an admission or an effect stands."""

    RESERVED = "reserved"
    EXECUTED = "executed"
    NOT_EXECUTED = "not_executed"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """Whether an action was admitted, or room was reserved for metering without one."""

    ACTION = "action"
    METERING = "metering"


@dataclass(slots=True)
class Admission:
    """One admission. `amount` is held on each of `scopes`; `answer` is the JSON text that was answered.

    `grant_id` is the grant that it was asked under, where one was needed; `budgets` are those of it and of what it was
    delegated from that have a budget, on which the amount is held too.

    `resolved` tells that a holder of that right has spoken, after which nothing changes it.
    """

    id: str
    principal: str
    created_at: datetime
    expires_at: datetime
    kind: Kind = Kind.ACTION
    state: State = State.RESERVED
    action: str = ""
    digest: str = ""
    asset: str = ""
    effects: list[str] = field(default_factory=list)
    attempt: int = 1
    scopes: list[str] = field(default_factory=list)
    amount: Decimal = Decimal(0)
    currency: str = ""
    actual: Decimal | None = None
    actual_currency: str = ""
    outcome_by: str = "agent"
    resolved: bool = False
    closed_at: datetime | None = None
    detail: str = ""
    result_digest: str | None = None
    run_id: str | None = None
    approval_id: str | None = None
    idempotency_key: str | None = None
    request_digest: str | None = None
    grant_id: str | None = None
    budgets: list[str] = field(default_factory=list)
    answer: str = ""

    def lapsed(self, now: datetime) -> bool:
        """Return whether the lease has ended without a word; it is over exactly at its time."""
        return self.state is State.RESERVED and self.expires_at <= now

    def open(self, now: datetime) -> bool:
        """Return whether it still permits: no outcome, and the lease runs."""
        return self.state is State.RESERVED and now < self.expires_at

    def as_row(self) -> dict[str, Any]:
        """Return the row, by the names of its columns."""
        return dict(zip(_COLUMNS, _values(self), strict=True))


_COLUMNS: Final = tuple(column.name for column in fields(Admission))
_values = attrgetter(*_COLUMNS)


def from_row(row: dict[str, Any]) -> Admission:
    """Return the admission of a row that came as JSON."""
    return Admission(
        **{
            **row,
            "kind": Kind(row["kind"]),
            "state": State(row["state"]),
            "amount": Decimal(row["amount"]),
            "actual": None if row["actual"] is None else Decimal(row["actual"]),
            "created_at": datetime.fromisoformat(row["created_at"]),
            "expires_at": datetime.fromisoformat(row["expires_at"]),
            "closed_at": None if row["closed_at"] is None else datetime.fromisoformat(row["closed_at"]),
        }
    )
