"""The records of an export: how a line is read, and which bytes of it were hashed and signed."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from countersign._json import load

GENESIS = "0" * 64
"""What stands for the hash before the first record."""

_GREATEST_INTEGER = 2**53 - 1
_HASHED = frozenset({"seq", "ts", "event_type", "payload", "prev_hash"})
_SEALED = _HASHED | {"hash"}
_SIGNED = _SEALED | {"key_id", "signature"}
_TS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Record:
    """One line as read: its members are all there, and nothing is known of them yet."""

    members: Mapping[str, Any]

    @property
    def signed(self) -> bool:
        """Whether the record has a signature and the name of a key."""
        return "signature" in self.members

    def __getitem__(self, name: str) -> Any:
        return self.members[name]


def read(line: bytes) -> Record:
    """Return the record that a line is.

    Raises:
        ValueError: it is not JSON, has a member twice, or has a member too many or too few.
    """
    members = load(line)
    if not isinstance(members, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - one error for whatever is wrong with a line
    names = members.keys()
    if names not in (_SIGNED, _SEALED):
        strange = sorted((names - _SIGNED) | (_SEALED - names)) or sorted(_SIGNED - names)
        raise ValueError(f"it has a member too many or too few: {strange[0]!r}")
    return Record(members)


def canonical(record: Record) -> bytes:
    """Return the bytes that were hashed: five members, keys sorted, no spaces, non-ASCII as lower-case escapes.

    Raises:
        ValueError: a value has no canonical form: a fraction, an integer beyond 2^53-1, a lone surrogate.
    """
    hashed = {name: record[name] for name in _HASHED}
    _check(hashed)
    return json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest(canonical_bytes: bytes) -> str:
    """Return the hash of a record: the hex SHA-256 of its canonical bytes."""
    return hashlib.sha256(canonical_bytes).hexdigest()


def is_hash(text: object) -> bool:
    """Return whether it is 64 lower-case hex characters."""
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


def is_timestamp(text: object) -> bool:
    """Return whether it has the form of RFC 3339 in UTC with microseconds, so that order in text is order in time."""
    return isinstance(text, str) and _TS.fullmatch(text) is not None


def signature_bytes(record: Record) -> bytes:
    """Return the 64 bytes of a record's signature.

    Raises:
        ValueError: it is not canonical base64 of 64 bytes, or the key's name is not text.
    """
    text = record["signature"]
    if not isinstance(text, str) or not isinstance(record["key_id"], str):
        raise ValueError("signature and key_id are text")  # noqa: TRY004 - one error for whatever is wrong with it
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the signature is not base64") from None
    if len(decoded) != 64 or base64.b64encode(decoded).decode("ascii") != text:  # noqa: PLR2004 - RFC 8032
        raise ValueError("the signature is not the canonical base64 of 64 bytes")
    return decoded


def _check(value: Any) -> None:
    if isinstance(value, dict):
        for name, member in value.items():
            _check(name)
            _check(member)
    elif isinstance(value, list):
        for element in value:
            _check(element)
    elif isinstance(value, str):
        _check_text(value)
    elif value is not None and not isinstance(value, bool):
        _check_number(value)


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate is not text") from None


def _check_number(value: Any) -> None:
    if not isinstance(value, int):
        raise ValueError("a record holds no fractions")  # noqa: TRY004 - one error for whatever has no canonical form
    if abs(value) > _GREATEST_INTEGER:
        raise ValueError("an integer is beyond 2^53-1")
