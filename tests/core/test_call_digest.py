"""The digest that names a call."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from app.core.actions import Action, Advice, Call, Finding
from app.core.calls import call_digest
from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.values import Fraction

ACTION = Action("voucher.issue", {"booking": "AB12", "amount": 40}, "booking/AB12", "live", "payout", frozenset("ab"))
CALL = Call(ACTION, {"shift": "late", "trace": "1"}, {"why": "delay"}, spend=("desk", "day"))


def digest(call: Call = CALL, **changed: object) -> str:
    usual: dict[str, Any] = {"tenant": "dev", "principal": "bot", "policy_version": "7", "bind": ["shift"]}
    return call_digest(call=call, **usual | changed)


def acting(**changed: object) -> Call:
    altered: dict[str, Any] = dict(changed)
    return replace(CALL, action=replace(ACTION, **altered))


def test_is_a_sha256() -> None:
    assert digest().startswith("sha256:")
    assert len(digest()) == len("sha256:") + 64


@pytest.mark.parametrize(
    "same",
    [
        acting(arguments={"amount": 40, "booking": "AB12"}),
        acting(arguments={"amount": Fraction("40.0"), "booking": "AB12"}),
        acting(tags=frozenset({"b", "a"})),
        replace(CALL, spend=("day", "desk", "day")),
        replace(CALL, context={"shift": "late", "trace": "2", "more": []}),
        replace(CALL, idempotency_key="k", run_id="r", approval_id="apr_1", precondition="p", permit=True),
        replace(CALL, verification_id="v", finding=Finding("t", "low", 1, (), 1)),
        replace(CALL, advice=(Advice(Outcome.DENY),)),
    ],
)
def test_ignores_order_other_context_evidence_and_request_ids(same: Call) -> None:
    assert digest(same) == digest()


@pytest.mark.parametrize(
    "other",
    [
        acting(name="voucher.Issue"),
        acting(arguments={"amount": "40", "booking": "AB12"}),
        acting(arguments={"amount": True, "booking": "AB12"}),
        acting(arguments={"amount": 40, "booking": "AB12 "}),
        acting(arguments={"amount": 40, "booking": "AB12", "note": None}),
        acting(asset="booking/ab12"),
        acting(environment="unknown"),
        acting(kind=""),
        acting(tags=frozenset({"a"})),
        acting(blast_radius=2),
        acting(cost=Money(Decimal(40), "EUR")),
        replace(CALL, effect="voucher:AB12"),
        replace(CALL, spend=("desk",)),
        replace(CALL, approval_context={}),
        replace(CALL, context={"shift": "early"}),
        replace(CALL, context={}),
    ],
)
def test_notices_everything_that_is_the_call(other: Call) -> None:
    assert digest(other) != digest()


@pytest.mark.parametrize("changed", [{"tenant": "x"}, {"principal": "x"}, {"policy_version": ""}, {"bind": []}])
def test_is_bound_to_who_asks_and_to_the_policys_label(changed: dict[str, Any]) -> None:
    assert digest(**changed) != digest()


def test_an_amount_is_the_same_however_it_is_written() -> None:
    assert digest(acting(cost=Money(Decimal("12.5"), "EUR"))) == digest(acting(cost=Money(Decimal("12.50"), "EUR")))


def test_look_alike_text_is_other_text() -> None:
    composed, decomposed = acting(arguments={"a": "\u00e9"}), acting(arguments={"a": "e\u0301"})
    assert digest(composed) != digest(decomposed)
