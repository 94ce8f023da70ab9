"""The book of the grants that the callers of one group hold."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from app.core.lineage import Lineage
from app.db import books
from app.db.books import Rows
from app.db.database import Database
from app.grants import lineages
from app.grants.holdings import Holdings


class GrantBook:
    """What subjects hold; a book that only reads, and only what is not known under this epoch yet."""

    READS: ClassVar[Mapping[str, str]] = {"grants_held": lineages.HELD}
    WRITES: ClassVar[Mapping[str, str]] = {}

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._wanted: set[str] = set()

    @property
    def required(self) -> bool:
        """Return whether nothing may be asked without a grant."""
        return self._holdings.required

    def want(self, subject: str) -> None:
        """Ask for what a subject holds, if that plays a part."""
        if self.required and not self._holdings.knows(subject):
            self._wanted.add(subject)

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return the subjects that were asked for and not read yet."""
        return {"grants_held": sorted(self._wanted)}

    def load(self, name: str, rows: Rows) -> None:  # noqa: ARG002 - there is one fragment only
        """Take in what the subjects hold."""
        for subject, held in lineages.of_subjects(rows, self._wanted).items():
            self._holdings.keep(subject, held)
        self._wanted.clear()

    def held_by(self, subject: str) -> tuple[Lineage, ...]:
        """Return what the subject holds: nothing that is known of, where it has not been read yet."""
        return self._holdings.of(subject) if self._holdings.knows(subject) else ()

    def writes(self) -> Mapping[str, Rows]:
        """Return nothing: grants are changed by administrative commands."""
        return {}


async def bring(database: Database, tenant: str, holdings: Holdings, subject: str) -> None:
    """See that it is known what the subject holds, without a connection where that is in memory or plays no part.

    Raises:
        StoreUnavailableError: it has to be read, and the database did not answer.
    """
    book = GrantBook(holdings)
    book.want(subject)
    if book.wants()["grants_held"]:
        await database.read(lambda reader: books.read(reader, tenant, [book]))
