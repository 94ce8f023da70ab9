"""Templates: different arguments never give the same text, and what cannot be filled denies."""

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.policy import templates
from app.core.policy.templates import TemplateError, UnresolvedError
from app.core.values import Fraction
from tests.core.policy.weighed import codes, load, weigh


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("AB12", "b:AB12"),
        ("a:b/c", "b:a%3Ab%2Fc"),
        ("{x}", "b:%7Bx%7D"),
        ("caf\u0065\u0301", "b:caf%C3%A9"),
        ("caf\u00e9", "b:caf%C3%A9"),
        (" x ", "b:%20x%20"),
        ("-._~", "b:-._~"),
        (5, "b:5"),
        ("5", "b:5"),
        (Fraction("5.0"), "b:5"),
        (Fraction("0.10"), "b:0.1"),
        (Fraction("1e21"), "b:1e%2B21"),
        ("", "b:"),
    ],
)
def test_how_values_are_written(value: Any, text: str) -> None:
    assert templates.parse("b:{x}").fill({"x": value}) == text


@pytest.mark.parametrize("value", [None, True, [], {}, ["a"]])
def test_what_a_placeholder_cannot_be_filled_with(value: Any) -> None:
    with pytest.raises(UnresolvedError, match="neither text nor a number"):
        templates.parse("b:{x}").fill({"x": value})


@pytest.mark.parametrize(
    "text", ["{a}{b}", "{a", "a}", "{}", "{{a}}", "", "x\n{a}", "caller:x:{a}", "x" * 513, "{a}20{b}", "{a}%{b}"]
)
def test_what_is_no_template(text: str) -> None:
    with pytest.raises(TemplateError):
        templates.parse(text)


def test_a_callers_key_cannot_be_made_by_a_value() -> None:
    template = templates.parse("{kind}:{x}")
    assert template.fill({"kind": "desk", "x": 1}) == "desk:1"
    with pytest.raises(UnresolvedError):
        template.fill({"kind": "caller", "x": 1})


@pytest.mark.parametrize("text", ["{a}:{b}", "x{a}/y{b}z", "{a}-{b}", "{a} to {b}", "{a}_x_{b}"])
@given(st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), min_size=2, max_size=2, unique=True))
def test_two_tuples_never_give_one_text(text: str, pairs: list[tuple[str, str]]) -> None:
    template = templates.parse(text)
    filled = {template.fill({"a": first, "b": second}) for first, second in pairs}
    same = len({tuple(map(_nfc, pair)) for pair in pairs})
    assert len(filled) == same


def _nfc(text: str) -> str:
    return unquote(templates.parse("{x}.").fill({"x": text}))


@pytest.mark.parametrize("where", ["asset", "effect"])
def test_a_template_that_cannot_be_filled_denies_wherever_it_stands(where: str) -> None:
    loaded = load({where: "booking:{booking}"})
    found = weigh(loaded, {})
    assert codes(found) == ["template_unresolved"]
    assert found.triggered[0].values["where"] == where
    assert codes(weigh(loaded, {"booking": "x" * 600})) == ["template_unresolved"]
    assert codes(weigh(loaded, {"booking": "x"})) == []


def test_keys_and_scopes_of_the_policy_and_of_the_caller_stand_side_by_side() -> None:
    loaded = load({"effect": "voucher:{booking}", "spend": ["desk", "booking:{booking}"]})
    found = weigh(loaded, {"booking": "AB"}, call={"effect": "voucher:AB", "spend": ("desk", "own")})
    assert found.effects == ("voucher:AB", "caller:agent:voucher:AB")
    assert found.scopes == ("desk", "booking:AB", "caller:agent:desk", "caller:agent:own")


def test_the_asset_is_what_somebody_chose_to_publish_or_else_a_summary() -> None:
    templated = weigh(load({"asset": "host/{host}"}), {"host": "db-1"}, asset="mine")
    assert (templated.asset, templated.asset_shown) == ("host/db-1", True)
    stated = weigh(load({}), {"host": "db-1"}, asset="mine")
    assert (stated.asset, stated.asset_shown) == ("mine", True)
    guessed = weigh(load({}), {"host": "", "account": "DE02120300000000202051", "user": "x"})
    assert (guessed.asset, guessed.asset_shown) == ("account=<str:22>", False)
    assert weigh(load({}), {"other": 1}).asset == ""


def test_a_refusal_is_a_sentence_for_people() -> None:
    loaded = load({"decision": "deny", "refusal": {"deny": "No voucher of {amount} for {who}."}})
    found = weigh(loaded, {"amount": Fraction("12.5"), "who": "Zoë & Co"})
    assert found.message_for(found.triggered[0].outcome) == "No voucher of 12.5 for Zoë & Co."
    assert weigh(loaded, {"amount": 1}).message_for(found.triggered[0].outcome) is None
