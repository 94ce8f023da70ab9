"""The client for code that awaits. Everything that it says is in `_conversations` and `_invocation`."""

from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack, overload

import httpx

from countersign import _conversations as conversations
from countersign._answers import Admission, Answer, Approval, Result
from countersign._calls import CallOptions, call_body
from countersign._connection import Connection, build, reply_of
from countersign._conversations import ReportDetails
from countersign._protect import protect_async_function
from countersign._protection import Protection, ProtectOptions
from countersign._steps import Conversation, NoReply, Reply, Request, hold_async

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class AsyncCountersign:
    """Asks the service, in code that awaits (asyncio). As `Countersign`, with every method a coroutine."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        tries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._connection = Connection(url, key, timeout, tries)
        self._http = httpx.AsyncClient(**self._connection.settings, transport=transport)

    async def decide(
        self, action: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Answer:
        """Ask what the policy would say. Nothing is stored or used up, and `allowed` is never true."""
        return await self._hold(
            conversations.decide(call_body(action, arguments or {}, options), self._connection.patience)
        )

    async def admit(
        self, action: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Answer:
        """Ask to act. Act only if the answer is `allowed`, with exactly these arguments, and `report` afterwards."""
        return await self._hold(
            conversations.admit(call_body(action, arguments or {}, options), self._connection.patience)
        )

    async def report(self, admission: Admission | str, outcome: Result, **details: Unpack[ReportDetails]) -> None:
        """Say what came of an admission: `executed`, `not_executed` only if that is certain, else `unknown`.

        Raises:
            Conflict: another outcome was reported or resolved before.
        """
        await self._hold(conversations.report(admission, outcome, self._connection.patience, **details))

    async def extend(self, admission: Admission | str, lease: timedelta) -> datetime:
        """Ask for more time to act, counted from now, and return when the lease ends.

        Raises:
            Conflict: the lease is over; the admission is unknown until somebody says what happened.
        """
        return await self._hold(conversations.extend(admission, lease, self._connection.patience))

    async def wait_for_approval(self, approval_id: str, timeout: float | None = None) -> Approval:  # noqa: ASYNC109
        """Wait until somebody decided, the question ran out, or `timeout` seconds passed; then send the call again."""
        return await self._hold(conversations.wait_for_approval(approval_id, timeout))

    async def cancel(self, approval_id: str) -> None:
        """Take a question back; it can be until it is consumed."""
        await self._hold(conversations.cancel(approval_id, self._connection.patience))

    async def end_run(self, run_id: str) -> None:
        """End a run: its questions are cancelled, and what they approved can no longer be used."""
        await self._hold(conversations.end_run(run_id, self._connection.patience))

    async def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Make any other call of the API, such as `request("GET", "/v1/whoami")`, and return its JSON object."""
        return await self._hold(conversations.call(method, path, params or {}, body, self._connection.patience))

    @overload
    def protect(
        self, action: str, *, on_refusal: Literal["return"], **options: Unpack[ProtectOptions]
    ) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R | Answer]]]: ...

    @overload
    def protect(
        self, action: str, *, on_refusal: Literal["raise", "wait"] = ..., **options: Unpack[ProtectOptions]
    ) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]: ...

    def protect(
        self,
        action: str,
        *,
        on_refusal: Literal["raise", "return", "wait"] = "raise",
        **options: Unpack[ProtectOptions],
    ) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R | Answer]]]:
        """Let a coroutine function run only when the service admits the call, and report what came of it.

        As `Countersign.protect`. A cancellation while it waits for a person cancels the question; one while the
        function runs is reported as unknown. Both are said to the end before the cancellation goes on.
        """
        return protect_async_function(Protection.of(action, on_refusal, options), self._connection.patience, self._hold)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._connection.url)!r})"

    async def _hold(self, conversation: Conversation[T]) -> T:
        return await hold_async(conversation, self._send)

    async def _send(self, request: Request) -> Reply | NoReply:
        try:
            return reply_of(await self._http.send(build(self._http, request)))
        except httpx.RequestError as error:
            return NoReply(type(error).__name__)
