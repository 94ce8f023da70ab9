"""One soak: set up, work and wreak havoc for so long, let it settle, and reckon."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from app.cli import dev_keys, dev_policy, signing_key
from app.cli.store import Store
from app.core.chain import Signer
from app.db.database import Database, Limits, Reader
from app.outbox.book import Outlets
from countersign import verify_export
from tests.proxy import Wire, wired
from tests.soak import reckoning
from tests.soak.agents import Staff
from tests.soak.answers import Answers
from tests.soak.havoc import Havoc
from tests.soak.reckoning import Books
from tests.soak.replicas import Replicas, replicas
from tests.spend.recounting import differences

_TENANT = "soak"
_ADDRESS = "http://countersign.test"
_POLICY = Path(__file__).parent / "policy.yaml"
_SETTLING = 60
"""Seconds that the last leases and questions may take to be over and swept."""

_OPEN = text("""
    SELECT (SELECT count(*) FROM admissions WHERE tenant = :tenant AND state = 'reserved')
        + (SELECT count(*) FROM approvals WHERE tenant = :tenant AND status IN ('pending', 'approved')) AS number
""")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a soak came to: what was broken, what came back, and the books."""

    havoc: Mapping[str, int]
    statuses: Mapping[str, int]
    books: Books

    @property
    def states(self) -> Mapping[str, int]:
        """How many admissions ended in each state."""
        return Counter(row.state for row in self.books.admissions.values())


async def soak(database_url: str, folder: Path, seconds: float) -> Outcome:
    """Run one over a migrated database without tenants; `folder` is for its keys and its log."""
    database = Database.at(database_url, Limits(connections=4, statement=120))
    try:
        keys = await _prepare(database, folder)
        async with wired(database_url) as (wire, url):
            environment = _environment(url, folder)
            async with replicas(environment, keys, folder) as running:
                return await _soak(running, wire, database, seconds)
    finally:
        await database.close()


async def _soak(running: Replicas, wire: Wire, database: Database, seconds: float) -> Outcome:
    answers = Answers()
    staff, havoc = Staff(running, answers), Havoc(running, wire, database)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(staff.work())
        await havoc.wreak(seconds)
        staff.stop()
    await _settled(database)
    return Outcome(havoc.done, running.statuses, await _books(running, database, answers))


async def _books(running: Replicas, database: Database, answers: Answers) -> Books:
    export = (await running.ask("auditor", "GET", "/v1/audit/export")).content.splitlines()
    keys = (await running.ask("auditor", "GET", "/v1/audit/keys")).json()
    head = (await running.ask("auditor", "GET", "/v1/audit/head")).json()["hash"]
    return Books(
        **await database.read(lambda reader: reckoning.read(reader, _TENANT)),
        wrong_sums=await database.read(lambda reader: differences(reader, _TENANT)),
        records=[json.loads(line) for line in export],
        verified=verify_export(export, keys=keys, head=head),
        answers=answers,
    )


async def _settled(database: Database) -> None:
    """Wait until sweeps have ended the last leases and questions."""

    async def still_open(reader: Reader) -> int:
        return int((await reader.rows(_OPEN, {"tenant": _TENANT}))[0].number)

    async with asyncio.timeout(_SETTLING):
        while await database.read(still_open):  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.5)


async def _prepare(database: Database, folder: Path) -> Mapping[str, str]:
    key_file = folder / "signing-key.pem"
    signing_key.make(key_file)
    store = Store.over(database, Signer.from_pem(key_file.read_bytes()), Outlets(_ADDRESS))
    keys = await dev_keys.ensure(store, _TENANT, folder / "keys.json")
    await dev_policy.ensure(store, _TENANT, _POLICY, keys["policy_admin"])
    return keys


def _environment(database_url: str, folder: Path) -> dict[str, str]:
    return {
        "COUNTERSIGN_DATABASE_URL": database_url,
        "COUNTERSIGN_SIGNING_KEY_FILE": str(folder / "signing-key.pem"),
        "COUNTERSIGN_PUBLIC_URL": _ADDRESS,
    }
