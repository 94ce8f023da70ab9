"""Permits: a signed statement, for the tool that acts, that this very call was admitted.

A JWT (RFC 7519) with a type of its own (RFC 8725, section 3.11), signed with Ed25519 (RFC 8032, algorithm name of
RFC 9864). A tool checks it offline against the arguments that it received: type, signature by `kid`, deadline, tenant,
action, and the SHA-256 of the arguments' RFC 8785 form.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.jwk import OKPKey

from app.core.canonical import canonical_json
from app.core.chain import Signer
from app.core.values import JsonObject

_ALGORITHM = "Ed25519"
_TYPE = "countersign-permit+jwt"


def arguments_sha256(arguments: JsonObject) -> str:
    """Return the hex of the SHA-256 of the arguments' canonical form."""
    return hashlib.sha256(canonical_json(arguments)).hexdigest()


class PermitIssuer:
    """Signs permits in the name of one service; `issuer` is its public URL."""

    def __init__(self, signer: Signer, issuer: str) -> None:
        self._issuer = issuer
        self._header = {"alg": _ALGORITHM, "typ": _TYPE, "kid": signer.key_id}
        self._key = OKPKey.import_key(signer.private_pem())

    def issue(self, claims: Mapping[str, Any], *, issued_at: datetime, expires_at: datetime) -> str:
        """Return the permit: the claims with issuer, time of issue and deadline, signed."""
        dates = {"iat": int(issued_at.timestamp()), "exp": int(expires_at.timestamp())}
        return jwt.encode(self._header, {"iss": self._issuer, **dates, **claims}, self._key, algorithms=[_ALGORITHM])


def public_jwk(pem: str, key_id: str) -> dict[str, Any]:
    """Return a public key as a JWK (RFC 7517, RFC 8037)."""
    key: dict[str, Any] = OKPKey.import_key(pem).as_dict(private=False)
    return {**key, "kid": key_id, "alg": _ALGORITHM, "use": "sig"}
