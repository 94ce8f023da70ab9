"""Where the benchmark runs: a Postgres of its own that keeps what it commits, databases in it, and services over them.

One database is prepared once and copied, so that a round can begin with an empty one.
"""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.audit.lane import Lane
from app.cli import dev_keys, dev_policy, signing_key
from app.cli.refused import unless_refused
from app.cli.store import OPERATOR, Store
from app.core.chain import Signer
from app.db import schema
from app.db.database import Database, Limits, Reader
from app.embedded import DataDirectory, EmbeddedPostgres, running
from app.identity import credentials
from app.identity.credentials import NewKey
from app.identity.principals import Statement
from app.outbox.book import Outlets
from tests.bench import sizes
from tests.bench.scenarios import CAPPED, Keys
from tests.live import LiveService
from tests.spend.recounting import differences

T = TypeVar("T")

TENANT = "bench"
POLICY = Path(__file__).parent / "policy.yaml"

_PREPARED = "prepared"
_ADDRESS = "http://127.0.0.1"
# Six services of twelve connections at most; everything else is as Postgres comes, above all what makes it durable.
_CONFIGURATION = {"max_connections": "200"}
# So many principals that no question of one is refused for the others that it asks: it may have twenty.
_ASKERS = 128
_PATIENT = Limits(connections=2, statement=600)

_ON_CAPPED = text("""
    SELECT coalesce(sum(amount), 0)::text AS amount FROM spend_entries
    WHERE tenant = :tenant AND scope = :scope AND kind = 'hold'
""")


@dataclass(frozen=True, slots=True)
class Tenants:
    """The keys of the tenant that the load is put on, and an agent's of one with few rules and one with very many."""

    keys: Keys
    few_rules: str
    many_rules: str


class Grounds:
    """A running Postgres with a prepared database."""

    def __init__(self, postgres: EmbeddedPostgres, folder: Path) -> None:
        self._postgres = postgres
        self._folder = folder
        self._key_file = folder / "signing-key.pem"
        signing_key.make(self._key_file)
        self.signer = Signer.from_pem(self._key_file.read_bytes())
        self.tenants = asyncio.run(self._prepare())

    @property
    def disk(self) -> Path:
        """A folder on the disk that the database is on."""
        return self._folder

    def url(self, database: str) -> str:
        """Return the SQLAlchemy URL of a database."""
        return self._postgres.url(database)

    def copy(self, name: str, origin: str = _PREPARED) -> str:
        """Make a database as a copy of the prepared one, in the place of one of this name, and return its name."""
        asyncio.run(self._administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        asyncio.run(self._administer(f"CREATE DATABASE {name} TEMPLATE {origin}"))
        return name

    def empty(self, name: str) -> str:
        """Make a database with nothing in it, and return its name."""
        asyncio.run(self._administer(f"CREATE DATABASE {name}"))
        return name

    @contextmanager
    def serving(self, database: str, processes: int) -> Iterator[LiveService]:
        """Serve over a database until the context ends; what the service says is kept out of the table."""
        environment = {
            "COUNTERSIGN_DATABASE_URL": self.url(database),
            "COUNTERSIGN_SIGNING_KEY_FILE": str(self._key_file),
            "COUNTERSIGN_PUBLIC_URL": _ADDRESS,
        }
        service = LiveService(environment, processes, self._folder / "service.log")
        try:
            yield service
        finally:
            service.stop()

    def wrong_sums(self, database: str) -> Sequence[Any]:
        """Return where totals differ from their entries; none should."""
        return asyncio.run(self._read(database, lambda reader: differences(reader, TENANT)))

    def held_under_cap(self, database: str) -> str:
        """Return all that was ever held on the scope whose cap is reached."""

        async def held(reader: Reader) -> str:
            rows = await reader.rows(_ON_CAPPED, {"tenant": TENANT, "scope": CAPPED})
            return str(rows[0].amount)

        return asyncio.run(self._read(database, held))

    async def _read(self, database: str, query: Callable[[Reader], Awaitable[T]]) -> T:
        opened = Database.at(self.url(database), _PATIENT)
        try:
            return await opened.read(query)
        finally:
            await opened.close()

    async def _administer(self, statement: str) -> None:
        engine = create_async_engine(self.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        async with engine.connect() as connection:
            await connection.execute(text(statement))
        await engine.dispose()

    async def _prepare(self) -> Tenants:
        await self._administer(f"CREATE DATABASE {_PREPARED}")
        await schema.migrate(self.url(_PREPARED))
        database = Database.at(self.url(_PREPARED), _PATIENT)
        store = Store.over(database, self.signer, Outlets(_ADDRESS))
        try:
            keys = await self._tenant(store, TENANT, POLICY)
            few = await self._tenant(store, "few", self._written("few", sizes.FEW_RULES))
            many = await self._tenant(store, "many", self._written("many", sizes.MANY_RULES))
            askers = await _askers(store)
        finally:
            await database.close()
        by_part: Keys = {**{part: (key,) for part, key in keys.items()}, "askers": askers}
        return Tenants(by_part, few["agent"], many["agent"])

    async def _tenant(self, store: Store, tenant: str, policy: Path) -> dict[str, str]:
        keys = await dev_keys.ensure(store, tenant, self._folder / f"keys-{tenant}.json")
        await dev_policy.ensure(store, tenant, policy, keys["policy_admin"])
        return dict(keys)

    def _written(self, name: str, document: dict[str, Any]) -> Path:
        file = self._folder / f"policy-{name}.json"
        file.write_text(json.dumps(document))
        return file


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Run a Postgres with a prepared database until the context ends."""
    with tempfile.TemporaryDirectory(prefix="countersign-bench-", ignore_cleanup_errors=True) as folder:
        beside = Path(folder) / "beside"
        beside.mkdir(mode=0o700)
        with running(DataDirectory(Path(folder) / "data"), _CONFIGURATION) as postgres:
            yield Grounds(postgres, beside)


async def _askers(store: Store) -> tuple[str, ...]:
    async def issue(lane: Lane) -> list[str]:
        wanted = (NewKey(Statement(f"asker{number}", "agent"), frozenset({"agent"})) for number in range(_ASKERS))
        return [unless_refused(await credentials.issue(lane, new, OPERATOR)).key for new in wanted]

    return tuple(await store.lanes.run(TENANT, issue))
