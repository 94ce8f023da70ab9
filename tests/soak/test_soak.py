"""A short soak in every run; `python -m tests.soak` runs for as long as one likes."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from tests.soak.reckoning import Books, faults
from tests.soak.run import soak

SECONDS = 20


@pytest.mark.timeout(400)
async def test_nothing_is_unexplained_after_processes_and_connections_died(database_url: str, tmp_path: Path) -> None:
    outcome = await soak(database_url, tmp_path, SECONDS)
    assert faults(outcome.books) == []
    assert sum(outcome.havoc.values()) > 0
    assert outcome.states["executed"] > 0
    for name, tampered in _tampered(outcome.books):
        assert faults(tampered), f"nothing was found wrong with {name}"


def _tampered(books: Books) -> Iterator[tuple[str, Books]]:
    """Yield books in which one thing is not as it was: a reckoning that finds nothing has to be able to find it."""
    id_, row = next((id_, row) for id_, row in books.admissions.items() if row.state == "executed")
    without = {other: row for other, row in books.admissions.items() if other != id_}
    yield "an admission that is gone", replace(books, admissions=without)
    yield "another state", replace(books, admissions={**without, id_: replace(row, state="unknown")})
    yield "a record that is gone", replace(books, records=books.records[:-1])
    yield "a question that is gone", replace(books, questions=dict(list(books.questions.items())[1:]))
    yield "a cap that is passed", replace(books, used={**books.used, "desk:d0": Decimal("200.01")})
    yield "a chain that is cut", replace(books, verified=replace(books.verified, verdict="broken"))
