"""The hash chain of the record: canonical bytes, hashes and signatures (Ed25519, RFC 8032)."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, cast

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.core.values import GREATEST_INTEGER, Json

GENESIS = "0" * 64

_PLAIN: Final = frozenset({str, bool, type(None)})
# Made once: making an encoder, and looking for cycles that the check before has ruled out, took as long as encoding.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)


class NotRecordableError(TypeError):
    """A payload holds what the canonical form has no place for: a fraction, an integer too great, another type."""


def timestamp(moment: datetime) -> str:
    """Return the moment as RFC 3339 in UTC with microseconds: `2026-11-29T10:00:00.000000Z`."""
    return _written(moment.astimezone(UTC))


# A group has one moment, which stands in many places. It is in UTC by then: in a zone, the two hours of a night in
# autumn that are called the same are equal too.
@lru_cache(maxsize=1024)
def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def canonical(seq: int, ts: str, event_type: str, payload: Mapping[str, Json], prev_hash: str) -> str:
    """Return the ASCII text whose SHA-256 is the record's hash: keys sorted, no spaces, lower-case escapes.

    Raises:
        NotRecordableError: the payload holds a fraction, an integer beyond 2^53-1, or something that is not JSON.
    """
    _check_recordable(payload)
    fields = {"seq": seq, "ts": ts, "event_type": event_type, "payload": payload, "prev_hash": prev_hash}
    return _ENCODER.encode(fields)


def _check_recordable(value: object) -> None:
    kind = type(value)
    if kind in _PLAIN or (kind is int and -GREATEST_INTEGER <= cast("int", value) <= GREATEST_INTEGER):
        return
    if isinstance(value, dict):
        members: Iterable[object] = value.values()
    elif isinstance(value, (list, tuple)):
        members = value
    elif isinstance(value, str):
        return
    else:
        raise NotRecordableError(f"a record cannot hold this {kind.__name__}")
    for member in members:
        # Most members are plain; asked here, they cost no call.
        if type(member) not in _PLAIN:
            _check_recordable(member)


def hash_of(canonical_text: str) -> str:
    """Return the SHA-256 of the canonical text as 64 hex characters."""
    return hashlib.sha256(canonical_text.encode("ascii")).hexdigest()


def key_id_of(public_key: Ed25519PublicKey) -> str:
    """Return the default name of a key: the first 16 hex characters of the SHA-256 of its 32 raw bytes."""
    raw = public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()[:16]


def public_pem(public_key: Ed25519PublicKey) -> str:
    """Return the key as SubjectPublicKeyInfo PEM (RFC 8410)."""
    return public_key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode(
        "ascii"
    )


class Signer:
    """A private key with its name."""

    def __init__(self, private_key: Ed25519PrivateKey, key_id: str | None = None) -> None:
        self._private_key = private_key
        self.public_key = private_key.public_key()
        self.key_id = key_id or key_id_of(self.public_key)

    @classmethod
    def from_pem(cls, pem: bytes, passphrase: bytes | None = None, key_id: str | None = None) -> "Signer":
        """Return the signer of a PKCS#8 PEM.

        Raises:
            ValueError: the PEM cannot be read, the passphrase is wrong, or the key is not Ed25519.
        """
        try:
            key = serialization.load_pem_private_key(pem, passphrase)
        except TypeError as error:
            raise ValueError("the signing key is encrypted and no passphrase is set, or the other way round") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("the signing key is not an Ed25519 key")  # noqa: TRY004 - the file is at fault
        return cls(key, key_id)

    def private_pem(self) -> bytes:
        """Return the key as unencrypted PKCS#8 PEM, for a library that signs with it in memory."""
        return self._private_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def derive(self, purpose: str) -> bytes:
        """Return 32 secret bytes for one purpose (HKDF, RFC 5869): the same wherever this key signs."""
        raw = self._private_key.private_bytes(
            serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        )
        return HKDF(hashes.SHA256(), length=32, salt=None, info=f"countersign: {purpose}".encode()).derive(raw)

    def sign(self, record_hash: str) -> str:
        """Return the base64 of the signature over the 64 characters of the hash."""
        return base64.b64encode(self._private_key.sign(record_hash.encode("ascii"))).decode("ascii")


def decoded_signature(text: str) -> bytes:
    """Return the bytes of a signature.

    Raises:
        ValueError: the text is not base64.
    """
    return base64.b64decode(text, validate=True)
