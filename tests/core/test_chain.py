"""The record's canonical bytes, hashes and signatures, against a chain with known answers."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from app.core import chain
from app.core.chain import NotRecordableError, Signer

_VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "audit.json").read_text("utf-8"))
_RECORDS: list[dict[str, Any]] = _VECTORS["records"]


def _canonical(record: dict[str, Any]) -> str:
    return chain.canonical(record["seq"], record["ts"], record["event_type"], record["payload"], record["prev_hash"])


def test_canonical_bytes_are_the_known_ones() -> None:
    assert _canonical(_RECORDS[1]) == _VECTORS["canonical_of_record_1"]


@pytest.mark.parametrize("record", _RECORDS, ids=lambda record: str(record["seq"]))
def test_hash_and_signature_of_every_known_record(record: dict[str, Any]) -> None:
    assert chain.hash_of(_canonical(record)) == record["hash"]
    key = load_pem_public_key(_VECTORS["public_keys"][record["key_id"]].encode())
    assert isinstance(key, Ed25519PublicKey)
    key.verify(chain.decoded_signature(record["signature"]), record["hash"].encode())


def test_key_ids_are_made_of_the_raw_public_key() -> None:
    for key_id, pem in _VECTORS["public_keys"].items():
        key = load_pem_public_key(pem.encode())
        assert isinstance(key, Ed25519PublicKey)
        assert chain.key_id_of(key) == key_id


@pytest.mark.parametrize(
    "payload", [{"x": 0.5}, {"x": 2**53}, {"x": [{"y": -(2**53)}]}, {"x": float("nan")}, {"x": b"bytes"}]
)
def test_what_is_not_exact_cannot_be_recorded(payload: dict[str, Any]) -> None:
    with pytest.raises(NotRecordableError):
        chain.canonical(0, "2026-11-29T10:00:00.000000Z", "x", payload, chain.GENESIS)


def test_a_signing_key_of_another_kind_or_with_a_wrong_passphrase_is_refused(signer: Signer) -> None:
    with pytest.raises(ValueError, match="encrypted"):
        Signer.from_pem(signer.private_pem(), b"a passphrase that it does not have")
    assert Signer.from_pem(signer.private_pem()).key_id == signer.key_id
    assert Signer(Ed25519PrivateKey.generate(), "release-2026").key_id == "release-2026"


def test_the_hour_that_comes_twice_is_two_hours() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert [chain.timestamp(first), chain.timestamp(first.replace(fold=1))] == [
        "2026-10-25T00:30:00.000000Z",
        "2026-10-25T01:30:00.000000Z",
    ]
