"""What tests share: a real Postgres, a database of its own for every test, and keys.

The server lives as long as the run. One database in it is migrated once, and every test gets a copy of that.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.core.chain import Signer
from app.db import schema
from app.db.database import Database
from app.embedded import DataDirectory, EmbeddedPostgres, running

# A test's data need not survive a power cut; that the service's own writes do is Postgres' promise, not ours.
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "250"}
_TEMPLATE = "migrated"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """A Postgres server."""
    with running(DataDirectory(tmp_path_factory.mktemp("data")), _FAST) as server:
        yield server


@pytest.fixture(scope="session")
def migrated(postgres: EmbeddedPostgres) -> str:
    """The name of a migrated database, to be copied and never to be written."""
    asyncio.run(_administer(postgres, f"CREATE DATABASE {_TEMPLATE}"))
    asyncio.run(schema.migrate(postgres.url(_TEMPLATE)))
    return _TEMPLATE


@pytest.fixture
async def database_url(postgres: EmbeddedPostgres, migrated: str) -> AsyncIterator[str]:
    """The URL of a fresh, migrated database."""
    name = f"test_{next(_numbers)}"
    await _administer(postgres, f"CREATE DATABASE {name} TEMPLATE {migrated}")
    yield postgres.url(name)
    await _administer(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    database = Database.at(database_url)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def signer() -> Signer:
    """A signing key, the same in every run."""
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


async def _administer(postgres: EmbeddedPostgres, statement: str) -> None:
    engine = create_async_engine(postgres.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(statement))
    await engine.dispose()
