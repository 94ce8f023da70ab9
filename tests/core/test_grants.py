"""Grants: what lies within what, and that nothing delegated permits more than what it came from."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core import policy
from app.core.action_patterns import ActionPattern
from app.core.actions import Action, Call, Caller
from app.core.codes import Code
from app.core.globs import Glob
from app.core.grants import Bounds, BoundsError, Dimension, condition, excess, read
from app.core.lineage import DEEPEST, Case, Grant, Lineage, trace
from app.core.money import Money

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AGENT = Caller(tenant="dev", principal="agent", kind="agent", owner="team")
POLICY = policy.load({"schema": "countersign.policy/v1", "unlisted": "evaluate"})

CONDITIONS = [condition(text) for text in ("action.blast_radius < 3", 'asset != "db/a"', "has(arguments.why)")]

segments = st.sampled_from(["a", "b", "pay", ""])
names = st.lists(segments, min_size=1, max_size=4).map(".".join).filter(bool)
patterns = st.one_of(names, names.map("{}.*".format), names.map("{}.**".format), st.sampled_from(["*", "**"])).map(
    ActionPattern
)
texts = st.text("ab/", max_size=5)
globs = st.text("ab/*", min_size=1, max_size=5).map(Glob)
amounts = st.integers(0, 4).map(Decimal)
moments = st.integers(-1, 3).map(lambda days: NOW + timedelta(days=days))
bounds = st.builds(
    Bounds,
    actions=st.lists(patterns, min_size=1, max_size=3).map(tuple),
    assets=st.none() | st.lists(globs, min_size=1, max_size=3).map(tuple),
    environments=st.none() | st.frozensets(st.sampled_from(["live", "test"]), min_size=1),
    conditions=st.lists(st.sampled_from(CONDITIONS), unique=True).map(tuple),
    budgets=st.none() | st.dictionaries(st.sampled_from(["EUR", "USD"]), amounts, min_size=1),
    expires_at=st.none() | moments,
)
calls = st.builds(
    Action,
    name=names,
    arguments=st.sampled_from([{}, {"why": "x"}]),
    asset=texts,
    environment=st.sampled_from(["live", "test", "unknown"]),
    blast_radius=st.integers(1, 4),
    cost=st.none() | st.builds(Money, amounts, st.sampled_from(["EUR", "USD", "CHF"])),
).map(Call)


def case_of(call: Call) -> Case:
    return Case(call, AGENT, POLICY.weigh(call, AGENT, NOW), NOW)


def permits(within: Bounds, case: Case) -> bool:
    return Lineage((Grant("grt_a", "agent", within),)).objection(case) is None


def narrowed(draw: st.DrawFn, parent: Bounds) -> Bounds:
    """Draw bounds that have a fair chance to lie within others."""
    return Bounds(
        actions=tuple(draw(st.lists(st.sampled_from(parent.actions), min_size=1, max_size=2))),
        assets=draw(st.lists(globs, min_size=1).map(tuple)) if parent.assets is None else parent.assets[:1],
        environments=parent.environments,
        conditions=tuple(dict.fromkeys([*draw(st.lists(st.sampled_from(CONDITIONS))), *parent.conditions])),
        budgets=None
        if parent.budgets is None
        else {currency: draw(st.sampled_from([Decimal(0), amount])) for currency, amount in parent.budgets.items()},
        expires_at=parent.expires_at or draw(st.none() | moments),
    )


@st.composite
def families(draw: st.DrawFn) -> tuple[Bounds, Bounds]:
    parent = draw(bounds)
    return parent, draw(bounds) if draw(st.booleans()) else narrowed(draw, parent)


@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        ("pay", ["pay"], ["pay.x", "pa", "pay."]),
        ("pay.*", ["pay.x", "pay.*"], ["pay", "pay.", "pay.x.y", "payx"]),
        ("pay.**", ["pay.x", "pay.x.y"], ["pay", "pay.", "payx.y"]),
        ("*", ["pay"], ["pay.x"]),
        ("**", ["pay", "pay.x.y"], []),
    ],
)
def test_what_a_pattern_of_actions_stands_for(pattern: str, matched: list[str], not_matched: list[str]) -> None:
    assert [name for name in [*matched, *not_matched] if ActionPattern(pattern).matches(name)] == matched


@pytest.mark.parametrize("pattern", ["", "pay*", "*.pay", "pay.*.x", "pay.***", ".*.", "a**"])
def test_a_star_elsewhere_is_no_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        ActionPattern(pattern)


@given(patterns, patterns, names)
def test_a_pattern_of_actions_that_contains_another_matches_all_that_it_does(
    wide: ActionPattern, narrow: ActionPattern, name: str
) -> None:
    assert not (wide.contains(narrow) and narrow.matches(name) and not wide.matches(name))


@given(globs, globs, texts)
@example(Glob("a*b*a"), Glob("a*ba"), "aba")
def test_a_glob_that_contains_another_matches_all_that_it_does(wide: Glob, narrow: Glob, text: str) -> None:
    assert not (wide.contains(narrow) and narrow.matches(text) and not wide.matches(text))


@given(bounds)
def test_bounds_lie_within_themselves(one: Bounds) -> None:
    assert excess(one, one) == ()


@given(families().flatmap(lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), bounds)))
def test_containment_is_transitive(three: tuple[Bounds, Bounds, Bounds]) -> None:
    for one, two, other in (three, (three[2], three[0], three[1]), (three[1], three[2], three[0])):
        if not excess(two, one) and not excess(other, two):
            assert not excess(other, one)


@given(families(), calls)
def test_what_lies_within_never_permits_what_its_parent_does_not(pair: tuple[Bounds, Bounds], call: Call) -> None:
    parent, child = pair
    case = case_of(call)
    if not excess(child, parent) and permits(child, case):
        assert permits(parent, case)


@given(st.lists(bounds, min_size=1, max_size=4), calls)
def test_every_grant_of_a_lineage_has_to_permit(chain: list[Bounds], call: Call) -> None:
    case = case_of(call)
    lineage = Lineage(tuple(Grant(f"grt_{place}", "agent", one) for place, one in enumerate(chain)))
    assert (lineage.objection(case) is None) == all(permits(one, case) for one in chain)


@given(bounds)
def test_bounds_are_read_as_they_were_stated(one: Bounds) -> None:
    assert read(one.stated(), one.expires_at).stated() == one.stated()


FULL: dict[str, Any] = {
    "actions": ["pay.**"],
    "assets": ["account/*"],
    "environments": ["live"],
    "conditions": ["action.blast_radius < 3"],
    "budgets": [{"amount": "10.00", "currency": "EUR"}],
}


@pytest.mark.parametrize("dimension", [dimension for dimension in Dimension if dimension is not Dimension.ACTIONS])
def test_leaving_out_what_the_parent_bounds_reaches_beyond_it(dimension: Dimension) -> None:
    parent = read(FULL, NOW)
    said = {name: value for name, value in FULL.items() if name != dimension}
    child = read(said, None if dimension is Dimension.EXPIRY else NOW)
    assert excess(child, parent) == (dimension,)


@pytest.mark.parametrize(
    ("dimension", "value"),
    [
        ("actions", ["pay.*", "payout"]),
        ("assets", ["acc*"]),
        ("environments", ["live", "test"]),
        ("conditions", ["action.blast_radius < 4"]),
        ("budgets", [{"amount": "10.01", "currency": "EUR"}]),
        ("budgets", [{"amount": "1.00", "currency": "EUR"}, {"amount": "1.00", "currency": "USD"}]),
    ],
)
def test_the_dimension_that_reaches_beyond_is_named(dimension: str, value: list[Any]) -> None:
    assert excess(read(FULL | {dimension: value}, NOW), read(FULL, NOW)) == (dimension,)


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {},
        {"actions": []},
        {"actions": "pay"},
        {"actions": [1]},
        {"actions": ["a*b"]},
        {"actions": ["a"], "assets": []},
        {"actions": ["a"], "environments": [""]},
        {"actions": ["a"], "conditions": ["arguments.x <"]},
        {"actions": ["a"], "conditions": ["cost.amount < 3.0"]},
        {"actions": ["a"], "budgets": [{"amount": "-1", "currency": "EUR"}]},
        {"actions": ["a"], "budgets": [{"amount": "NaN", "currency": "EUR"}]},
        {"actions": ["a"], "budgets": [{"amount": "1"}]},
        {"actions": ["a"], "budgets": [{"amount": "1", "currency": "EUR"}, {"amount": "1", "currency": "EUR"}]},
    ],
)
def test_what_is_no_bounds_is_not_read(said: Any) -> None:
    with pytest.raises(BoundsError):
        read(said, None)


def test_a_condition_that_cannot_be_evaluated_leaves_the_call_out() -> None:
    within = read({"actions": ["**"], "conditions": ["arguments.amount < 5"]}, None)
    for arguments, permitted in (({"amount": 4}, True), ({"amount": "4"}, False), ({}, False)):
        assert permits(within, case_of(Call(Action("pay", arguments)))) is permitted


def test_the_end_of_a_grant_is_exactly_at_its_time() -> None:
    within = read({"actions": ["**"]}, NOW)
    lineage = Lineage((Grant("grt_a", "agent", within),))
    case = case_of(Call(Action("pay")))
    over = lineage.objection(case)
    assert over is not None
    assert over.code is Code.GRANT_EXPIRED
    assert lineage.objection(replace(case, now=NOW - timedelta(microseconds=1))) is None


ALL = read({"actions": ["**"]}, None)


def test_a_line_is_walked_to_its_root_or_holds_nothing() -> None:
    root = Grant("a", "lead", ALL, delegable=True)
    child = Grant("b", "agent", ALL, parent="a")
    assert trace("b", {"a": root, "b": child}) == Lineage((child, root))
    assert trace("b", {"b": child}) is None
    assert trace("b", {"a": replace(root, revoked=True), "b": child}) is None
    assert trace("b", {"a": replace(root, delegable=False), "b": child}) is None
    assert trace("a", {"a": replace(root, parent="a")}) is None


def test_a_line_has_an_end() -> None:
    known = {
        str(place): Grant(str(place), "agent", ALL, delegable=True, parent=str(place + 1) if place < DEEPEST else None)
        for place in range(DEEPEST + 1)
    }
    assert trace("1", known) is not None
    assert trace("0", known) is None
