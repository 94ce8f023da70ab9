"""Another signing key: announced, the one before retired, and told in every chain before it signs anything else."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from app.audit import keys, records, rotation, verification
from app.audit.keys import KeyNameTakenError
from app.audit.lane import Lane, Lanes
from app.audit.records import Search
from app.cli import signing_key
from app.core.chain import Signer
from app.db.database import Database
from app.main import create_app
from app.settings import Settings

TENANTS = ("acme", "globex", "initech")


@pytest.fixture
def other() -> Signer:
    """A signer with another key."""
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))


async def begin(database: Database, signer: Signer, tenant: str) -> None:
    async def first(lane: Lane) -> None:
        lane.journal.append("tenant.changed", {"change": "created"})

    await database.transact(lambda tx: keys.announce(tx, signer))
    await Lanes(database, signer).begin(tenant, first)


async def rotate(database: Database, signer: Signer) -> int:
    return await rotation.introduce(database, Lanes(database, signer), signer)


async def told(database: Database, tenant: str) -> list[tuple[str, str]]:
    wanted = Search(event_type="key.rotated")
    found = await database.read(lambda reader: records.search(reader, tenant, wanted, 2**62, 50))
    return [(record["payload"]["from"], record["payload"]["to"]) for record in found]


async def test_every_chain_says_that_the_key_changed_and_still_verifies(
    database: Database, signer: Signer, other: Signer
) -> None:
    for tenant in TENANTS:
        await begin(database, signer, tenant)
    assert await rotate(database, other) == len(TENANTS)
    for tenant in TENANTS:
        assert await told(database, tenant) == [(signer.key_id, other.key_id)]
        assert (await verification.verify(database, tenant))["ok"]


async def test_it_is_said_once_however_many_start(database: Database, signer: Signer, other: Signer) -> None:
    await begin(database, signer, "acme")
    appended = await asyncio.gather(*(rotate(database, other) for _ in range(4)))
    assert sum(appended) == 1
    assert await rotate(database, other) == 0
    assert len(await told(database, "acme")) == 1


async def test_what_a_crash_left_out_is_made_up_for(database: Database, signer: Signer, other: Signer) -> None:
    await begin(database, signer, "acme")
    await database.transact(lambda tx: keys.announce(tx, other))
    assert await rotate(database, other) == 1


async def test_a_chain_without_records_was_signed_by_nobody(database: Database, other: Signer) -> None:
    insert = text("INSERT INTO heads (tenant, hash) VALUES ('empty', :hash)")
    await database.transact(lambda tx: tx.write(insert, {"hash": "0" * 64}))
    assert await rotate(database, other) == 0


async def test_the_key_before_is_published_as_retired(database: Database, signer: Signer, other: Signer) -> None:
    await begin(database, signer, "acme")
    await rotate(database, other)
    published = await database.read(keys.published)
    assert published[signer.key_id]["until"] is not None
    assert published[other.key_id]["until"] is None


async def test_a_name_stands_for_one_key_for_ever(database: Database, signer: Signer) -> None:
    await database.transact(lambda tx: keys.announce(tx, signer))
    usurper = Signer(Ed25519PrivateKey.generate(), signer.key_id)
    with pytest.raises(KeyNameTakenError):
        await database.transact(lambda tx: keys.announce(tx, usurper))


async def test_a_service_that_starts_with_another_key_tells_it(
    asking: Callable[[str], httpx.AsyncClient], settings: Settings, database: Database, tmp_path: Path
) -> None:
    before = (await asking("auditor").get("/v1/audit/head")).json()["key_id"]
    signing_key.make(tmp_path / "next.pem")
    changed = create_app(settings.model_copy(update={"signing_key_file": tmp_path / "next.pem"}))
    async with changed.router.lifespan_context(changed):
        head = (await asking("auditor").get("/v1/audit/head")).json()
    assert await told(database, "dev") == [(before, head["key_id"])]
    assert head["key_id"] != before
