"""One way of talking, for code that blocks and for code that awaits.

A conversation is a generator. It yields a step (send this, pause, run this function of yours) and is handed what came
of it, as httpx does with its authentication flows. All that the SDK decides is written once, in conversations; the two
drivers at the end of this file are all that differs between `Countersign` and `AsyncCountersign`.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

INTERRUPTIONS = (KeyboardInterrupt, SystemExit, asyncio.CancelledError)
"""What stops a wait from outside: the caller gives up, and whatever it left open is to be closed."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, before anybody knows how it will be sent.

    `path` begins with a slash; `read_timeout` (seconds) replaces the client's for a long poll; `repeatable` says that
    sending it twice does no more than sending it once.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    read_timeout: float | None = None
    repeatable: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, of whatever status; the names of `headers` are lower-case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class NoReply:
    """Nothing came back that is HTTP: a time-out, a refused or broken connection. `cause` is a type's name."""

    cause: str


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """A function of the caller's came to its end."""

    value: T

    def unwrap(self) -> T:
        """Return what the function returned."""
        return self.value


@dataclass(frozen=True, slots=True)
class Raised:
    """A function of the caller's raised, or was interrupted."""

    error: BaseException

    def unwrap(self) -> Any:
        """Raise what the function raised."""
        raise self.error


Ran: TypeAlias = Returned[T] | Raised
Conversation: TypeAlias = Generator["Step", Any, T]


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; gives a Reply or a NoReply."""

    request: Request


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Run a function of the caller's, and await it where it wants to be; gives Returned or Raised."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finish:
    """Hold a conversation to its end even if the caller is cancelled meanwhile; gives its Returned or Raised."""

    conversation: Conversation[Any]


Step: TypeAlias = Send | Pause | Run | Finish


def send(request: Request) -> Conversation[Reply | NoReply]:
    """Send a request."""
    reply: Reply | NoReply = yield Send(request)
    return reply


def pause(seconds: float) -> Conversation[None]:
    """Wait for some seconds."""
    yield Pause(seconds)


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Conversation[Ran[Any]]:
    """Run a function of the caller's."""
    ran: Ran[Any] = yield Run(function, args, kwargs)
    return ran


def finish(conversation: Conversation[T]) -> Conversation[Ran[T]]:
    """Hold a conversation to its end, whatever happens to the caller."""
    ran: Ran[T] = yield Finish(conversation)
    return ran


class Sender(Protocol):
    """Sends for code that blocks."""

    def __call__(self, request: Request, /) -> Reply | NoReply:
        """Return what came back."""
        ...


class AsyncSender(Protocol):
    """Sends for code that awaits."""

    def __call__(self, request: Request, /) -> Awaitable[Reply | NoReply]:
        """Return what came back."""
        ...


def hold(conversation: Conversation[T], sender: Sender) -> T:
    """Hold a conversation in code that blocks, and return what it came to."""
    try:
        step = next(conversation)
        while True:
            try:
                came_of_it = _perform(step, sender)
            except BaseException as error:  # noqa: BLE001 - the conversation is told of interruptions too
                step = conversation.throw(error)
            else:
                step = conversation.send(came_of_it)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _perform(step: Step, sender: Sender) -> object:
    match step:
        case Send(request):
            return sender(request)
        case Pause(seconds):
            time.sleep(seconds)
            return None
        case Run(function, args, kwargs):
            return _ran(lambda: function(*args, **kwargs))
        case Finish(conversation):
            return _ran(lambda: hold(conversation, sender))


def _ran(function: Callable[[], T]) -> Ran[T]:
    try:
        return Returned(function())
    except BaseException as error:  # noqa: BLE001 - the caller's own, handed on as it is
        return Raised(error)


async def hold_async(conversation: Conversation[T], sender: AsyncSender) -> T:
    """Hold a conversation in code that awaits, and return what it came to."""
    try:
        step = next(conversation)
        while True:
            try:
                came_of_it = await _perform_async(step, sender)
            except BaseException as error:  # noqa: BLE001 - the conversation is told of cancellation too
                step = conversation.throw(error)
            else:
                step = conversation.send(came_of_it)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _perform_async(step: Step, sender: AsyncSender) -> object:
    match step:
        case Send(request):
            return await sender(request)
        case Pause(seconds):
            await asyncio.sleep(seconds)
            return None
        case Run(function, args, kwargs):
            return await _ran_async(_awaited(function, args, kwargs))
        case Finish(conversation):
            return await _uninterrupted(_ran_async(hold_async(conversation, sender)))


async def _awaited(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
    result = function(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result


async def _ran_async(work: Coroutine[Any, Any, T]) -> Ran[T]:
    try:
        return Returned(await work)
    except BaseException as error:  # noqa: BLE001 - the caller's own, handed on as it is
        return Raised(error)


async def _uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Await work in a task of its own; a cancellation that arrives meanwhile is raised when the work is done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
