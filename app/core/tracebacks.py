"""Tracebacks that can be logged: where and what kind, without the messages, which may quote what somebody sent."""

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import TypeAlias

ExceptionInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]


def without_messages(exc_info: ExceptionInfo) -> str:
    """Return the frames and the types of an exception and of those that it came from, the first cause first."""
    return "".join(part for error in reversed(list(_chain(exc_info[1]))) for part in _lines(error))


def _lines(error: BaseException) -> Iterator[str]:
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}\n"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
