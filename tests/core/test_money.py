"""Amounts: one form, exact, and nothing else."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.money import AmountError, format_amount, parse_amount
from app.core.values import Fraction

_AMOUNTS = st.decimals(min_value=0, max_value=Decimal("999999999999999.99999999"), places=8)


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("0", "0"),
        ("12.5", "12.5"),
        ("12.50", "12.5"),
        (7, "7"),
        (Fraction("0.1"), "0.1"),
        (Fraction("12.50"), "12.5"),
        ("999999999999999.99999999", "999999999999999.99999999"),
    ],
)
def test_amounts(value: str | float, amount: str) -> None:
    assert parse_amount(value) == Decimal(amount)


@pytest.mark.parametrize(
    "value",
    [
        "١٢",
        "1_000",
        " 5",
        "5 ",
        "1E+2",
        "-1",
        -1,
        True,
        None,
        "",
        ".5",
        "5.",
        "00",
        "01",
        "+1",
        "1e2",
        "NaN",
        "Infinity",
        "1.123456789",
        "1000000000000000",
        Fraction("1e2"),
        Fraction("1E-2"),
        0.5,
        "1\n",
        [],
        {},
    ],
)
def test_nothing_else_is_an_amount(value: object) -> None:
    with pytest.raises(AmountError):
        parse_amount(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["-1", "-0.01", -5])
def test_a_negative_amount_is_told_apart(value: str | int) -> None:
    with pytest.raises(AmountError) as caught:
        parse_amount(value)
    assert caught.value.negative


@pytest.mark.parametrize(
    ("amount", "written"),
    [("12.5", "12.50"), ("0", "0.00"), ("1E+3", "1000.00"), ("0.00000001", "0.00000001"), ("1.230", "1.23")],
)
def test_amounts_are_written_in_one_form(amount: str, written: str) -> None:
    assert format_amount(Decimal(amount)) == written


@given(_AMOUNTS)
def test_what_is_written_is_read_back_exactly(amount: Decimal) -> None:
    assert parse_amount(format_amount(amount)) == amount
