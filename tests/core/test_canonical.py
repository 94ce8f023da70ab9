"""The canonical form is RFC 8785's, whichever way it is made."""

from typing import Any, cast

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from app.core.canonical import canonical_json, digest
from app.core.values import GREATEST_INTEGER, Fraction, Json

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-GREATEST_INTEGER, GREATEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT
)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner), max_leaves=20)


@given(_VALUES)
def test_every_value_has_the_form_of_the_reference_library(value: Json) -> None:
    assert canonical_json(value) == rfc8785.dumps(cast("Any", value))


@given(st.dictionaries(_TEXT, _TEXT, min_size=2))
def test_the_order_of_names_makes_no_difference(value: dict[str, Any]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, Fraction("1.0")), (Fraction("1e2"), 100), ([0], [-0.0])])
def test_numbers_that_are_equal_have_one_form(one: Json, other: Json) -> None:
    assert digest({"a": one}) == digest({"a": other})


@pytest.mark.parametrize(("one", "other"), [(1, "1"), (1, True), (None, False), ("", None), ("é", "e\u0301")])
def test_everything_else_has_its_own(one: Json, other: Json) -> None:
    assert digest({"a": one}) != digest({"a": other})
