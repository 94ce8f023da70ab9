"""What may be shown of arguments."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import summary
from app.core.values import Fraction, Json

VISA, AMEX, MAESTRO = "4111111111111111", "378282246310005", "6304000000000000"


def test_a_summary_shows_types_in_code_point_order() -> None:
    arguments: dict[str, Json] = {
        "note": "APPROVED by the desk",
        "amount": Fraction("12.50"),
        "Zone": 3,
        "legs": [1, 2],
        "to": {"a": 1, "b": 2, "c": 3},
        "dry": True,
        "until": None,
        "ähnlich": "",
    }
    assert summary.summarise(arguments) == (
        "Zone=3, amount=12.5, dry=true, legs=<list:2>, note=<str:20>, to=<object:3>, until=<null>, ähnlich=<str:0>"
    )


def test_a_callers_names_cannot_make_it_long() -> None:
    shown = summary.summarise({f"{number:04}" + "x" * 1_000: None for number in range(1_000)})
    assert shown.endswith(", <and 936 more>")
    assert len(shown) < 64 * 150


def test_nothing_is_shown_of_no_arguments() -> None:
    assert summary.summarise({}) == ""


@pytest.mark.parametrize(("number", "shown"), [(Fraction("1e21"), "1e+21"), (Fraction("1.0"), "1"), (-0.5, "-0.5")])
def test_numbers_are_written_as_rfc_8785_does(number: float, shown: str) -> None:
    assert summary.typed(number) == shown


@pytest.mark.parametrize("card", [VISA, AMEX, MAESTRO])
def test_card_numbers_are_masked_as_integers_and_strings(card: str) -> None:
    hidden = f"<masked:{len(card)}>"
    assert summary.typed(int(card)) == hidden
    assert summary.shown({"a": int(card), "b": card, "c": [card, {"d": int(card)}]}, ["a", "b", "c"]) == {
        "a": hidden,
        "b": hidden,
        "c": [hidden, {"d": hidden}],
    }


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "3782 822463 10005",
        "card 4111111111111111, exp 12/29",
        "12 4111111111111111",
        "room 7: 4111 1111 1111 1111 2",
        "x4111111111111111x",
        "\u0664" + "\u0661" * 15,
        "\uff14" + "\uff11" * 15,
        "4111\u00a01111\u00a01111\u00a01111",
    ],
)
def test_card_numbers_are_masked_inside_longer_text(text: str) -> None:
    assert "<masked:" in summary.mask(text)
    assert "1111" not in summary.mask(text)
    assert "10005" not in summary.mask(text)


@pytest.mark.parametrize(
    "text", ["4111111111111112", "411111111111", "41111111111111111111", "2026-11-29 10:00:00", ""]
)
def test_other_digits_are_left(text: str) -> None:
    assert summary.mask(text) == text


def test_names_are_masked_too() -> None:
    assert VISA not in summary.summarise({VISA: 1})
    assert summary.shown({"a": {VISA: 1}}, ["a"]) == {"a": {"<masked:16>": 1}}


def test_only_what_is_named_is_shown() -> None:
    assert summary.shown({"a": 1, "b": 2}, ["b", "c"]) == {"b": 2}


@pytest.mark.parametrize("text", ["1 " * 500_000, "123 " * 250_000, "9" * 1_000_000, "0001 " * 200_000])
def test_hostile_text_takes_no_time(text: str) -> None:
    began = time.process_time()
    summary.mask(text)
    assert time.process_time() - began < 2


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=4))
def test_no_string_is_ever_in_a_summary(arguments: dict[str, str]) -> None:
    secrets = {name: f"§{value}§" for name, value in arguments.items()}
    assert not any(value in summary.summarise(secrets) for value in secrets.values())


@given(st.integers(min_value=10**11, max_value=10**18 - 1))
def test_luhn_completes_every_number(number: int) -> None:
    digits = [int(digit) for digit in str(number)]
    valid = [last for last in range(10) if summary.passes_luhn([*digits, last])]
    assert len(valid) == 1
