"""Books: what a room knows of a tenant while a group of commands runs.

A group reads all that its commands need in one statement and writes all that they changed in another. Each room
brings its part as a book: fragments of SQL, what it wants to read, and what it has to write. The fragments are
constant text and each takes one JSON parameter, so that a statement is prepared once and the number of round trips
does not grow with the group. They look up by keys alone, each key by itself (LATERAL, with OFFSET 0 so that it stays
so), and ask what they have found for the rest: then no statistics, missing or out of date, lead the planner elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol

from sqlalchemy import TextClause, text

from app.db.database import Reader, Writer

SWEEP: Final = 100
"""How many things one sweep takes from a book; as many means that there may be more."""

Rows = Sequence[Mapping[str, Any]]


class Book(Protocol):
    """One room's pages of one tenant, for the length of one transaction.

    READS and WRITES map a name, unique among all books, to a fragment. A read fragment is a SELECT of one column, a
    jsonb object a row; it may use `:tenant` and its own name as a parameter: `CAST(:name AS jsonb)`, an array. A
    write fragment is an INSERT or UPDATE from `jsonb_to_recordset(CAST(:name AS jsonb))`, with `:tenant`.
    """

    READS: ClassVar[Mapping[str, str]]
    WRITES: ClassVar[Mapping[str, str]]

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return what each read fragment should look for and has not looked for yet; empty is not asked at all."""
        ...

    def load(self, name: str, rows: Rows) -> None:
        """Take in the rows that the read fragment of that name found."""
        ...

    def writes(self) -> Mapping[str, Rows]:
        """Return the rows of each write fragment; empty is not written at all."""
        ...


async def read(tx: Reader, tenant: str, books: Iterable[Book]) -> None:
    """Read what the books want, in one statement, or in none if they want nothing."""
    wanted = [(book, name, keys) for book in books for name, keys in book.wants().items() if keys]
    if not wanted:
        return
    statement = _reading(tuple((name, book.READS[name]) for book, name, _ in wanted))
    row = await tx.row(statement, {"tenant": tenant, **{name: keys for _, name, keys in wanted}})
    for (book, name, _), found in zip(wanted, row or (), strict=True):
        book.load(name, found)


async def write(tx: Writer, tenant: str, books: Iterable[Book]) -> None:
    """Write what the books changed, in one statement, or in none if they changed nothing."""
    changed = [(book, name, rows) for book in books for name, rows in book.writes().items() if rows]
    if not changed:
        return
    statement = _writing(tuple((name, book.WRITES[name]) for book, name, _ in changed))
    await tx.write(statement, {"tenant": tenant, **{name: rows for _, name, rows in changed}})


@lru_cache(maxsize=512)
def _reading(fragments: tuple[tuple[str, str], ...]) -> TextClause:
    return text(reading(fragments))


def reading(fragments: Iterable[tuple[str, str]]) -> str:
    """Return the statement of read fragments: one row, with the array that each has found in the column of its name."""
    columns = ", ".join(
        f"(SELECT coalesce(jsonb_agg(found.item), '[]') FROM ({sql}) AS found(item)) AS {name}"
        for name, sql in fragments
    )
    return f"SELECT {columns}"


@lru_cache(maxsize=512)
def _writing(fragments: tuple[tuple[str, str], ...]) -> TextClause:
    steps = ", ".join(f"{name}_written AS ({sql})" for name, sql in fragments)
    return text(f"WITH {steps} SELECT 1")
