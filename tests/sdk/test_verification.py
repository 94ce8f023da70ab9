"""What the offline verification finds, and that nothing in a record can change unnoticed."""

import base64
import json
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.core import chain
from countersign import Verification, verify_export

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "audit.json").read_text())
LINES: list[str] = VECTORS["cases"][0]["lines"]
KEYS: dict[str, str] = VECTORS["public_keys"]
HEAD: str = VECTORS["head"]
SIGNER = chain.Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OWN_KEYS = {SIGNER.key_id: chain.public_pem(SIGNER.public_key)}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def verify(lines: Sequence[str], **given: object) -> Verification:
    question: dict[str, Any] = given
    return verify_export((f"{line}\n".encode() for line in lines), **question)


def records(*payloads: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a chain over these payloads, made as the service makes it."""
    made: list[dict[str, Any]] = []
    for seq, payload in enumerate(payloads):
        ts, prev = f"2026-11-29T10:00:00.{seq:06}Z", made[-1]["hash"] if made else chain.GENESIS
        hashed = chain.hash_of(chain.canonical(seq, ts, "admission.decided", payload, prev))
        made.append(
            {
                "seq": seq,
                "ts": ts,
                "event_type": "admission.decided",
                "payload": payload,
                "prev_hash": prev,
                "hash": hashed,
                "key_id": SIGNER.key_id,
                "signature": SIGNER.sign(hashed),
            }
        )
    return made


def as_lines(made: Sequence[dict[str, Any]]) -> list[str]:
    return [json.dumps(record, ensure_ascii=False) for record in made]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_known_cases(case: dict[str, Any]) -> None:
    found = verify(case["lines"], keys=case["keys"], head=case["expected_head"])
    assert (found.ok, found.broken_at) == (case["expect"]["ok"], case["expect"]["broken_at"])


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"keys": KEYS, "head": HEAD}, "proved"),
        ({"keys": KEYS}, "consistent"),
        ({"head": HEAD}, "consistent"),
        ({}, "consistent"),
        ({"keys": {}, "head": HEAD}, "broken"),
    ],
    ids=["both", "keys", "head", "neither", "no key at all"],
)
def test_it_says_what_it_proved(given: dict[str, Any], verdict: str) -> None:
    assert verify(LINES, **given).verdict == verdict


def test_keys_are_read_as_the_service_answers_them() -> None:
    answered = {"keys": {name: {"pem": pem, "from": "2026-01-01", "until": None} for name, pem in KEYS.items()}}
    assert verify(LINES, keys=answered, head=HEAD).verdict == "proved"


def test_a_range_needs_the_hash_before_it() -> None:
    before = json.loads(LINES[1])["hash"]
    assert verify(LINES[2:], keys=KEYS, head=HEAD, from_seq=2, prev=before).verdict == "proved"
    assert verify(LINES[2:], from_seq=2, prev="1" * 64).broken_at == 2
    assert verify([], keys=KEYS, head=before, from_seq=2, prev=before).verdict == "proved"
    for question in ({"from_seq": 2}, {"prev": before}, {"from_seq": -1}, {"prev": "A" * 64}, {"head": "abc"}):
        with pytest.raises(ValueError, match=r"hex|hash before"):
            verify(LINES, **question)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "null",
        "[]",
        "{}",
        LINES[0][:-1],
        LINES[0] + LINES[1],
        LINES[0].replace('"seq": 0', '"seq": 0, "seq": 0'),
        LINES[0].replace('"tenant": "acme"', '"tenant": "acme", "tenant": "acme"'),
        LINES[0].replace('"seq": 0', '"seq": NaN'),
        LINES[0].replace('"key_id"', '"keyid"'),
        "\ufeff" + LINES[0],
        "[" * 100_000,
    ],
    ids=lambda line: line[:30],
)
def test_a_line_that_is_no_record_is_not_readable_and_is_named(line: str) -> None:
    found = verify([LINES[0], line])
    assert (found.verdict, found.line, found.broken_at) == ("unreadable", 2, None)


def test_bytes_that_are_no_text_are_not_readable() -> None:
    found = verify_export([b"\xff\xfe\n"])
    assert (found.verdict, found.line) == ("unreadable", 1)


@pytest.mark.parametrize(
    "change",
    [
        {"seq": True},
        {"seq": 1.0},
        {"seq": "1"},
        {"payload": []},
        {"payload": {"cost": 0.5}},
        {"payload": {"cost": 2**53}},
        {"payload": {"note": "\ud800"}},
        {"event_type": None},
        {"ts": "2026-11-29T10:00:01Z"},
        {"ts": 1},
        {"hash": None},
        {"signature": None, "key_id": None},
        {"signature": "AAAA"},
        {"key_id": 7},
    ],
    ids=repr,
)
def test_a_member_of_another_kind_breaks_its_record(change: dict[str, Any]) -> None:
    first, second, *_ = map(json.loads, LINES)
    found = verify([json.dumps(first), json.dumps({**second, **change})])
    assert (found.verdict, found.broken_at, found.line) == ("broken", 1, 2)


def test_time_never_runs_backwards() -> None:
    made = records({})
    ts = "2026-11-29T09:59:59.999999Z"
    hashed = chain.hash_of(chain.canonical(1, ts, "x", {}, made[0]["hash"]))
    made.append({"seq": 1, "ts": ts, "event_type": "x", "payload": {}, "prev_hash": made[0]["hash"], "hash": hashed})
    found = verify(as_lines(made))
    assert (found.verdict, found.broken_at, found.failed) == ("broken", 1, 5)


def test_base64_has_one_form_only() -> None:
    first = json.loads(LINES[0])
    last_four = first["signature"][-4:]
    assert last_four.endswith("==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    twin = alphabet[alphabet.index(last_four[1]) | 1]
    changed = {**first, "signature": first["signature"][:-3] + twin + "=="}
    assert base64.b64decode(changed["signature"]) == base64.b64decode(first["signature"])
    assert verify([json.dumps(changed)]).broken_at == 0


def _p256(_: str) -> str:
    public = generate_private_key(SECP256R1()).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


@pytest.mark.parametrize("spoil", [lambda _: "not a key", lambda _: 7, _p256, lambda pem: pem + "é"], ids=range(4))
def test_what_is_no_ed25519_key_is_refused(spoil: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match="the key"):
        verify(LINES, keys={name: spoil(pem) for name, pem in KEYS.items()})


@settings(deadline=None)
@given(payloads=st.lists(st.dictionaries(st.text(), json_values, max_size=4), min_size=1, max_size=4))
def test_whatever_the_service_records_verifies(payloads: list[dict[str, Any]]) -> None:
    made = records(*payloads)
    assert verify(as_lines(made), keys=OWN_KEYS, head=made[-1]["hash"]).verdict == "proved"


@settings(deadline=None)
@given(data=st.data())
def test_no_single_changed_character_in_the_value_of_a_member_goes_unnoticed(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(LINES) - 1))
    line = LINES[number]
    place = data.draw(st.integers(1, len(line) - 2))
    character = data.draw(st.characters(codec="utf-8") | st.sampled_from('0123456789abcdefABCDEF+/="\\{}[],:.-'))
    changed = line[:place] + character + line[place + 1 :]
    assume(not _same(changed, line))
    lines = [*LINES[:number], changed, *LINES[number + 1 :]]
    assert not verify(lines, keys=KEYS, head=HEAD).ok


@settings(deadline=None)
@given(data=st.data())
def test_no_single_changed_character_in_what_was_hashed_needs_keys_or_a_head_to_be_noticed(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(LINES) - 1))
    record = json.loads(LINES[number])
    path = data.draw(st.sampled_from(sorted(set(_texts(record)) - {("key_id",), ("signature",)})))
    place = data.draw(st.integers(0, len(_at(record, path)) - 1))
    text = _at(record, path)
    character = data.draw(st.characters(codec="utf-8").filter(lambda drawn: drawn != text[place]))
    _at(record, path[:-1])[path[-1]] = text[:place] + character + text[place + 1 :]
    assert not verify([*LINES[:number], json.dumps(record), *LINES[number + 1 :]]).ok


def _texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path to every text that is not empty."""
    if isinstance(value, str) and value:
        yield path
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, (*path, name))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    return reduce(operator.getitem, path, value)


def _same(one: str, other: str) -> bool:
    """Return whether two lines say the same: white space, and the case of an escape's digits, say nothing."""
    try:
        return json.dumps(json.loads(one)) == json.dumps(json.loads(other))
    except (ValueError, RecursionError):
        return False
