"""How a scope stands under the limits that cover it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from app.core.policy.limits import Limit
from app.db import books
from app.db.database import Reader
from app.spend.book import SpendBook


@dataclass(frozen=True, slots=True)
class Standing:
    """What a limit sees on one scope: held now, whatever its age, and spent in the limit's window."""

    limit: Limit
    held: Decimal
    spent: Decimal

    @property
    def left(self) -> Decimal:
        """Return what may still be taken: nothing where more was spent than the limit, now, allows."""
        return max(self.limit.amount - self.held - self.spent, Decimal(0))


async def read(reader: Reader, tenant: str, scope: str, limits: Iterable[Limit], now: datetime) -> Sequence[Standing]:
    """Return how the scope stands at a time under those of the limits that cover it, all at one moment."""
    return (await of_scopes(reader, tenant, [scope], limits, now))[scope]


async def of_scopes(
    reader: Reader, tenant: str, scopes: Sequence[str], limits: Iterable[Limit], now: datetime
) -> dict[str, list[Standing]]:
    """Return the same for each of several scopes."""
    every = tuple(limits)
    covering = {scope: [limit for limit in every if limit.matches(scope)] for scope in scopes}
    book = SpendBook(now)
    book.want((limit, scope) for scope, covered in covering.items() for limit in covered)
    await books.read(reader, tenant, [book])
    return {
        scope: [Standing(limit, *book.room(limit, scope)) for limit in covered] for scope, covered in covering.items()
    }
