"""Replies, read strictly: one that lacks what an answer must have is not an answer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar, cast, get_args

from countersign._answers import Admission, Answer, Approval, Outcome, Status, Trigger
from countersign._errors import NotUnderstood

T = TypeVar("T")


class Reader:
    """Reads members of one JSON object, each as the type that the protocol gives it."""

    def __init__(self, body: Mapping[str, Any], what: str, request_id: str | None) -> None:
        self.body = body
        self._what = what
        self._request_id = request_id

    def required(self, name: str, kind: type[T]) -> T:
        """Return a member that must be there.

        Raises:
            NotUnderstood: it is missing, or of another type.
        """
        value = self.body.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._strange(name)
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return a member that may be missing or null.

        Raises:
            NotUnderstood: it is of another type.
        """
        return None if self.body.get(name) is None else self.required(name, kind)

    def one_of(self, name: str, words: Any) -> Any:
        """Return a text that is one of a Literal's words.

        Raises:
            NotUnderstood: it is missing, or another word.
        """
        word = self.required(name, str)
        if word not in get_args(words):
            raise self._strange(name)
        return word

    def moment(self, name: str) -> datetime | None:
        """Return a time with its zone, or None where it is missing or null.

        Raises:
            NotUnderstood: it is no RFC 3339 time.
        """
        return None if self.body.get(name) is None else self.required_moment(name)

    def required_moment(self, name: str) -> datetime:
        """Return a time with its zone.

        Raises:
            NotUnderstood: it is missing, or no RFC 3339 time.
        """
        try:
            moment = datetime.fromisoformat(self.required(name, str))
        except ValueError as error:
            raise self._strange(name) from error
        if moment.tzinfo is None:
            raise self._strange(name)
        return moment

    def child(self, name: str) -> "Reader | None":
        """Return a reader of an object inside this one, or None where it is missing or null."""
        value = self.optional(name, dict)
        return None if value is None else Reader(value, f"{self._what}.{name}", self._request_id)

    def children(self, name: str) -> "list[Reader]":
        """Return a reader for each object of a list; none where the list is missing or null."""
        values = self.optional(name, list) or []
        if not all(isinstance(value, dict) for value in values):
            raise self._strange(name)
        return [Reader(value, f"{self._what}.{name}", self._request_id) for value in values]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty where it is missing or null."""
        values = self.optional(name, list) or []
        if not all(isinstance(value, str) for value in values):
            raise self._strange(name)
        return tuple(values)

    def _strange(self, name: str) -> NotUnderstood:
        return NotUnderstood(f"the reply's {self._what} has no usable `{name}`", self._request_id)


def read_answer(body: Mapping[str, Any], request_id: str | None, *, own_key: bool) -> Answer:
    """Read the answer to a call; `own_key` says that the idempotency key was made for this very invocation.

    Raises:
        NotUnderstood: a member is missing or of another type, or the answer allows without an admission.
    """
    reader = Reader(body, "answer", request_id)
    outcome = cast("Outcome", reader.one_of("outcome", Outcome))
    allowed, replayed = reader.required("allowed", bool), reader.optional("replayed", bool) or False
    admission = _admission(reader)
    if allowed and (outcome != "allow" or admission is None):
        raise NotUnderstood("the reply allows, but without an admission", request_id)
    approval_id = reader.optional("approval_id", str)
    return Answer(
        outcome=outcome,
        allowed=allowed and (own_key or not replayed),
        reason=reader.required("reason", str),
        message=reader.optional("message", str),
        triggered=tuple(_trigger(trigger) for trigger in reader.children("triggered")),
        labels=reader.texts("labels"),
        approval_id=approval_id,
        approval=_approval_of_answer(reader, approval_id),
        admission=admission,
        replayed=replayed,
        audit_id=reader.optional("audit_id", str),
        request_id=request_id,
        raw=body,
    )


def read_approval(body: Mapping[str, Any], request_id: str | None) -> Approval:
    """Read a question as the service shows it to whoever asked.

    Raises:
        NotUnderstood: a member is missing or of another type.
    """
    reader = Reader(body, "approval", request_id)
    return _approval(reader, reader.required("id", str), "edited_arguments")


def read_lease(body: Mapping[str, Any], request_id: str | None) -> datetime:
    """Read when the lease of an admission ends.

    Raises:
        NotUnderstood: the reply does not say.
    """
    return Reader(body, "admission", request_id).required_moment("expires_at")


def _approval_of_answer(reader: Reader, approval_id: str | None) -> Approval | None:
    approval = reader.child("approval")
    return None if approval is None or approval_id is None else _approval(approval, approval_id, "arguments")


def _approval(reader: Reader, approval_id: str, edited: str) -> Approval:
    return Approval(
        id=approval_id,
        status=cast("Status", reader.one_of("status", Status)),
        expires_at=reader.moment("expires_at"),
        comment=reader.optional("comment", str),
        decided_by=reader.optional("decided_by", str),
        arguments=reader.optional(edited, dict),
        raw=reader.body,
    )


def _admission(reader: Reader) -> Admission | None:
    admission = reader.child("admission")
    if admission is None:
        return None
    return Admission(
        id=admission.required("id", str),
        expires_at=admission.moment("expires_at"),
        attempt=admission.optional("attempt", int) or 1,
        provider_token=admission.optional("provider_token", str),
        permit=reader.optional("decision_token", str),
        raw=admission.body,
    )


def _trigger(reader: Reader) -> Trigger:
    named = {"code", "outcome", "message"}
    return Trigger(
        code=reader.required("code", str),
        outcome=cast("Outcome", reader.one_of("outcome", Outcome)),
        message=reader.required("message", str),
        values={name: value for name, value in reader.body.items() if name not in named},
    )
