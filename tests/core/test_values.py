"""Values that come back from where they were stored."""

from app.core.money import parse_amount
from app.core.values import Fraction, with_literals


def test_a_stored_fraction_is_an_amount_again() -> None:
    found = with_literals({"a": [80.25, 5, "x", None, True, {"b": 0.1}]})
    assert found == {"a": [80.25, 5, "x", None, True, {"b": 0.1}]}
    assert isinstance(found, dict)
    [amount, *_] = found["a"]
    assert str(parse_amount(amount)) == "80.25"
    assert isinstance(amount, Fraction)


def test_one_that_has_a_literal_keeps_it() -> None:
    kept = with_literals([Fraction("12.50")])
    assert isinstance(kept, list)
    assert kept[0].literal == "12.50"
