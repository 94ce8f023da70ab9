"""How a command ends that was refused."""

from typing import TypeVar

from app.core.refusals import Refusal

T = TypeVar("T")


class RefusedError(Exception):
    """The service's answer is no; the message says why and what to do."""


def unless_refused(answer: T | Refusal) -> T:
    """Return the answer.

    Raises:
        RefusedError: it is a refusal.
    """
    if isinstance(answer, Refusal):
        raise RefusedError(answer.detail)
    return answer
