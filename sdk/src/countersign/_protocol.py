"""How the service is spoken to: what goes into a request, when it is sent again, and what a reply may look like.

Pure: no socket, no clock. A request is sent again after a time-out, a broken connection, 408, 429 and 5xx, with a pause
that doubles and has jitter, or as long as `Retry-After` says (RFC 9110, section 10.2.3). What remains is an error: a
reply that is not understood is never an answer.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from httpx import codes

from countersign import _errors as errors
from countersign._json import load
from countersign._steps import Conversation, NoReply, Reply, Request, pause, send

_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_GREATEST_PAUSE = 8.0
_STRANGE = "the reply ({}) is not a JSON object; is the URL that of a Countersign service?"


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent, at most, and for how long a service may ask to be left alone (seconds)."""

    tries: int = 3
    first_pause: float = 0.25
    longest_wait: float = 30.0

    def pauses(self) -> Iterator[float]:
        """Yield the pause after each try but the last: doubling, with jitter, so that clients do not march in step."""
        for attempt in range(self.tries - 1):
            yield min(self.first_pause * 2**attempt, _GREATEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


def exchange(request: Request, patience: Patience) -> Conversation[Reply]:
    """Send a request until there is a reply of 2xx, and return it.

    Raises:
        Unavailable: no reply, or a 5xx, 408 or 429, at every try.
        NotUnderstood: a redirect, or an error that is no problem document.
        Problem: the service refused the request.
    """
    pauses = patience.pauses() if request.repeatable else iter(())
    while True:
        reply = yield from send(request)
        if isinstance(reply, Reply) and reply.status not in _TRY_AGAIN:
            return _accepted(reply)
        asked_for = _retry_after(reply)
        wait = next(pauses, None)
        if wait is None or (asked_for is not None and asked_for > patience.longest_wait):
            raise _unavailable(reply, asked_for)
        yield from pause(wait if asked_for is None else asked_for)


def read_object(reply: Reply) -> dict[str, Any]:
    """Return the JSON object that a reply holds.

    Raises:
        NotUnderstood: it is not JSON, not an object, has a member twice, or a number that JSON does not know.
    """
    try:
        body = load(reply.content)
    except ValueError as error:
        raise errors.NotUnderstood(_STRANGE.format(reply.status), request_id_of(reply)) from error
    if not isinstance(body, dict):
        raise errors.NotUnderstood(_STRANGE.format(reply.status), request_id_of(reply))
    return body


def request_id_of(reply: Reply | NoReply) -> str | None:
    """Return the id by which the service's log knows the request."""
    return reply.headers.get("x-request-id") if isinstance(reply, Reply) else None


def encode(body: Mapping[str, Any]) -> bytes:
    """Return a body as UTF-8 JSON.

    Raises:
        ArgumentError: it holds what JSON or UTF-8 cannot carry.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.ArgumentError(f"the request cannot be written as JSON: {type(error).__name__}") from None


def _accepted(reply: Reply) -> Reply:
    if codes.is_success(reply.status):
        return reply
    if codes.is_redirect(reply.status):
        raise errors.NotUnderstood(f"the service redirects ({reply.status}); use its own URL", request_id_of(reply))
    if not codes.is_client_error(reply.status):
        raise _unavailable(reply, None)
    raise errors.problem(reply.status, read_object(reply), request_id_of(reply))


def _unavailable(reply: Reply | NoReply, retry_after: float | None) -> errors.Unavailable:
    what = f"it answered {reply.status}" if isinstance(reply, Reply) else reply.cause
    return errors.Unavailable(f"the service is not available: {what}", request_id_of(reply), retry_after)


def _retry_after(reply: Reply | NoReply) -> float | None:
    """Return the seconds that a reply asks for: a number of them, or an HTTP date against the reply's own."""
    if isinstance(reply, NoReply) or "retry-after" not in reply.headers:
        return None
    text = reply.headers["retry-after"]
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        then, now = parsedate_to_datetime(text), parsedate_to_datetime(reply.headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None
