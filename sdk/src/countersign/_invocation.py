"""One call of a protected function, from the question to the report.

1. The arguments are bound by name and written as JSON; the options that are functions are asked.
2. The call is sent under an idempotency key that belongs to this invocation, unless one was given.
3. While the answer is no, what can be done about it is done: wait for a person and redeem, take an edit, clear a doubt.
4. Allowed: if the arguments are still those that were sent, the function runs.
5. What came of it is reported, even if the caller has been cancelled meanwhile.
6. Not allowed: the answer is returned or raised.
"""

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from inspect import BoundArguments
from time import monotonic
from typing import Any, TypeVar, get_args

from countersign import _conversations as conversations
from countersign._answers import Admission, Answer, Result
from countersign._arguments import as_json, by_name, chosen, edited, encode, same_json
from countersign._calls import Money, call_body
from countersign._errors import ArgumentsChanged, NotExecuted, RunFailed, ServiceError, refusal
from countersign._protection import Doubt, Protection
from countersign._protocol import Patience
from countersign._steps import (
    INTERRUPTIONS,
    Conversation,
    Raised,
    Ran,
    Returned,
    finish,
    run,
)

T = TypeVar("T")

_log = logging.getLogger("countersign")

_ROUNDS = 8
"""How often one invocation does something about a no, so that two sides can never keep each other busy for ever."""

_PARTING = Patience(tries=2)
"""Somebody who has been cancelled does not wait long for a last word."""

_admission: ContextVar[Admission | None] = ContextVar("countersign_admission", default=None)


def current_admission() -> Admission:
    """Return the admission under which the protected function that is running was allowed to run.

    Raises:
        LookupError: no protected function is running here.
    """
    admission = _admission.get()
    if admission is None:
        raise LookupError("no protected function is running here")
    return admission


@dataclass(frozen=True, slots=True)
class Invocation:
    """A protected function, and the arguments of one call of it."""

    protection: Protection
    function: Callable[..., Any]
    bound: BoundArguments
    patience: Patience

    def run_option(self, function: Callable[..., Any]) -> Conversation[Ran[Any]]:
        """Ask one of the option functions with those of the call's arguments that it names."""
        return (yield from run(function, **chosen(function, by_name(self.bound))))

    def apply(self, function: Callable[..., Any]) -> Conversation[Any]:
        """Return what an option function says; what it raises is the caller's, and passes through."""
        ran = yield from self.run_option(function)
        return ran.unwrap()


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as it is sent; `own_key` says that its idempotency key was made for this invocation."""

    invocation: Invocation
    arguments: Mapping[str, Any]
    body: Mapping[str, Any]
    own_key: bool


def invoke(invocation: Invocation) -> Conversation[Ran[Any]]:
    """Ask, run the function if the answer allows it, and report.

    Returns what the function returned or raised, or the answer where `on_refusal` wants it returned.

    Raises:
        Refused, RunFailed, ServiceError, ArgumentError, ArgumentsChanged: the function did not run.
    """
    asked = yield from _prepare(invocation)
    asked, answer = yield from _settle(asked)
    if answer.allowed and answer.admission is not None:
        return (yield from _perform(asked, answer.admission))
    return (yield from _refuse(asked, answer))


# 1. what is asked


def _prepare(invocation: Invocation) -> Conversation[Asked]:
    arguments = yield from _arguments(invocation)
    options = {}
    for name, given in invocation.protection.call.items():
        options[name] = (yield from invocation.apply(given)) if callable(given) else given
    advice = yield from _own_advice(invocation)
    options["advice"] = [*(options.get("advice") or ()), *advice] or None
    own_key = options.get("idempotency_key") is None
    if own_key:
        options["idempotency_key"] = conversations.new_key()
    body = call_body(invocation.protection.action, arguments, options)
    return Asked(invocation, arguments, body, own_key)


def _arguments(invocation: Invocation) -> Conversation[dict[str, Any]]:
    if invocation.protection.arguments is None:
        return as_json(invocation.bound)
    said = yield from invocation.apply(invocation.protection.arguments)
    return encode(said)


def _own_advice(invocation: Invocation) -> Conversation[list[dict[str, str]]]:
    required = invocation.protection.requires_approval
    if not callable(required):
        return [_advice("the function requires an approval")] if required else []
    ran = yield from invocation.run_option(required)
    if isinstance(ran, Returned):
        return [_advice("the predicate of the function requires an approval")] if ran.value else []
    if isinstance(ran.error, INTERRUPTIONS):
        raise ran.error
    _log.warning("the predicate of %s raised %s; a person is asked", _name(invocation), type(ran.error).__name__)
    return [_advice("the predicate of the function raised, so a person is asked")]


def _advice(note: str) -> dict[str, str]:
    return {"outcome": "require_human", "by": "sdk:requires_approval", "note": note}


# 2. the question


def _ask(asked: Asked, approval_id: str | None = None) -> Conversation[Answer]:
    body = dict(asked.body)
    if asked.invocation.protection.precondition is not None:
        body["precondition"] = yield from asked.invocation.apply(asked.invocation.protection.precondition)
    if approval_id is not None:
        body["approval_id"] = approval_id
    try:
        return (yield from conversations.admit_under(body, asked.invocation.patience, own_key=asked.own_key))
    except INTERRUPTIONS:
        if asked.own_key:
            yield from finish(_withdraw(body))
        raise


def _withdraw(body: Mapping[str, Any]) -> Conversation[None]:
    """Free what a question whose answer nobody waited for may have reserved: nothing will run."""
    answer = yield from conversations.admit_under(body, _PARTING, own_key=True)
    if answer.allowed and answer.admission is not None:
        detail = "cancelled before it ran"
        yield from conversations.report(answer.admission.id, "not_executed", _PARTING, detail=detail)


# 3. what can be done about a no


def _settle(asked: Asked) -> Conversation[tuple[Asked, Answer]]:
    protection = asked.invocation.protection
    deadline = None if protection.wait_timeout is None else monotonic() + protection.wait_timeout
    answer = yield from _ask(asked)
    told = False
    for _ in range(_ROUNDS):
        if answer.allowed:
            break
        if answer.held and not told:
            told = True
            yield from _or_cancel(asked, answer, _tell_pending(asked, answer))
        then = yield from _about(asked, answer, deadline)
        if then is None:
            break
        asked, answer = then
    return asked, answer


def _about(asked: Asked, answer: Answer, deadline: float | None) -> Conversation[tuple[Asked, Answer] | None]:
    """Do what can be done about a no, and return the next answer; None if it stands."""
    protection = asked.invocation.protection
    if answer.held and protection.on_refusal == "wait":
        redeemed = yield from _wait_and_redeem(asked, answer, deadline)
        return None if redeemed is None else (asked, redeemed)
    if "approval_edited" in answer.codes and protection.accepts_edits:
        return (yield from _take_edit(asked, answer))
    if "approval_superseded" in answer.codes:
        return asked, (yield from _ask(asked))
    if "effect_unknown" in answer.codes and protection.reconcile is not None:
        cleared = yield from _clear_doubt(asked, answer)
        return (asked, (yield from _ask(asked))) if cleared else None
    return None


def _tell_pending(asked: Asked, answer: Answer) -> Conversation[None]:
    on_pending = asked.invocation.protection.on_pending
    if on_pending is not None:
        ran = yield from run(on_pending, answer)
        ran.unwrap()


def _wait_and_redeem(asked: Asked, answer: Answer, deadline: float | None) -> Conversation[Answer | None]:
    """Wait for a person and send the call again, which redeems; None if the time to wait is over."""
    approval_id = str(answer.approval_id)
    timeout = None if deadline is None else max(0.0, deadline - monotonic())
    approval = yield from _or_cancel(asked, answer, conversations.wait_for_approval(approval_id, timeout))
    if approval.status == "pending":
        return None
    return (yield from _ask(asked, approval_id))


def _or_cancel(asked: Asked, answer: Answer, conversation: Conversation[T]) -> Conversation[T]:
    """Hold a conversation; if whoever waits for a person is interrupted in it, take the question back."""
    try:
        return (yield from conversation)
    except INTERRUPTIONS:
        if asked.invocation.protection.on_refusal == "wait":
            yield from finish(conversations.cancel(str(answer.approval_id), _PARTING))
        raise


def _take_edit(asked: Asked, answer: Answer) -> Conversation[tuple[Asked, Answer] | None]:
    """Send the call as an approver edited it; from then on it is what runs."""
    edit = answer.approval.arguments if answer.approval is not None else None
    if edit is None:
        return None
    bound = edited(asked.invocation.bound, asked.arguments, edit)
    again = yield from _prepare(replace(asked.invocation, bound=bound))
    if not same_json(dict(again.arguments), dict(edit)):
        return None
    return again, (yield from _ask(again, answer.approval_id))


def _clear_doubt(asked: Asked, answer: Answer) -> Conversation[bool]:
    """Report what `reconcile` says of an earlier attempt; return whether asking again makes sense."""
    trigger = answer.trigger("effect_unknown")
    admission_id = trigger.values.get("admission_id") if trigger is not None else None
    if not isinstance(admission_id, str):
        return False
    said = yield from _reconcile(asked, Doubt(_name(asked.invocation), asked.arguments, admission_id, None, None))
    if said == "unknown":
        return False
    yield from conversations.report(admission_id, said, asked.invocation.patience, detail="reconciled by the client")
    return True


# 4. the function


def _perform(asked: Asked, admission: Admission) -> Conversation[Ran[Any]]:
    invocation = asked.invocation
    now = yield from _arguments(invocation)
    if not same_json(now, dict(asked.arguments)):
        yield from _report(asked, admission, "not_executed", "the arguments were changed after the question", None)
        raise ArgumentsChanged("the arguments were changed between the question and the answer; nothing ran")
    token = _admission.set(admission)
    try:
        ran: Ran[Any] = yield from run(invocation.function, *invocation.bound.args, **invocation.bound.kwargs)
    finally:
        _admission.reset(token)
    outcome = yield from _outcome(asked, admission, ran)
    cost = yield from _actual_cost(asked, ran)
    detail = type(ran.error).__name__ if isinstance(ran, Raised) else None
    yield from _report(asked, admission, outcome, detail, cost)
    return ran


# 5. the report


def _outcome(asked: Asked, admission: Admission, ran: Ran[Any]) -> Conversation[Result]:
    if isinstance(ran, Returned):
        return "executed"
    if isinstance(ran.error, NotExecuted):
        return "not_executed"
    if asked.invocation.protection.reconcile is None or not isinstance(ran.error, Exception):
        return "unknown"
    name, token = _name(asked.invocation), admission.provider_token
    return (yield from _reconcile(asked, Doubt(name, asked.arguments, admission.id, token, ran.error)))


def _reconcile(asked: Asked, doubt: Doubt) -> Conversation[Result]:
    function = asked.invocation.protection.reconcile
    if function is None:
        return "unknown"
    ran = yield from run(function, doubt)
    if isinstance(ran, Returned) and ran.value in get_args(Result):
        return ran.value  # type: ignore[no-any-return]
    what = ran.error if isinstance(ran, Raised) else ran.value
    _log.warning("reconcile of %s gave no outcome but a %s; it stays unknown", doubt.action, type(what).__name__)
    return "unknown"


def _actual_cost(asked: Asked, ran: Ran[Any]) -> Conversation[Money | None]:
    function = asked.invocation.protection.actual_cost
    if function is None or isinstance(ran, Raised):
        return None
    cost = yield from run(function, ran.value)
    if isinstance(cost, Returned) and (cost.value is None or isinstance(cost.value, Money)):
        return cost.value
    _log.warning("actual_cost of %s gave no Money; the cost that was held counts", _name(asked.invocation))
    return None


def _report(
    asked: Asked, admission: Admission, outcome: Result, detail: str | None, cost: Money | None
) -> Conversation[None]:
    """Report, to the end. What happened has happened: a report that does not arrive is logged and not raised."""
    patience = asked.invocation.patience
    told = yield from finish(conversations.report(admission.id, outcome, patience, actual_cost=cost, detail=detail))
    if isinstance(told, Returned):
        return
    if not isinstance(told.error, ServiceError):
        raise told.error
    _log.warning(
        "admission %s of %s: the report %s did not arrive (%s); it becomes unknown when its lease ends",
        admission.id,
        _name(asked.invocation),
        outcome,
        told.error,
    )


# 6. the refusal


def _refuse(asked: Asked, answer: Answer) -> Conversation[Ran[Any]]:
    protection = asked.invocation.protection
    answer = yield from _reworded(protection, answer)
    if "approval_denied" in answer.codes and protection.on_denial == "fail_run":
        yield from _end_run(asked)
        raise RunFailed(answer)
    if protection.on_refusal == "return":
        return Returned(answer)
    raise refusal(answer)


def _reworded(protection: Protection, answer: Answer) -> Conversation[Answer]:
    words = protection.refusal_reason
    if callable(words):
        said = yield from run(words, answer)
        words = said.unwrap()
    return answer if words is None else replace(answer, message=words)


def _end_run(asked: Asked) -> Conversation[None]:
    run_id = asked.body.get("run_id")
    if run_id is None:
        return
    ended = yield from finish(conversations.end_run(run_id, asked.invocation.patience))
    if isinstance(ended, Raised):
        _log.warning("the run of %s could not be ended: %s", _name(asked.invocation), type(ended.error).__name__)


def _name(invocation: Invocation) -> str:
    return invocation.protection.action
