"""The canonical form of JSON (RFC 8785) and digests over it."""

import hashlib
import json
from typing import Any, Final, cast

import rfc8785

from app.core.values import Json, JsonObject

_SIMPLE: Final = frozenset({str, int, bool, type(None)})
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), check_circular=False)


def canonical_json(value: Json) -> bytes:
    """Return the RFC 8785 form of the value as UTF-8: 1.0 and 1 are the same bytes, 1 and "1" are not."""
    if _is_simple(value):
        # Without fractions, and with names in ASCII, the standard library's C encoder gives the very same bytes, in a
        # fifth of the time; a test holds it to that.
        return _ENCODER.encode(value).encode()
    return rfc8785.dumps(cast("Any", value))


def digest(value: Json) -> str:
    """Return `sha256:` and the hex of the SHA-256 of the value's canonical form."""
    return f"sha256:{hashlib.sha256(canonical_json(value)).hexdigest()}"


def _is_simple(value: object) -> bool:
    """Return whether the value has no number but integers, and no name whose place in the order could be in doubt."""
    kind = type(value)
    if kind in _SIMPLE:
        return True
    if kind is dict:
        return all(
            name.isascii() and (type(member) in _SIMPLE or _is_simple(member))
            for name, member in cast("JsonObject", value).items()
        )
    return kind is list and all(
        type(element) in _SIMPLE or _is_simple(element) for element in cast("list[Json]", value)
    )
