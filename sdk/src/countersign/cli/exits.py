"""How an error of the SDK ends a command."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from countersign._errors import (
    CountersignError,
    Forbidden,
    NotFound,
    NotUnderstood,
    Problem,
    Unauthenticated,
    Unavailable,
)
from countersign.cli.screen import complain

REFUSED = 1
NOT_UNDERSTOOD = 2
NO_RIGHT = 4
UNKNOWN = 5
NO_ANSWER = 6

_CODES: tuple[tuple[type[CountersignError], int], ...] = (
    (Unauthenticated, NO_RIGHT),
    (Forbidden, NO_RIGHT),
    (NotFound, UNKNOWN),
    (Unavailable, NO_ANSWER),
    (NotUnderstood, NO_ANSWER),
    (Problem, REFUSED),
)


@contextmanager
def told() -> Iterator[None]:
    """Say what went wrong in a sentence, and end with its exit code."""
    try:
        yield
    except CountersignError as error:
        complain(str(error))
        raise typer.Exit(exit_code(error)) from None
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(NOT_UNDERSTOOD) from None


def exit_code(error: CountersignError) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), REFUSED)
