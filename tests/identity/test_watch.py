"""How a process comes to know who may do what: no more looks than needed, and none that saw too little."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from app.audit.lane import Lane, Lanes
from app.core.chain import Signer
from app.core.refusals import Refusal
from app.db.database import Database, Reader, StoreUnavailableError
from app.identity import credentials, tenants
from app.identity.authority import AuthorityCache
from app.identity.credentials import IssuedKey, NewKey
from app.identity.principals import Statement
from app.identity.watch import Watch

T = TypeVar("T")

ADMIN = NewKey(Statement("admin", "human"), bundles=frozenset({"admin"}))


class CountingDatabase(Database):
    """The real database, with a count of what was read from it and a gate before each read."""

    reads = 0
    gate: asyncio.Event | None = None

    async def read(self, query: Callable[[Reader], Awaitable[T]]) -> T:
        self.reads += 1
        if self.gate is not None:
            await self.gate.wait()
        return await super().read(query)


@pytest.fixture
async def counted(database_url: str) -> CountingDatabase:
    return CountingDatabase.at(database_url)  # type: ignore[return-value] # `at` is a class method of the base


async def begin(database: Database, signer: Signer, tenant: str) -> IssuedKey:
    issued = await tenants.create(Lanes(database, signer), tenant, ADMIN, "test")
    assert not isinstance(issued, Refusal)
    return issued


async def another_key(database: Database, signer: Signer) -> IssuedKey:
    async def issue(lane: Lane) -> IssuedKey | Refusal:
        return await credentials.issue(lane, NewKey(Statement("bot", "agent"), frozenset({"agent"})), "test")

    issued = await Lanes(database, signer).run("acme", issue)
    assert not isinstance(issued, Refusal)
    return issued


async def test_a_tenant_nobody_made_is_none(database: Database) -> None:
    assert await Watch(database, AuthorityCache()).fresh("nobody") is None


async def test_a_hundred_who_come_at_once_share_two_looks(counted: CountingDatabase, signer: Signer) -> None:
    await begin(counted, signer, "acme")
    watch = Watch(counted, AuthorityCache())
    counted.reads, counted.gate = 0, asyncio.Event()
    first = asyncio.create_task(watch.fresh("acme"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = [asyncio.create_task(watch.fresh("acme")) for _ in range(100)]
    await asyncio.sleep(0)
    counted.gate.set()
    sights = await asyncio.gather(first, *others)
    assert counted.reads == 2
    assert all(sight is not None for sight in sights)
    await counted.close()


async def test_whoever_comes_after_a_change_sees_it_though_a_look_was_under_way(
    counted: CountingDatabase, signer: Signer
) -> None:
    await begin(counted, signer, "acme")
    watch = Watch(counted, AuthorityCache())
    slow = counted.gate = asyncio.Event()
    before = asyncio.create_task(watch.fresh("acme"))
    await asyncio.sleep(0.01)
    issued = await another_key(counted, signer)
    after = asyncio.create_task(watch.fresh("acme"))
    await asyncio.sleep(0.01)
    slow.set()
    sight = await after
    assert sight is not None
    assert issued.id in sight.authority.credentials
    await before
    await counted.close()


async def test_within_a_second_nothing_is_read_again(counted: CountingDatabase, signer: Signer) -> None:
    await begin(counted, signer, "acme")
    watch = Watch(counted, AuthorityCache())
    await watch.fresh("acme")
    counted.reads = 0
    for _ in range(10):
        assert await watch.within("acme", 1.0) is not None
    assert counted.reads == 0
    assert await watch.within("acme", 0.0) is not None
    assert counted.reads == 1
    await counted.close()


async def test_one_who_goes_away_takes_nobody_with_it(counted: CountingDatabase, signer: Signer) -> None:
    await begin(counted, signer, "acme")
    watch = Watch(counted, AuthorityCache())
    counted.gate = asyncio.Event()
    gone, stays = (asyncio.create_task(watch.fresh("acme")) for _ in range(2))
    await asyncio.sleep(0.01)
    gone.cancel()
    await asyncio.wait([gone])
    counted.gate.set()
    assert await stays is not None
    await counted.close()


async def test_a_look_that_fails_fails_those_who_waited_and_the_next_works(database: Database, signer: Signer) -> None:
    await begin(database, signer, "acme")
    broken = Database.at("postgresql+asyncpg://nobody@127.0.0.1:1/nothing")
    watch = Watch(broken, AuthorityCache())
    results = await asyncio.gather(*(watch.fresh("acme") for _ in range(5)), return_exceptions=True)
    assert all(isinstance(result, StoreUnavailableError) for result in results)
    watch = Watch(database, AuthorityCache())
    assert await watch.fresh("acme") is not None


async def test_what_a_lane_has_read_is_known_without_a_look(counted: CountingDatabase, signer: Signer) -> None:
    await begin(counted, signer, "acme")
    authorities = AuthorityCache()
    watch = Watch(counted, authorities)
    seen = await watch.fresh("acme")
    assert seen is not None
    issued = await another_key(counted, signer)
    await counted.read(lambda reader: authorities.at(reader, "acme", seen.authority.epoch + 2))
    last = watch.last("acme")
    assert last is not None
    assert issued.id in last.authority.credentials
    await counted.close()


async def test_the_clock_runs_on_between_looks(database: Database, signer: Signer) -> None:
    await begin(database, signer, "acme")
    sight = await Watch(database, AuthorityCache()).fresh("acme")
    assert sight is not None
    earlier = sight.now()
    await asyncio.sleep(0.02)
    assert (sight.now() - earlier).total_seconds() >= 0.02
