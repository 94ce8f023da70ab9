"""What a call may hold, and what is refused with its place before anything weighs it."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from app.api.models.calls import CallBody
from app.core import strict_json
from app.core.actions import Action, Call
from app.core.money import Money
from app.door.problems import Fault, RefusedError

Asking = Callable[[str], httpx.AsyncClient]

_JSON = {"Content-Type": "application/json"}


def action(**members: Any) -> dict[str, Any]:
    return {"action": {"name": "pay", **members}}


def cost(amount: Any, currency: Any = "EUR") -> dict[str, Any]:
    return action(cost={"amount": amount, "currency": currency})


def finding(**members: Any) -> dict[str, Any]:
    return {**action(), "finding": {"title": "t", "severity": "low", "gsar_score": 0.9, "evidence_refs": [], **members}}


REFUSED: list[tuple[Any, str]] = [
    ({}, "/action"),
    ({"action": None}, "/action"),
    ({"action": []}, "/action"),
    ({"action": {}}, "/action/name"),
    ({"action": {"name": 7}}, "/action/name"),
    ({"action": {"name": ""}}, "/action/name"),
    (action(name="a\u0007"), "/action/name"),
    (action(name="a\u0085"), "/action/name"),
    (action(name="a" * 129), "/action/name"),
    (action(name="\u20ac" * 43), "/action/name"),
    (action(arguments=[]), "/action/arguments"),
    (action(arguments=None), "/action/arguments"),
    (action(asset="a" * 513), "/action/asset"),
    (action(environment=""), "/action/environment"),
    (action(environment=None), "/action/environment"),
    (action(kind=5), "/action/kind"),
    (action(tags="sandboxed"), "/action/tags"),
    (action(tags=["a", ""]), "/action/tags/1"),
    (action(tags=[str(number) for number in range(65)]), "/action/tags"),
    (action(tag=["a"]), "/action/tag"),
    (action(blast_radius=-1), "/action/blast_radius"),
    (action(blast_radius="1"), "/action/blast_radius"),
    (action(blast_radius=True), "/action/blast_radius"),
    (action(blast_radius=1.5), "/action/blast_radius"),
    (action(blast_radius=None), "/action/blast_radius"),
    (cost("\u0661\u0662"), "/action/cost/amount"),
    (cost("1_000"), "/action/cost/amount"),
    (cost(" 5"), "/action/cost/amount"),
    (cost("5 "), "/action/cost/amount"),
    (cost("5\n"), "/action/cost/amount"),
    (cost("1E+2"), "/action/cost/amount"),
    (cost("+1"), "/action/cost/amount"),
    (cost("01"), "/action/cost/amount"),
    (cost("1."), "/action/cost/amount"),
    (cost(".5"), "/action/cost/amount"),
    (cost("1.123456789"), "/action/cost/amount"),
    (cost("1" * 16), "/action/cost/amount"),
    (cost("NaN"), "/action/cost/amount"),
    (cost("Infinity"), "/action/cost/amount"),
    (cost(-1), "/action/cost/amount"),
    (cost("-0.01"), "/action/cost/amount"),
    (cost(amount=True), "/action/cost/amount"),
    (cost(None), "/action/cost/amount"),
    (cost(["5"]), "/action/cost/amount"),
    (cost("5", "eur"), "/action/cost/currency"),
    (cost("5", "EURO"), "/action/cost/currency"),
    (cost("5", "\u0415UR"), "/action/cost/currency"),
    (action(cost="5"), "/action/cost"),
    (action(cost={"amount": "5"}), "/action/cost/currency"),
    ({**action(), "context": []}, "/context"),
    ({**action(), "approval_context": {"a": 1}}, "/approval_context/a"),
    (finding(severity="High"), "/finding/severity"),
    (finding(gsar_score=1.01), "/finding/gsar_score"),
    (finding(gsar_score=-0.1), "/finding/gsar_score"),
    (finding(gsar_score="0.9"), "/finding/gsar_score"),
    (finding(gsar_score=True), "/finding/gsar_score"),
    (finding(confidence=2), "/finding/confidence"),
    (finding(evidence_refs="r"), "/finding/evidence_refs"),
    ({**action(), "advice": {"outcome": "deny"}}, "/advice"),
    ({**action(), "advice": [{"outcome": "maybe"}]}, "/advice/0/outcome"),
    ({**action(), "advice": [{}]}, "/advice/0/outcome"),
    ({**action(), "spend": ["a", 5]}, "/spend/1"),
    ({**action(), "spend": [str(number) for number in range(17)]}, "/spend"),
    ({**action(), "effect": ""}, "/effect"),
    ({**action(), "effect": "a" * 513}, "/effect"),
    ({**action(), "lease": 300}, "/lease"),
    ({**action(), "lease": "10 years"}, "/lease"),
    ({**action(), "idempotency_key": ""}, "/idempotency_key"),
    ({**action(), "idempotency_key": "a" * 256}, "/idempotency_key"),
    ({**action(), "permit": "yes"}, "/permit"),
    ({**action(), "run_id": ""}, "/run_id"),
    ({**action(), "principal_": "other"}, "/principal_"),
    ({**action(), "tenant": "other"}, "/tenant"),
]


@pytest.mark.parametrize("path", ["/v1/decide", "/v1/admit"])
async def test_what_a_call_may_not_hold_is_400_with_its_place(asking: Asking, path: str) -> None:
    agent = asking("agent")
    for body, pointer in REFUSED:
        refused = await agent.post(path, json=body)
        assert refused.status_code == 400, body
        assert pointer in {error["pointer"] for error in refused.json()["errors"]}, (body, refused.text)
    assert (await agent.post(path, json=action())).status_code == 200


@pytest.mark.parametrize("literal", ["1e400", "-1e400", "1e2", "1E2", "0.123456789", "-0.0", "12345678901234567"])
async def test_a_number_is_an_amount_only_if_it_is_written_as_one(asking: Asking, literal: str) -> None:
    body = f'{{"action": {{"name": "pay", "cost": {{"amount": {literal}, "currency": "EUR"}}}}}}'
    refused = await asking("agent").post("/v1/admit", content=body, headers=_JSON)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "/action/cost/amount"


@pytest.mark.parametrize(("literal", "amount"), [("12.50", "12.50"), ("12", "12"), ('"0.10"', "0.10"), ("0.1", "0.1")])
def test_an_amount_is_exactly_what_was_written(literal: str, amount: str) -> None:
    body = strict_json.load(f'{{"name": "pay", "cost": {{"amount": {literal}, "currency": "EUR"}}}}'.encode())
    call = CallBody.model_validate({"action": body}).to_call()
    assert call.action.cost == Money(Decimal(amount), "EUR")
    assert str(call.action.cost.amount) == amount


def test_a_call_has_its_defaults_filled() -> None:
    assert CallBody.model_validate(action()).to_call() == Call(Action("pay"))


def test_every_member_of_a_call_arrives() -> None:
    body = {
        **action(arguments={"a": [1]}, asset="x", environment="live", kind="k", tags=["t", "t", "u"], blast_radius=3),
        "context": {"c": 1},
        "approval_context": {"shift": "late"},
        "verification_id": "ver_1",
        "advice": [{"outcome": "deny", "by": "me", "note": "n"}],
        "precondition": "etag",
        "spend": ["b", "a", "b"],
        "effect": "e",
        "lease": "90s",
        "approval_id": "apr_1",
        "run_id": "r",
        "permit": True,
    }
    call = CallBody.model_validate(json.loads(json.dumps(body))).to_call('"key 1"'.replace(" ", "-"))
    assert call.action.tags == frozenset({"t", "u"})
    assert (call.action.blast_radius, call.action.environment, call.action.kind) == (3, "live", "k")
    assert call.spend == ("b", "a")
    assert call.lease == timedelta(seconds=90)
    assert call.advice[0].by == "me"
    assert (call.effect, call.precondition, call.approval_id, call.run_id) == ("e", "etag", "apr_1", "r")
    assert call.idempotency_key == "key-1"
    assert call.permit


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_approval_context_null_and_empty_are_one(nothing: dict[str, str] | None) -> None:
    assert CallBody.model_validate({**action(), "approval_context": nothing}).to_call() == Call(Action("pay"))


@pytest.mark.parametrize("header", ["", '""', '"a', "a b", "\u00e4", "a" * 256, '"a"b"'])
def test_an_idempotency_header_that_is_none_is_refused(header: str) -> None:
    with pytest.raises(RefusedError):
        CallBody.model_validate(action()).to_call(header)


def test_two_idempotency_keys_have_to_be_one() -> None:
    body = CallBody.model_validate({**action(), "idempotency_key": "a"})
    assert body.to_call('"a"').idempotency_key == body.to_call("a").idempotency_key == "a"
    with pytest.raises(RefusedError) as refused:
        body.to_call("b")
    assert refused.value.faults == (Fault("the Idempotency-Key header says another key", "/idempotency_key"),)
