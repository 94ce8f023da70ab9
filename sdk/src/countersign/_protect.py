"""The wrappers that `protect` makes around functions: their outside stays as it is."""

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from countersign._arguments import bind
from countersign._invocation import Invocation, invoke
from countersign._protection import Protection
from countersign._protocol import Patience
from countersign._steps import Conversation, Ran

P = ParamSpec("P")
R = TypeVar("R")


class Holder(Protocol):
    """Holds a conversation in code that blocks."""

    def __call__(self, conversation: Conversation[Ran[Any]], /) -> Ran[Any]:
        """Return what it came to."""
        ...


class AsyncHolder(Protocol):
    """Holds a conversation in code that awaits."""

    async def __call__(self, conversation: Conversation[Ran[Any]], /) -> Ran[Any]:
        """Return what it came to."""
        ...


def protect_function(
    protection: Protection, patience: Patience, holder: Holder
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator for functions that block."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        _check(function, awaits=False)
        signature = inspect.signature(function)
        protection.check(signature, awaits=False)

        @functools.wraps(function)
        def protected(*args: P.args, **kwargs: P.kwargs) -> R:
            invocation = Invocation(protection, function, bind(signature, args, kwargs), patience)
            return cast("R", holder(invoke(invocation)).unwrap())

        return protected

    return decorate


def protect_async_function(
    protection: Protection, patience: Patience, holder: AsyncHolder
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Return the decorator for coroutine functions."""

    def decorate(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        _check(function, awaits=True)
        signature = inspect.signature(function)
        protection.check(signature, awaits=True)

        @functools.wraps(function)
        async def protected(*args: P.args, **kwargs: P.kwargs) -> R:
            invocation = Invocation(protection, function, bind(signature, args, kwargs), patience)
            return cast("R", (await holder(invoke(invocation))).unwrap())

        return protected

    return decorate


def _check(function: Callable[..., Any], *, awaits: bool) -> None:
    """Refuse what cannot be protected.

    Raises:
        TypeError: a generator (its effects would come after the report), or a function of the other client's kind.
    """
    if not callable(function):
        raise TypeError("protect the function itself: put @staticmethod or @classmethod above")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("a generator cannot be protected: its effects would come after the report")
    if inspect.iscoroutinefunction(function) is not awaits:
        other = "Countersign protects functions that block" if awaits else "AsyncCountersign protects `async def`"
        raise TypeError(f"{other}; use that client")
