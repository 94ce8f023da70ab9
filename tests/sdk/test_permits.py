"""What a tool may rely on when it checks a permit offline."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.core.chain import Signer, public_pem
from app.core.permits import PermitIssuer, arguments_sha256, public_jwk
from countersign import Permit, PermitError, verify_permit

PRIVATE_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Signer(PRIVATE_KEY)
OTHER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))
KEYS = {"keys": [public_jwk(public_pem(SIGNER.public_key), SIGNER.key_id)]}
NOW = datetime(2026, 11, 29, 10, tzinfo=UTC)
ARGUMENTS: dict[str, Any] = {"booking": "AB12", "amount": 40, "legs": [{"price": 1.5}]}


def issued(signer: Signer = SIGNER, at: datetime = NOW, **changed: object) -> str:
    """Return a permit as the service makes it."""
    claims = {
        "jti": "adm_1",
        "sub": "agent:desk",
        "tenant": "dev",
        "action": "voucher.issue",
        "arguments_sha256": arguments_sha256(ARGUMENTS),
        "effect": ["voucher:AB12"],
        **changed,
    }
    issuer = PermitIssuer(signer, "https://countersign.example")
    return issuer.issue(claims, issued_at=at, expires_at=at + timedelta(minutes=5))


def check(token: str, arguments: Mapping[str, Any] = ARGUMENTS, **changed: object) -> Permit:
    question: dict[str, Any] = {
        "action": "voucher.issue",
        "keys": KEYS,
        "tenant": "dev",
        "now": NOW.timestamp(),
        **changed,
    }
    return verify_permit(token, arguments=arguments, **question)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed(header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    """Return a token with any header and claims, signed by the trusted key."""
    body = f"{encoded(header)}.{encoded(claims)}"
    return f"{body}.{base64.urlsafe_b64encode(PRIVATE_KEY.sign(body.encode())).rstrip(b'=').decode()}"


def test_a_permit_of_the_service_holds_for_its_call() -> None:
    permit = check(issued())
    assert (permit.tenant, permit.principal, permit.action) == ("dev", "agent:desk", "voucher.issue")
    assert (permit.admission, permit.effects) == ("adm_1", ("voucher:AB12",))
    assert permit.expires_at == NOW + timedelta(minutes=5)


def test_the_order_of_the_arguments_and_how_a_number_is_written_do_not_matter() -> None:
    assert check(issued(), {"legs": [{"price": 1.5}], "amount": 40.0, "booking": "AB12"}).admission == "adm_1"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {**ARGUMENTS, "amount": 41},
        {**ARGUMENTS, "amount": "40"},
        {**ARGUMENTS, "amount": True},
        {**ARGUMENTS, "extra": None},
        {"booking": "AB12"},
        {**ARGUMENTS, "amount": float("nan")},
        {**ARGUMENTS, "amount": 2**60},
        {**ARGUMENTS, "booking": "\ud800"},
        {**ARGUMENTS, "booking": frozenset({1})},
    ],
    ids=repr,
)
def test_other_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(PermitError, match="arguments"):
        check(issued(), arguments)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"action": "voucher.issue2"}, "another action"),
        ({"tenant": "acme"}, "another tenant"),
        ({"now": (NOW + timedelta(minutes=5)).timestamp()}, "expired"),
        ({"keys": {"keys": []}}, "not one of those that are trusted"),
        ({"keys": {"keys": KEYS["keys"] * 2}}, "not one of those that are trusted"),
        ({"keys": {"keys": [{**KEYS["keys"][0], "kty": "EC"}]}}, "not an Ed25519 key"),
        ({"keys": {"keys": [{**KEYS["keys"][0], "x": "AAAA"}]}}, "signature"),
        ({"keys": {}}, "no JWKS"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_is_refused_for_anything_else(question: dict[str, Any], message: str) -> None:
    with pytest.raises(PermitError, match=message):
        check(issued(), **question)


def test_another_signer_under_a_trusted_name_is_refused() -> None:
    forged = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))), SIGNER.key_id)
    with pytest.raises(PermitError, match="signature"):
        check(issued(forged))
    with pytest.raises(PermitError, match="not one of those"):
        check(issued(OTHER))


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none"},
        {"alg": "HS256"},
        {"typ": "JWT"},
        {"typ": None},
        {"crit": ["b64"], "b64": False},
        {"kid": None},
        {"kid": "unknown"},
    ],
    ids=repr,
)
def test_a_header_that_asks_for_something_else_is_refused(header: dict[str, Any]) -> None:
    token = issued()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    usual = {"alg": "Ed25519", "typ": "countersign-permit+jwt", "kid": SIGNER.key_id}
    assert check(signed(usual, claims)).admission == "adm_1"
    with pytest.raises(PermitError):
        check(signed({**usual, **header}, claims))


@pytest.mark.parametrize("exp", [None, "9999999999", True, -1, 1.5, 10**30], ids=repr)
def test_a_deadline_that_is_none_is_refused(exp: object) -> None:
    token = issued()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    header = {"alg": "Ed25519", "typ": "countersign-permit+jwt", "kid": SIGNER.key_id}
    with pytest.raises(PermitError, match="exp"):
        check(signed(header, {**claims, "exp": exp}))


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "é.é.é", "e30.e30.", "e30.e30.AA==", "bnVsbA.bnVsbA.AA"])
def test_what_is_no_permit_is_refused(token: str) -> None:
    with pytest.raises(PermitError):
        check(token)


@settings(deadline=None)
@given(data=st.data())
def test_no_changed_character_leaves_a_permit_good(data: st.DataObject) -> None:
    token = issued()
    place = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters(codec="utf-8") | st.sampled_from("ABCabc019-_.="))
    assume(character != token[place])
    with pytest.raises(PermitError):
        check(token[:place] + character + token[place + 1 :])
