"""Bodies are read one way only, and what is refused is named with its place."""

import contextlib
import gc
import json
import math
import re
import time
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.strict_json import MAX_DEPTH, JsonError, load, pointer
from app.core.values import GREATEST_INTEGER, Fraction

REFUSED = [
    (b"", "", "not JSON"),
    (b"{", "", "not JSON"),
    (b"'a'", "", "not JSON"),
    (b"1 2", "", "not JSON: extra data at line 1 column 3"),
    (b'{"a": [1, 2,]}', "/a/2", "not JSON"),
    (b'{"a": 1,}', "", "not JSON"),
    (b'{"a": {"b": tru}}', "/a/b", "not JSON"),
    (b'{"a": "\x01"}', "/a", "not JSON"),
    (b'{"a": "never ends', "/a", "not JSON: unterminated string"),
    (b"\xef\xbb\xbf{}", "", "not JSON"),
    (b'{"a": "\xff"}', "/a", "not UTF-8"),
    (b'{"a": ["\xed\xa0\x80"]}', "/a/0", "not UTF-8"),
    (b'{"a": 1, "a": 1}', "/a", "the member stands twice"),
    (b'{"a": 1, "\\u0061": 1}', "/a", "the member stands twice"),
    (b'{"x": [{"a": {"a": 1}}, {"a": 1, "b": 2, "a": 3}]}', "/x/1/a", "the member stands twice"),
    (b'{"a": NaN}', "/a", "NaN is not JSON"),
    (b'{"a": [1, -Infinity]}', "/a/1", "-Infinity is not JSON"),
    (b'{"a": "\\ud800"}', "/a", "half of a surrogate pair"),
    (b'{"a": "\\udc00\\ud800"}', "/a", "half of a surrogate pair"),
    (b'{"a": {"\\udfff": 1}}', "/a", "half of a surrogate pair"),
    (b'{"a": "x\\u0000y"}', "/a", "NUL"),
    (b'{"a": 1, "\\u0000": 2}', "", "NUL"),
    (b"9007199254740992", "", "an integer beyond 2^53 - 1"),
    (b'{"a~/b": -9007199254740992}', "/a~0~1b", "an integer beyond 2^53 - 1"),
    (b'{"a": ' + b"7" * 5_000 + b"}", "/a", "an integer beyond 2^53 - 1"),
    (b'{"a": 1e400}', "/a", "a number beyond what a double can hold"),
    (b'{"a": -1.5e+999}', "/a", "a number beyond what a double can hold"),
    (b'{"a": 0.' + b"1" * 2_000 + b"}", "/a", "a number of more than 1000 characters"),
    (b"[" * 65 + b"]" * 65, "/0" * 64, "more than 64 levels"),
    (b"[" * 20_000 + b"]" * 20_000, "/0" * 64, "more than 64 levels"),
    (b'{"a":' * 20_000, "/a" * 64, "more than 64 levels"),
    (b"[" * 64 + b'1, true, "x", [], 2' + b"]" * 64, "/0" * 63 + "/3", "more than 64 levels"),
    (b'{"a":' * 64 + b"{}, " + b"}" * 64, "/a" * 64, "more than 64 levels"),
    (b'[1, -2.5e3, "x,y", "z", [], [7], {}, {"a": 1}, null, NaN]', "/9", "NaN is not JSON"),
    (b"[" * 64 + b'"[", "{]", NaN' + b"]" * 64, "/0" * 63 + "/2", "NaN is not JSON"),
    (b'{"a": 1, "b": 9007199254740992}', "/b", "an integer beyond 2^53 - 1"),
    (b'{"a,b": 1, "c": "d", "a,b" : 2}', "/a,b", "the member stands twice"),
    (b'[{"a": 1, "a": 1e400}]', "/0/a", "the member stands twice"),
    (b'["\\\\\\ud83d\\ud83d\\ude00"]', "/0", "half of a surrogate pair"),
    (b'["\\ud83d\\ude00\\ude00"]', "/0", "half of a surrogate pair"),
    (b'["\\\\\\u0000"]', "/0", "NUL"),
]


@pytest.mark.parametrize(("body", "where", "detail"), REFUSED)
def test_what_is_refused_is_named_with_its_place(body: bytes, where: str, detail: str) -> None:
    with pytest.raises(JsonError) as refusal:
        load(body)
    assert refusal.value.pointer == where
    assert refusal.value.detail.startswith(detail)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"null", None),
        (b" [] ", []),
        (b'"\\ud83d\\ude00 \\\\ud800 \\\\u0000"', "\U0001f600 \\ud800 \\u0000"),
        (b"[9007199254740991, -9007199254740991, -0]", [GREATEST_INTEGER, -GREATEST_INTEGER, 0]),
        (b'{"a": {"a": [{"a": 1}, {"a": 2}]}}', {"a": {"a": [{"a": 1}, {"a": 2}]}}),
        (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
        (b'"' + b"[" * 500 + b'\\"{"', "[" * 500 + '"{'),
    ],
)
def test_what_is_json_is_read(body: bytes, value: object) -> None:
    assert load(body) == value


def test_a_fraction_keeps_its_literal() -> None:
    number = cast("list[float]", load(b"[12.50]"))[0]
    assert isinstance(number, Fraction)
    assert number == 12.5
    assert number.literal == "12.50"


def seconds(body: bytes) -> float:
    """Return the time of the processor that reading a body takes, or refusing it; the best of two."""

    def once() -> float:
        start = time.process_time()
        with contextlib.suppress(JsonError):
            load(body)
        return time.process_time() - start

    gc.disable()
    try:
        return min(once(), once())
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"1," * 500_000 + b"?]",
        b"[" + b"1.5," * 250_000 + b"?]",
        b"[" + b"[]," * 340_000 + b"?]",
        b"[" + (b"[" * 60 + b"]" * 60 + b",") * 8_600 + b"?]",
        b"[" + b'{"a":1,"b":2,"c":3},' * 52_000 + b"?]",
        b"{" + b",".join(b'"%x":0' % number for number in range(100_000)) + b',"":?}',
        b"[" + b'"\\n",' * 200_000 + b"?]",
        b'["' + b'\\"' * 500_000 + b'",?]',
    ],
)
def test_an_escape_that_only_looks_wrong_costs_next_to_nothing(body: bytes) -> None:
    looks_wrong = body.replace(b"?", b'"\\\\u0000 \\ud83d\\ude00"')
    assert load(looks_wrong) is not None
    assert seconds(looks_wrong) < 2 * seconds(body.replace(b"?", b'"x"')) + 0.05


@pytest.mark.parametrize(
    "body",
    [
        b"[[]," * 250_000,
        b"[" + b"1," * 500_000 + b"NaN]",
        b"[" + b'{"a":1,"b":2,"c":3},' * 52_000 + b"NaN]",
        b"[" + (b'{"a":' * 60 + b"1" + b"}" * 60 + b",") * 2_800 + b"NaN]",
        b"[NaN" + b', "a" ' * 170_000 + b"]",
        b'["\\u0000", 1' + b" " * 1_000_000 + b"2]",
        b"[NaN, {" + b" " * 1_000_000,
        b"[" + b"[]," * 300_000 + b"1]",
        b"[" * 70 + b'"' + b'\\"' * 450_000,
        b"[NaN" + b',"' + b'\\"' * 450_000,
        b'["' + b"\\u0000" * 150_000 + b'"]',
        b"0." + b"1" * 1_000_000,
        b'{"a":' * 200_000,
    ],
)
def test_no_body_of_a_mebibyte_takes_long(body: bytes) -> None:
    assert seconds(body) < 0.9


@pytest.mark.parametrize(("path", "expected"), [((), ""), (("a", 0, "b/c", "~"), "/a/0/b~1c/~0"), (("",), "/")])
def test_a_pointer_escapes_what_rfc_6901_says(path: tuple[str | int, ...], expected: str) -> None:
    assert pointer(path) == expected


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-GREATEST_INTEGER, GREATEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner), max_leaves=30)


@given(_VALUES, st.booleans())
def test_every_value_that_json_can_hold_comes_back(value: object, ascii_only: bool) -> None:  # noqa: FBT001 - hypothesis passes it
    assert load(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=60) | st.text('[]{}",:\\u0d8-1e.Na ', max_size=60).map(str.encode))
def test_any_bytes_are_read_as_the_standard_library_reads_them_or_are_refused(body: bytes) -> None:
    value = refusal = None
    try:
        value = load(body)
    except JsonError as error:
        refusal = error
    if refusal is None:
        assert value == json.loads(body)
    else:
        assert re.fullmatch("(/.*)?", refusal.pointer, re.DOTALL)
        assert refusal.pointer.encode() is not None


@given(st.integers(1, 2 * MAX_DEPTH), st.sampled_from([(b"[", b"]"), (b'{"k":', b"}")]))
def test_depth_is_counted_exactly(depth: int, brackets: tuple[bytes, bytes]) -> None:
    body = brackets[0] * depth + b"1" + brackets[1] * depth
    if depth > MAX_DEPTH:
        with pytest.raises(JsonError, match="more than 64 levels"):
            load(body)
    else:
        assert load(body) is not None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_literal_states_the_number_it_was_read_from(number: float) -> None:
    value = load(repr(number).encode())
    assert value == number
    assert not isinstance(value, Fraction) or math.isfinite(float(value.literal))
