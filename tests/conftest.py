"""What tests share: a real Postgres, a database of its own for every test, and the service over it.

The server lives as long as the run. One database in it is migrated once, and every test gets a copy of that. The
service is met over ASGI in the test's own process (`app`, `asking`), or over HTTP in processes of its own (`serve`).
"""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from fastapi import FastAPI
from hypothesis import settings as hypothesis_settings
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.cli import dev_keys
from app.cli.store import Store
from app.core.chain import Signer
from app.db import schema
from app.db.database import Database
from app.embedded import DataDirectory, EmbeddedPostgres, running
from app.outbox.book import Outlets
from app.settings import PREFIX, Settings
from tests.live import LiveService

ADDRESS = "http://countersign.test"

# How long an example takes says more about what else the machine does than about the example.
hypothesis_settings.register_profile("patient", deadline=None)
hypothesis_settings.load_profile("patient")

# A test's data need not survive a power cut; that the service's own writes do is Postgres' promise, not ours.
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "250"}
_TEMPLATE = "migrated"
_POPULATED = "populated"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A Postgres server; not under pytest's own folder, which the runs that come after clear while this one lasts."""
    with tempfile.TemporaryDirectory() as folder, running(DataDirectory(Path(folder)), _FAST) as server:
        yield server


@pytest.fixture(scope="session")
def migrated(postgres: EmbeddedPostgres) -> str:
    """The name of a migrated database, to be copied and never to be written."""
    asyncio.run(_administer(postgres, f"CREATE DATABASE {_TEMPLATE}"))
    asyncio.run(schema.migrate(postgres.url(_TEMPLATE)))
    return _TEMPLATE


@pytest.fixture(scope="session")
def populated(postgres: EmbeddedPostgres, migrated: str, signer: Signer) -> tuple[str, dict[str, str]]:
    """The name of a database with the tenant `dev`, to be copied and never to be written, and its keys."""
    asyncio.run(_administer(postgres, f"CREATE DATABASE {_POPULATED} TEMPLATE {migrated}"))
    return _POPULATED, asyncio.run(_populate(postgres.url(_POPULATED), signer))


@pytest.fixture
async def database_url(
    postgres: EmbeddedPostgres,
    migrated: str,
    populated: tuple[str, dict[str, str]],
    request: pytest.FixtureRequest,
) -> AsyncIterator[str]:
    """The URL of a fresh, migrated database; with the tenant `dev` in it, if the test asks for its keys."""
    template = populated[0] if "keys" in request.fixturenames else migrated
    name = f"test_{next(_numbers)}"
    await _administer(postgres, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield postgres.url(name)
    await _administer(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    database = Database.at(database_url)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def signing_key() -> Ed25519PrivateKey:
    """A signing key, the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.fixture(scope="session")
def signer(signing_key: Ed25519PrivateKey) -> Signer:
    """What signs the record."""
    return Signer(signing_key)


@pytest.fixture
def environment(database_url: str, signing_key: Ed25519PrivateKey, tmp_path: Path) -> dict[str, str]:
    """The settings of a service over a fresh database, as its environment."""
    pem = tmp_path / "signing-key.pem"
    pem.write_bytes(signing_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return {
        "COUNTERSIGN_DATABASE_URL": database_url,
        "COUNTERSIGN_SIGNING_KEY_FILE": str(pem),
        "COUNTERSIGN_PUBLIC_URL": ADDRESS,
    }


@pytest.fixture
def settings(environment: dict[str, str]) -> Settings:
    """The settings of a service over a fresh database."""
    return Settings.model_validate({name.removeprefix(PREFIX).lower(): value for name, value in environment.items()})


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    """The service in this process, started."""
    from app.main import create_app

    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
def keys(populated: tuple[str, dict[str, str]]) -> dict[str, str]:
    """A key for every part (agent, agent2, approver, approver2, operator, ...) in the tenant `dev`, as on a laptop."""
    return dict(populated[1])


@pytest.fixture
async def asking(app: FastAPI, keys: dict[str, str]) -> AsyncIterator[Callable[[str], httpx.AsyncClient]]:
    """Clients of the service in this process: `asking("agent").post("/v1/admit", json=...)`."""
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(_client(app, key)) for name, key in keys.items()}
        yield clients.__getitem__


@pytest.fixture
def serve(environment: dict[str, str]) -> Iterator[Callable[..., LiveService]]:
    """Start services in processes of their own over the test's database: `serve(workers=2).url`."""
    with ExitStack() as stack:

        def start(workers: int = 1, **settings: str) -> LiveService:
            more = {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}
            service = LiveService(environment | more, workers)
            stack.callback(service.stop)
            return service

        yield start


def _client(app: FastAPI, key: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=ADDRESS, headers={"Authorization": f"Bearer {key}"})


async def _populate(url: str, signer: Signer) -> dict[str, str]:
    database = Database.at(url)
    with tempfile.TemporaryDirectory() as folder:
        opened = Store.over(database, signer, Outlets(ADDRESS))
        keys = dict(await dev_keys.ensure(opened, "dev", Path(folder) / "dev-keys.json"))
    await database.close()
    return keys


async def _administer(postgres: EmbeddedPostgres, statement: str) -> None:
    engine = create_async_engine(postgres.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(statement))
    await engine.dispose()
