"""Soak, and say what it came to."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.db import schema
from app.embedded import DataDirectory, EmbeddedPostgres, running
from tests.soak.reckoning import faults
from tests.soak.run import Outcome, soak

_DATABASE = "soak"
_SHOWN = 20


def main() -> int:
    """Run it over a Postgres of its own, and return the exit status: 0 if nothing is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=sys.modules["tests.soak"].__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for how long things go wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countersign-soak-", ignore_cleanup_errors=True) as folder:
        beside = Path(folder) / "beside"
        beside.mkdir(mode=0o700)
        with running(DataDirectory(Path(folder) / "data")) as postgres:
            outcome = asyncio.run(_soak(postgres, beside, 60 * options.minutes))
    wrong = faults(outcome.books)
    print(_report(outcome, wrong))
    return 1 if wrong else 0


async def _soak(postgres: EmbeddedPostgres, folder: Path, seconds: float) -> Outcome:
    engine = create_async_engine(postgres.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {_DATABASE}"))
    await engine.dispose()
    await schema.migrate(postgres.url(_DATABASE))
    return await soak(postgres.url(_DATABASE), folder, seconds)


def _report(outcome: Outcome, wrong: Sequence[str]) -> str:
    allowed = sum(answer["allowed"] for answer in outcome.books.answers.all())
    lines = [
        f"broken      {_counted(outcome.havoc)}",
        f"answered    {_counted(outcome.statuses)}",
        f"admissions  {_counted(outcome.states)}",
        f"record      {outcome.books.verified.records:,} records, {allowed:,} answers that allowed something",
    ]
    if wrong:
        return "\n".join([*lines, f"{len(wrong):,} THINGS ARE WRONG:", *wrong[:_SHOWN]])
    return "\n".join([*lines, "every state is explained, every sum right, the chain whole, and every answer recorded"])


def _counted(what: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(what.items()))


if __name__ == "__main__":
    sys.exit(main())
