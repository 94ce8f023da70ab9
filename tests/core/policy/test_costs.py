"""What a call costs, in whose words, and in which currency."""

from typing import Any

import pytest

from app.core.money import Money
from app.core.values import Fraction
from tests.core.policy.weighed import codes, eur, load, weigh

PRICED = load({"cost": {"amount": "{amount}", "currency": "EUR"}})
SUMMED = load({"cost": {"sum": "orders[].lines[].price", "currency": "EUR"}})


@pytest.mark.parametrize(
    ("amount", "cost"), [(5, "5"), ("5.50", "5.50"), (Fraction("0.10"), "0.10"), (0, "0"), (Fraction("12.50"), "12.50")]
)
def test_a_price_in_an_argument(amount: Any, cost: str) -> None:
    assert weigh(PRICED, {"amount": amount}).cost == eur(cost)


@pytest.mark.parametrize(
    "amount", [None, True, "", "1,5", "1e3", " 5", "١٢", [5], {"a": 5}, "0.123456789", float("1e-9")]
)
def test_what_is_no_amount_denies(amount: Any) -> None:
    found = weigh(PRICED, {"amount": amount})
    assert (codes(found), found.cost) == (["cost_undetermined"], None)


def test_a_price_that_is_missing_denies() -> None:
    assert codes(weigh(PRICED, {})) == ["cost_undetermined"]
    assert codes(weigh(PRICED, {}, cost=eur("3"))) == ["cost_undetermined"]


@pytest.mark.parametrize("amount", [-1, "-0.01", Fraction("-5.5")])
def test_a_negative_price_denies(amount: Any) -> None:
    assert codes(weigh(PRICED, {"amount": amount})) == ["cost_negative"]


def test_the_callers_word_counts_where_it_is_greater() -> None:
    assert weigh(PRICED, {"amount": 5}, cost=eur("7")).cost == eur("7")
    assert weigh(PRICED, {"amount": 5}, cost=eur("3")).cost == eur("5")
    assert codes(weigh(PRICED, {"amount": 5}, cost=Money(eur("7").amount, "USD"))) == ["currency_mismatch"]


def test_a_sum_over_lists() -> None:
    orders = [{"lines": [{"price": Fraction("1.10")}, {"price": "2.20"}]}, {"lines": []}, {"lines": [{"price": 3}]}]
    assert weigh(SUMMED, {"orders": orders}).cost == eur("6.30")
    assert weigh(SUMMED, {"orders": []}).cost == eur("0")


@pytest.mark.parametrize(
    "orders",
    [None, {}, "x", [1], [{}], [{"lines": None}], [{"lines": [{}]}], [{"lines": [{"price": 1}, {"price": "x"}]}]],
)
def test_every_summand_must_be_an_amount(orders: Any) -> None:
    assert codes(weigh(SUMMED, {"orders": orders})) == ["cost_undetermined"]


def test_a_negative_part_is_not_hidden_by_the_sum() -> None:
    orders = [{"lines": [{"price": 100}, {"price": -1}]}]
    assert codes(weigh(SUMMED, {"orders": orders})) == ["cost_negative"]


def test_a_sum_greater_than_any_amount_denies() -> None:
    orders = [{"lines": [{"price": "999999999999999"}] * 2}]
    assert codes(weigh(SUMMED, {"orders": orders})) == ["cost_undetermined"]


def test_a_currency_alone_takes_the_callers_amount_in_it() -> None:
    loaded = load({"cost": {"currency": "EUR"}})
    assert weigh(loaded, cost=eur("4")).cost == eur("4")
    assert codes(weigh(loaded, cost=Money(eur("4").amount, "USD"))) == ["currency_mismatch"]
    assert codes(weigh(loaded)) == ["cost_undetermined"]


def test_a_limit_in_another_currency_refuses_and_one_without_a_currency_takes_any() -> None:
    limits = [
        {"scope": "desk", "limit": {"amount": "10", "currency": "EUR"}},
        {"name": "pace", "scope": "d*", "metric": "count", "limit": 5},
        {"scope": "other", "limit": {"amount": "1", "currency": "USD"}},
    ]
    loaded = load({"spend": ["desk"]}, limits=limits)
    found = weigh(loaded, cost=Money(eur("4").amount, "USD"))
    assert codes(found) == ["currency_mismatch"]
    assert [limit.name for limit, _ in found.limits] == ["pace"]
    assert codes(weigh(loaded, cost=eur("4"))) == []
    assert [limit.name for limit, _ in weigh(loaded).limits] == ["desk", "pace"]


def test_an_amount_that_people_look_at_has_a_currency() -> None:
    loaded = load({"knobs": {"require_human_over": {"amount": "10", "currency": "EUR"}}})
    assert codes(weigh(loaded, cost=eur("10"))) == []
    assert codes(weigh(loaded, cost=eur("10.01"))) == ["cost_over_limit"]
    assert codes(weigh(loaded, cost=Money(eur("1").amount, "USD"))) == ["currency_mismatch"]


@pytest.mark.parametrize(
    ("pattern", "scope", "covers"),
    [
        ("booking:*", "booking:", True),
        ("booking:*", "booking:a:b", True),
        ("booking:*", "Booking:a", False),
        ("*", "", True),
        ("a*b*c", "abc", True),
        ("a*b*c", "axxbyyc", True),
        ("a*b*c", "ac", False),
        ("aa*aa", "aaa", False),
        ("a*", "ba", False),
        ("a.c", "abc", False),
        ("*x*x*", "xx", True),
        ("*x*x*", "x", False),
        ("a*a*" * 20 + "b", "a" * 5_000, False),
    ],
)
def test_which_scopes_a_limit_covers(pattern: str, scope: str, *, covers: bool) -> None:
    [limit] = load({}, limits=[{"scope": pattern, "limit": {"amount": "1", "currency": "EUR"}}]).limits
    assert limit.matches(scope) == covers
