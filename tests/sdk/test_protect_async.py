"""What `protect` promises to code that awaits: the same, and that a cancellation leaves nothing open."""

import asyncio
import inspect
from typing import assert_type

import httpx
import pytest

import countersign
from countersign import AsyncCountersign, Doubt, NotExecuted, Result, current_admission
from tests.sdk.conftest import REPORT
from tests.sdk.scripted import ADMIT, QUESTION, Scripted, allow, held, question, refused, reply

CANCEL = "POST /v1/approvals/apr_1/cancel"


class Slow:
    """A scripted service that takes its time, so that a test can cancel in the middle."""

    def __init__(self, service: Scripted, route: str) -> None:
        self._service = service
        self._route = route
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if f"{request.method} {request.url.path}" == self._route and not self.reached.is_set():
            self.reached.set()
            await self.go.wait()
        await asyncio.sleep(0)
        return self._service(request)


async def test_a_coroutine_function_stays_one(async_client: AsyncCountersign) -> None:
    @async_client.protect("x")
    async def act(booking: str) -> str:
        """Act."""
        return booking

    assert inspect.iscoroutinefunction(act)
    assert (act.__name__, act.__doc__) == ("act", "Act.")
    with pytest.raises(TypeError, match="use that client"):
        async_client.protect("x")(lambda: None)  # type: ignore[arg-type, return-value]


async def test_it_runs_when_admitted_and_reports(service: Scripted, async_client: AsyncCountersign) -> None:
    service.on(ADMIT, allow())

    async def fingerprint(booking: str) -> str:
        await asyncio.sleep(0)
        return f"{booking}:v1"

    @async_client.protect("x", precondition=fingerprint)
    async def act(booking: str) -> str:
        await asyncio.sleep(0)
        return f"{booking} {current_admission().id}"

    assert await act("AB12") == "AB12 adm_1"
    assert service.sent(ADMIT)[0]["precondition"] == "AB12:v1"
    assert service.told() == [{"outcome": "executed"}]


async def test_it_reports_what_was_raised(service: Scripted, async_client: AsyncCountersign) -> None:
    service.on(ADMIT, allow())

    async def look(doubt: Doubt) -> Result:
        await asyncio.sleep(0)
        return "executed" if isinstance(doubt.error, TimeoutError) else "unknown"

    @async_client.protect("x", reconcile=look)
    async def act(error: str) -> None:
        raise {"never": NotExecuted, "lost": TimeoutError, "odd": KeyError}[error]

    for error in ("never", "lost", "odd"):
        with pytest.raises((NotExecuted, TimeoutError, KeyError)):
            await act(error)
    assert [told["outcome"] for told in service.told()] == ["not_executed", "executed", "unknown"]


async def test_a_refusal_is_raised_or_returned(service: Scripted, async_client: AsyncCountersign) -> None:
    service.on(ADMIT, refused("label_denied"))

    async def act() -> str:
        return "done"

    with pytest.raises(countersign.Denied):
        await async_client.protect("x")(act)()
    answer = assert_type(await async_client.protect("x", on_refusal="return")(act)(), str | countersign.Answer)
    assert isinstance(answer, countersign.Answer)


async def test_a_held_call_waits_and_runs(service: Scripted, async_client: AsyncCountersign) -> None:
    service.on(ADMIT, held(), allow()).on(QUESTION, question("approved"))

    @async_client.protect("x", on_refusal="wait")
    async def act() -> str:
        return "done"

    assert await act() == "done"


async def test_cancelling_while_waiting_cancels_the_question(service: Scripted) -> None:
    service.on(ADMIT, held()).on(QUESTION, question("pending")).on(CANCEL, reply(200))
    slow = Slow(service, QUESTION)
    async with AsyncCountersign(key="k", transport=httpx.MockTransport(slow)) as client:

        @client.protect("x", on_refusal="wait")
        async def act() -> None: ...

        task = asyncio.create_task(act())
        await slow.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert service.routes == [ADMIT, CANCEL]


async def test_a_timeout_around_the_wait_cancels_the_question(
    service: Scripted, async_client: AsyncCountersign
) -> None:
    service.on(ADMIT, held()).on(QUESTION, question("pending")).on(CANCEL, reply(200))

    @async_client.protect("x", on_refusal="wait")
    async def act() -> None: ...

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await act()
    assert service.routes[-1] == CANCEL


async def test_cancelling_while_it_runs_is_reported_as_unknown(
    service: Scripted, async_client: AsyncCountersign
) -> None:
    service.on(ADMIT, allow())
    started = asyncio.Event()

    @async_client.protect("x")
    async def act() -> None:
        started.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(act())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert service.told() == [{"outcome": "unknown", "detail": "CancelledError"}]


async def test_cancelling_again_and_again_does_not_stop_the_report(service: Scripted) -> None:
    service.on(ADMIT, allow())
    slow = Slow(service, REPORT)
    async with AsyncCountersign(key="k", transport=httpx.MockTransport(slow)) as client:

        @client.protect("x")
        async def act() -> None: ...

        task = asyncio.create_task(act())
        await slow.reached.wait()
        for _ in range(5):
            task.cancel()
            await asyncio.sleep(0.01)
        assert not task.done()
        slow.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert service.told() == [{"outcome": "executed"}]


async def test_cancelling_while_asking_frees_what_was_reserved(service: Scripted) -> None:
    service.on(ADMIT, allow(replayed=True))
    slow = Slow(service, ADMIT)
    async with AsyncCountersign(key="k", transport=httpx.MockTransport(slow)) as client:

        @client.protect("x")
        async def act() -> None:
            raise AssertionError("it must not run")

        task = asyncio.create_task(act())
        await slow.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert service.told() == [{"outcome": "not_executed", "detail": "cancelled before it ran"}]


async def test_many_calls_at_once_keep_their_admissions_apart(
    service: Scripted, async_client: AsyncCountersign
) -> None:
    service.on(ADMIT, lambda body: allow(f"adm_{body['action']['arguments']['number']}"))
    for number in range(16):
        service.on(f"POST /v1/admissions/adm_{number}/outcome", reply(200))

    @async_client.protect("x")
    async def act(number: int) -> str:
        await asyncio.sleep(0.001 * number)
        return current_admission().id

    assert await asyncio.gather(*map(act, range(16))) == [f"adm_{number}" for number in range(16)]
