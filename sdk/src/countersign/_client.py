"""The client for code that blocks. Everything that it says is in `_conversations` and `_invocation`."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack, overload

import httpx

from countersign import _conversations as conversations
from countersign._answers import Admission, Answer, Approval, Result
from countersign._calls import CallOptions, call_body
from countersign._connection import Connection, build, reply_of
from countersign._conversations import ReportDetails
from countersign._protect import protect_function
from countersign._protection import Protection, ProtectOptions
from countersign._steps import Conversation, NoReply, Reply, Request, hold

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Countersign:
    """Asks the service, in code that blocks. Safe to share between threads.

    `url` and `key` are by default the environment's COUNTERSIGN_URL and COUNTERSIGN_KEY; `timeout` (seconds) is that of
    one try, `tries` how often a request is sent at most. No proxy is taken from the environment and no redirect is
    followed: the key goes to `url` and nowhere else. A `transport` of httpx's brings a proxy or certificates of your
    own.

    Every method raises a `ServiceError` where there is no answer.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        tries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection(url, key, timeout, tries)
        self._http = httpx.Client(**self._connection.settings, transport=transport)

    def decide(self, action: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]) -> Answer:
        """Ask what the policy would say. Nothing is stored or used up, and `allowed` is never true."""
        return self._hold(conversations.decide(call_body(action, arguments or {}, options), self._connection.patience))

    def admit(self, action: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]) -> Answer:
        """Ask to act. Act only if the answer is `allowed`, with exactly these arguments, and `report` afterwards."""
        return self._hold(conversations.admit(call_body(action, arguments or {}, options), self._connection.patience))

    def report(self, admission: Admission | str, outcome: Result, **details: Unpack[ReportDetails]) -> None:
        """Say what came of an admission: `executed`, `not_executed` only if that is certain, else `unknown`.

        Raises:
            Conflict: another outcome was reported or resolved before.
        """
        self._hold(conversations.report(admission, outcome, self._connection.patience, **details))

    def extend(self, admission: Admission | str, lease: timedelta) -> datetime:
        """Ask for more time to act, counted from now, and return when the lease ends.

        Raises:
            Conflict: the lease is over; the admission is unknown until somebody says what happened.
        """
        return self._hold(conversations.extend(admission, lease, self._connection.patience))

    def wait_for_approval(self, approval_id: str, timeout: float | None = None) -> Approval:
        """Wait until somebody decided, the question ran out, or `timeout` seconds passed; then send the call again."""
        return self._hold(conversations.wait_for_approval(approval_id, timeout))

    def cancel(self, approval_id: str) -> None:
        """Take a question back; it can be until it is consumed."""
        self._hold(conversations.cancel(approval_id, self._connection.patience))

    def end_run(self, run_id: str) -> None:
        """End a run: its questions are cancelled, and what they approved can no longer be used."""
        self._hold(conversations.end_run(run_id, self._connection.patience))

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Make any other call of the API, such as `request("GET", "/v1/whoami")`, and return its JSON object."""
        return self._hold(conversations.call(method, path, params or {}, body, self._connection.patience))

    @overload
    def protect(
        self, action: str, *, on_refusal: Literal["return"], **options: Unpack[ProtectOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R | Answer]]: ...

    @overload
    def protect(
        self, action: str, *, on_refusal: Literal["raise", "wait"] = ..., **options: Unpack[ProtectOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def protect(
        self,
        action: str,
        *,
        on_refusal: Literal["raise", "return", "wait"] = "raise",
        **options: Unpack[ProtectOptions],
    ) -> Callable[[Callable[P, R]], Callable[P, R | Answer]]:
        """Let a function run only when the service admits the call, and report what came of it.

        The function keeps its name, docstring and signature. Its arguments, bound by name and with their defaults, are
        the call's arguments. See `ProtectOptions` for what else may be said. What the function raises passes through;
        `NotExecuted` is reported as not executed, everything else, cancellation included, as unknown.

        Raises (from the protected function):
            Refused: the service said no, or not yet; with `on_refusal="return"` the answer is returned instead, with
                "wait" a held call first waits for a person.
            RunFailed: a person said no, with `on_denial="fail_run"`.
            ServiceError: there is no answer.
        """
        return protect_function(Protection.of(action, on_refusal, options), self._connection.patience, self._hold)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._connection.url)!r})"

    def _hold(self, conversation: Conversation[T]) -> T:
        return hold(conversation, self._send)

    def _send(self, request: Request) -> Reply | NoReply:
        try:
            return reply_of(self._http.send(build(self._http, request)))
        except httpx.RequestError as error:
            return NoReply(type(error).__name__)
