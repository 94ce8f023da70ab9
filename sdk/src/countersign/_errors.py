"""What can go wrong, as one tree.

    CountersignError
    ├── Refused                 the service answered, and the answer is not yes; `answer` is all of it
    │   ├── Held                a person has to decide first
    │   ├── Denied              the policy, a limit, an effect or a question's state says no
    │   │   └── DeniedByPerson  somebody was asked and said no
    │   └── Replayed            an admission, but of another invocation: not a second licence
    ├── RunFailed               a person's denial that ends the whole run (`on_denial="fail_run"`)
    ├── ArgumentsChanged        the arguments are no longer those that were admitted
    ├── ServiceError            there is no answer; `request_id` names the request where one is known
    │   ├── Unavailable         a time-out, no connection, a 5xx; `retry_after` in seconds, if told
    │   ├── NotUnderstood       a redirect, or a body that the protocol does not know
    │   └── Problem             the service refused the request itself; `status`, `title`, `detail`, `errors`
    │       ├── BadRequest      400, 413, 415: `errors` points to the place
    │       ├── Unauthenticated 401
    │       ├── Forbidden       403
    │       ├── NotFound        404, also for what belongs to another tenant
    │       └── Conflict        409: the state does not allow it
    ├── ArgumentError           an argument that JSON cannot carry (also a TypeError)
    └── PermitError             a permit that is not good for this call

    NotExecuted                 raised by *your* function: the effect certainly did not happen

Whatever of this tree is raised by an asking method or by a protected function before it ran: nothing ran. No message
holds the value of an argument or a key.
"""
# ruff: noqa: N818 - these are answers to "may I?", and read as such: `except Held`, `raise NotExecuted`

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from countersign._answers import Answer


class CountersignError(Exception):
    """The root of the tree."""


class Refused(CountersignError):
    """The service answered, and the answer is not yes. Nothing ran."""

    def __init__(self, answer: "Answer") -> None:
        super().__init__(answer)
        self.answer = answer

    def __str__(self) -> str:
        """Return what the caller's user may hear, or else the reason."""
        return self.answer.text


class Held(Refused):
    """A person has to decide first: `answer.approval_id` is the question."""


class Denied(Refused):
    """No; `answer.codes` says why."""


class DeniedByPerson(Denied):
    """Somebody was asked and said no; `answer.approval` may have a comment."""


class Replayed(Refused):
    """The idempotency key names an admission of another invocation, which may have acted."""

    def __str__(self) -> str:
        """Return why this is no licence."""
        return self.answer.message or "this idempotency key was admitted before, and that invocation may have acted"


class RunFailed(CountersignError):
    """A person said no, and the function was told that this ends the run.

    It is no `Refused`, so that a loop which hands refusals back to a model does not swallow it.
    """

    def __init__(self, answer: "Answer") -> None:
        super().__init__(answer)
        self.answer = answer

    def __str__(self) -> str:
        """Return what the caller's user may hear, or else the reason."""
        return self.answer.text


class ArgumentsChanged(CountersignError):
    """The arguments were changed between the question and the admission. Nothing ran, and that is reported."""


class ServiceError(CountersignError):
    """There is no answer to act on. Nothing ran."""

    def __init__(self, message: str, request_id: str | None = None) -> None:
        super().__init__(message, request_id)
        self.message = message
        self.request_id = request_id

    def __str__(self) -> str:
        """Return the message and the request's id."""
        return f"{self.message} (request {self.request_id})" if self.request_id else self.message


class Unavailable(ServiceError):
    """The service did not answer in time, not at all, or with a 5xx, as often as it was asked."""

    def __init__(self, message: str, request_id: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, request_id)
        self.args = (message, request_id, retry_after)
        self.retry_after = retry_after


class NotUnderstood(ServiceError):
    """Something answered, but not in this protocol: a redirect, another service, a body that is not whole."""


class Problem(ServiceError):
    """The request itself was refused: the problem details of RFC 9457."""

    def __init__(self, status: int, body: Mapping[str, Any], request_id: str | None = None) -> None:
        self.status = status
        self.body = body
        self.title = _text(body, "title") or f"HTTP {status}"
        self.detail = _text(body, "detail")
        self.errors = _places(body.get("errors"))
        super().__init__(self._message(), request_id)
        self.args = (status, body, request_id)

    def _message(self) -> str:
        places = "; ".join(f"{place['pointer'] or '/'}: {place['detail']}" for place in self.errors)
        return ": ".join(part for part in (self.title, places or self.detail) if part)


class BadRequest(Problem):
    """400, 413 or 415: the request is not one that the service takes; `errors` says where."""


class Unauthenticated(Problem):
    """401: no credential, or one that is unknown, revoked or expired."""


class Forbidden(Problem):
    """403: the credential does not give the right."""


class NotFound(Problem):
    """404: unknown to this credential."""


class Conflict(Problem):
    """409: the state does not allow it."""


class ArgumentError(CountersignError, TypeError):
    """An argument that JSON cannot carry. The message has its place and type, never its value."""


class PermitError(CountersignError):
    """The permit is not good for this call; the message says at which step."""


class NotExecuted(Exception):
    """Raise this from a protected function when the effect certainly did not happen.

    It frees the effect key and what was held. Every other exception means "unknown": a lost answer is not a failure.
    """


def refusal(answer: "Answer") -> Refused:
    """Return the error that says what this answer says."""
    if answer.replayed and answer.outcome == "allow":
        return Replayed(answer)
    if "approval_denied" in answer.codes:
        return DeniedByPerson(answer)
    return Held(answer) if answer.outcome == "require_human" else Denied(answer)


_BY_STATUS: Mapping[int, type[Problem]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: BadRequest,
    415: BadRequest,
}


def problem(status: int, body: Mapping[str, Any], request_id: str | None) -> Problem:
    """Return the error for a status of 4xx with its problem details."""
    return _BY_STATUS.get(status, Problem)(status, body, request_id)


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _places(errors: object) -> Sequence[Mapping[str, str]]:
    if not isinstance(errors, list):
        return ()
    members = [error for error in errors if isinstance(error, Mapping)]
    return [{"detail": _text(error, "detail") or "", "pointer": _text(error, "pointer") or ""} for error in members]
