"""The canonical form of JSON (RFC 8785) and digests over it."""

import hashlib
from typing import Any, cast

import rfc8785

from app.core.values import Json


def canonical_json(value: Json) -> bytes:
    """Return the RFC 8785 form of the value as UTF-8: 1.0 and 1 are the same bytes, 1 and "1" are not."""
    return rfc8785.dumps(cast(Any, value))


def digest(value: Json) -> str:
    """Return `sha256:` and the hex of the SHA-256 of the value's canonical form."""
    return f"sha256:{hashlib.sha256(canonical_json(value)).hexdigest()}"
