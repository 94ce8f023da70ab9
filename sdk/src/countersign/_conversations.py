"""What can be said to the service, each once, for both clients."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, TypedDict, Unpack
from urllib.parse import quote

from countersign._answers import Admission, Answer, Approval, Result
from countersign._calls import Money, duration
from countersign._protocol import Patience, encode, exchange, read_object, request_id_of
from countersign._reading import read_answer, read_approval, read_lease
from countersign._steps import Conversation, Request, pause

_LONG_POLL = 30
"""Seconds that the service holds a question's read open at most."""

_WHILE_WAITING = Patience(tries=8, first_pause=0.5)
"""Somebody who waits minutes for a person sits out a restart of the service."""


def decide(body: Mapping[str, Any], patience: Patience) -> Conversation[Answer]:
    """Ask what the policy would say. Nothing is stored, and nothing is licensed: `allowed` is never true here."""
    reply = yield from exchange(_post("/v1/decide", body), patience)
    answer = {**read_object(reply), "allowed": False}
    return read_answer(answer, request_id_of(reply), own_key=False)


def admit(body: Mapping[str, Any], patience: Patience) -> Conversation[Answer]:
    """Ask to act, under one idempotency key for all tries: the body's, or else one made here."""
    own_key = body.get("idempotency_key") is None
    keyed = {**body, "idempotency_key": new_key()} if own_key else body
    return (yield from admit_under(keyed, patience, own_key=own_key))


def admit_under(body: Mapping[str, Any], patience: Patience, *, own_key: bool) -> Conversation[Answer]:
    """Ask to act under the key in the body; `own_key` says that this very invocation made it."""
    reply = yield from exchange(_post("/v1/admit", body), patience)
    return read_answer(read_object(reply), request_id_of(reply), own_key=own_key)


class ReportDetails(TypedDict, total=False):
    """What may be said beside the outcome: the cost where it differs from what was held, a word, a result's digest."""

    actual_cost: Money | None
    detail: str | None
    result_digest: str | None


def report(
    admission: Admission | str, outcome: Result, patience: Patience, **details: Unpack[ReportDetails]
) -> Conversation[None]:
    """Say what came of an admission. The same report again is fine; a contradicting one is a Conflict."""
    cost = details.get("actual_cost")
    said = {**details, "outcome": outcome, "actual_cost": None if cost is None else cost.as_json()}
    present = {name: value for name, value in said.items() if value is not None}
    yield from exchange(_post(f"/v1/admissions/{_admission(admission)}/outcome", present), patience)


def extend(admission: Admission | str, lease: timedelta, patience: Patience) -> Conversation[datetime]:
    """Ask for more time, and return when the lease ends."""
    body = {"lease": duration(lease)}
    reply = yield from exchange(_post(f"/v1/admissions/{_admission(admission)}/extend", body), patience)
    return read_lease(read_object(reply), request_id_of(reply))


def cancel(approval_id: str, patience: Patience) -> Conversation[None]:
    """Take a question back."""
    yield from exchange(_post(f"/v1/approvals/{_segment(approval_id)}/cancel", {}), patience)


def end_run(run_id: str, patience: Patience) -> Conversation[None]:
    """End a run: its questions are cancelled, and later redemptions refused."""
    yield from exchange(_post(f"/v1/runs/{_chosen(run_id)}/end", {}), patience)


def wait_for_approval(approval_id: str, timeout: float | None) -> Conversation[Approval]:
    """Wait until a question is no longer pending, at most `timeout` seconds, and return it as it stands then."""
    deadline = None if timeout is None else monotonic() + timeout
    while True:
        left = _LONG_POLL if deadline is None else max(0, min(_LONG_POLL, int(deadline - monotonic())))
        began = monotonic()
        approval = yield from _look_at(approval_id, left)
        if approval.status != "pending" or (deadline is not None and monotonic() >= deadline - 1):
            return approval
        if monotonic() - began < 1:
            yield from pause(1)


def _look_at(approval_id: str, wait: int) -> Conversation[Approval]:
    request = Request(
        "GET",
        f"/v1/approvals/{_segment(approval_id)}",
        params={"wait": str(wait)},
        read_timeout=wait + 10.0,
    )
    reply = yield from exchange(request, _WHILE_WAITING)
    return read_approval(read_object(reply), request_id_of(reply))


def call(
    method: str, path: str, params: Mapping[str, str], body: Mapping[str, Any] | None, patience: Patience
) -> Conversation[dict[str, Any]]:
    """Make any other call of the service's API and return its JSON object, an empty one where there is no body.

    Only reads are tried again: what a change does twice is not known here.
    """
    content = None if body is None else encode(body)
    request = Request(method, path, params=params, content=content, repeatable=method == "GET")
    reply = yield from exchange(request, patience)
    return read_object(reply) if reply.content else {}


def new_key() -> str:
    """Return an idempotency key that nobody else has."""
    return secrets.token_urlsafe(18)


def _admission(admission: Admission | str) -> str:
    return _segment(admission if isinstance(admission, str) else admission.id)


def _segment(name: str) -> str:
    """Return a name as one segment of a path, which it can neither leave nor be missing from."""
    if name in {"", ".", ".."}:
        raise ValueError("an id is missing, or is no id")
    return quote(name, safe="")


def _chosen(name: str) -> str:
    """Return a name that a caller chose as one segment of a path: any is one, those too that look like steps."""
    return name.replace(".", "%2E") if name in {".", ".."} else _segment(name)


def _post(path: str, body: Mapping[str, Any]) -> Request:
    return Request("POST", path, content=encode(body))
