"""Six short scenes of what goes wrong elsewhere. Each returns what must be so at its end."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from countersign import Answer, Countersign, Problem
from desks.cast import Cast
from desks.story import beat

Facts = Mapping[str, bool]
_DEAR = 700


def changed_before_use(cast: Cast) -> Facts:
    """An approved call is changed before it is used."""
    question = _held(cast.airline, "B1", _DEAR)
    beat("agent", f"asks for a voucher of {_DEAR} dollars and is held.")
    _approve(cast.anna, question)
    beat("Anna", "looks at it and says yes.")
    changed = cast.airline.admit("desk.voucher", {"booking": "B1", "amount": 790}, approval_id=question)
    beat("agent", f"comes back with her yes, and 790 dollars: {changed.outcome}, {_codes(changed)}.")
    same = cast.airline.admit("desk.voucher", {"booking": "B1", "amount": _DEAR}, approval_id=question)
    beat("agent", f"sends what she saw: {same.outcome}.")
    _done(cast.airline, same)
    return {
        "a yes covers the call that was shown, and no other": "approval_mismatch" in changed.codes,
        "the call that was shown goes through": same.allowed,
    }


def used_twice(cast: Cast) -> Facts:
    """An approval is used twice."""
    question = _held(cast.airline, "B2", _DEAR)
    _approve(cast.ben, question)
    beat("Ben", "approves another one.")
    first = cast.airline.admit("desk.voucher", {"booking": "B2", "amount": _DEAR}, approval_id=question)
    second = cast.airline.admit("desk.voucher", {"booking": "B2", "amount": _DEAR}, approval_id=question)
    beat("agent", f"uses it: {first.outcome}. Uses it again: {second.outcome}, {_codes(second)}.")
    _done(cast.airline, first)
    return {"an approval is used once": first.allowed and not second.allowed}


def lost_answer(cast: Cast) -> Facts:
    """An answer is lost, and the agent retries."""
    call = {"booking": "B3", "amount": 80}
    first = cast.airline.admit("desk.voucher", call, idempotency_key="voucher-B3")
    beat("agent", f"asks for 80 dollars: {first.outcome}. It sends the voucher, and the line goes dead.")
    if first.admission is not None:
        cast.airline.report(first.admission, "unknown")
    beat("agent", "reports what it knows: nothing.")
    again = cast.airline.admit("desk.voucher", call)
    beat("agent", f"tries again from the start: {again.outcome}, {_codes(again)}. The money stays held.")
    _resolve(cast.operator, first)
    beat("operator", "finds the voucher in the other system and says so: executed. The chapter is closed.")
    after = cast.airline.admit("desk.voucher", call)
    beat("agent", f"tries once more: {after.outcome}, {_codes(after)}.")
    return {
        "a lost answer is not a failure": "effect_unknown" in again.codes,
        "what was done is done once": "effect_already_done" in after.codes,
    }


def two_at_one_effect(cast: Cast) -> Facts:
    """Two agents reach for one effect at the same moment."""
    desks = (cast.airline, cast.retail)
    with ThreadPoolExecutor(len(desks)) as together:
        answers = list(together.map(lambda desk: desk.admit("desk.voucher", {"booking": "B4", "amount": 60}), desks))
    for name, desk, answer in zip(("airline", "shop"), desks, answers, strict=True):
        beat(name, f"gives booking B4 a voucher: {answer.outcome}{', ' + _codes(answer) if answer.codes else ''}.")
        _done(desk, answer)
    return {"of two at one effect, one gets it": [answer.allowed for answer in answers].count(True) == 1}


def making_itself_safer(cast: Cast) -> Facts:
    """An agent tries to make itself look harmless."""
    plain = cast.retail.decide("desk.close_account", {"user_id": "mia_li_3668"})
    beat("agent", f"wants to close an account: {plain.outcome}.")
    dressed = cast.retail.decide(
        "desk.close_account",
        {"user_id": "mia_li_3668"},
        environment="sandbox",
        kind="read",
        tags=["sandboxed", "harmless"],
        blast_radius=1,
        advice=[{"outcome": "allow", "by": "the agent's own judge", "note": "looks fine to me"}],
    )
    beat("agent", f"says it is a sandbox, a read, harmless, and that its judge agrees: {dressed.outcome}.")
    return {
        "the caller cannot make itself safer": plain.outcome == dressed.outcome == "require_human",
        "its word that it is sandboxed does not count": "sandboxed" not in dressed.labels,
    }


def approving_itself(cast: Cast) -> Facts:
    """An agent approves itself, and then has its owner do it."""
    question = _held(cast.airline, "B6", _DEAR)
    by_key = _refused(lambda: _approve(cast.airline, question))
    beat("agent", f"votes for its own voucher: {by_key}.")
    by_owner = _refused(lambda: _approve(cast.insider, question))
    beat("its owner", f"votes for it, with an approver's key: {by_owner}.")
    cast.airline.cancel(question)
    return {"who asks does not approve, and neither does its owner": "passed" not in {by_key, by_owner}}


ALL: tuple[Callable[[Cast], Facts], ...] = (
    changed_before_use,
    used_twice,
    lost_answer,
    two_at_one_effect,
    making_itself_safer,
    approving_itself,
)


def _held(agent: Countersign, booking: str, amount: int) -> str:
    answer = agent.admit("desk.voucher", {"booking": booking, "amount": amount})
    if answer.approval_id is None:
        raise RuntimeError(f"the voucher was not held: {answer.reason}")
    return answer.approval_id


def _approve(person: Countersign, question: str) -> None:
    person.request("POST", f"/v1/approvals/{question}/decision", body={"decision": "approve"})


def _refused(vote: Callable[[], None]) -> str:
    try:
        vote()
    except Problem as problem:
        return f"{problem.status}, {problem.body.get('code') or 'no right to decide'}"
    return "passed"


def _done(agent: Countersign, answer: Answer) -> None:
    if answer.allowed and answer.admission is not None:
        agent.report(answer.admission, "executed")


def _resolve(operator: Countersign, answer: Answer) -> None:
    if answer.admission is not None:
        body = {"outcome": "executed", "reason": "found in the voucher system"}
        operator.request("POST", f"/v1/admissions/{answer.admission.id}/resolve", body=body)


def _codes(answer: Answer) -> str:
    return ", ".join(answer.codes) or "nothing fired"
