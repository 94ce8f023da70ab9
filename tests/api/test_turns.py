"""A few requests begin in one turn of the event loop, the first to come first, and all of them are served."""

import asyncio
import itertools

from starlette.types import Message, Receive, Scope, Send

from app.api.turns import MOST, Turns


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(message: Message) -> None:
    del message


async def test_many_at_once_begin_a_few_a_turn_in_the_order_they_came() -> None:
    begun: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        begun.append(scope["number"])

    turns = Turns(app)
    scopes = [{"type": "http", "number": number} for number in range(40)]
    tasks = [asyncio.create_task(turns(scope, _nothing, _nowhere)) for scope in scopes]
    counts = [0]
    while len(begun) < len(tasks):
        await asyncio.sleep(0)
        counts.append(len(begun))
    assert max(later - earlier for earlier, later in itertools.pairwise(counts)) <= MOST
    assert begun == list(range(40))
    await asyncio.gather(*tasks)


async def test_who_goes_away_before_its_turn_takes_nobodys_place() -> None:
    begun: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        begun.append(scope["number"])

    turns = Turns(app)
    for _ in range(3):
        tasks = [asyncio.create_task(turns({"type": "http", "number": n}, _nothing, _nowhere)) for n in range(20)]
        await asyncio.sleep(0)
        for task in tasks[MOST:-1]:
            task.cancel()
        async with asyncio.timeout(5):
            await asyncio.wait(tasks)
    assert begun == [*range(MOST), 19] * 3


async def test_one_that_computes_or_waits_for_long_keeps_nobody_waiting() -> None:
    released = asyncio.Event()
    served: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        if scope["path"] == "/waits":
            await released.wait()
        served.append(scope["path"])

    turns = Turns(app)
    waiting = [
        asyncio.create_task(turns({"type": "http", "path": "/waits"}, _nothing, _nowhere)) for _ in range(3 * MOST)
    ]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await turns({"type": "http", "path": "/quick"}, _nothing, _nowhere)
    assert served == ["/quick"]
    released.set()
    await asyncio.gather(*waiting)
