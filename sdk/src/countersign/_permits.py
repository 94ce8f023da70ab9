"""Permits: what a tool checks, offline, before it does what an agent asks of it.

A permit is a JWT (RFC 7519) signed with Ed25519 (RFC 9864), made by the service with an admission. Checking one is:

 1. It has three parts in canonical base64url; header and claims are JSON objects that say nothing twice.
 2. The header names this type, Ed25519, and one of the keys that the tool trusts, and nothing that must be understood
    beyond that.
 3. The signature of that key is over these bytes.
 4. The deadline has not passed.
 5. It is for this tenant and this action.
 6. It is for these arguments: the SHA-256 of their RFC 8785 form.

What a tool still owes: to act at most once for one `admission`, which is the same in every copy of a permit.
"""

import base64
import binascii
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from countersign._errors import PermitError
from countersign._json import load

TYPE = "countersign-permit+jwt"
_ALGORITHM = "Ed25519"

_GREATEST_TIME = 2**37
"""Seconds: about the year 6300, which every datetime can say."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A permit that holds. `effects` are the keys that the admission reserved; `claims` is all that was signed."""

    tenant: str
    principal: str
    action: str
    admission: str
    effects: tuple[str, ...]
    expires_at: datetime
    claims: Mapping[str, Any] = field(repr=False)


def verify_permit(
    token: str,
    action: str,
    arguments: Mapping[str, Any],
    *,
    keys: Mapping[str, Any],
    tenant: str,
    now: float | None = None,
) -> Permit:
    """Return the permit that a token is, if it is one for this action with these arguments.

    `keys` is the JWKS that the service publishes at `/.well-known/jwks.json`, fetched beforehand; `arguments` are what
    the tool received, as JSON; `now` (seconds since the epoch) is by default the clock's.

    Raises:
        PermitError: it does not hold, or not for this call.
        ImportError: the extra `verify` is not installed.
    """
    header, claims, signed, signature = _parts(token)
    _check_signature(_key(header, keys), signature, signed)
    permit = _read(claims)
    _check_deadline(permit, time.time() if now is None else now)
    _check_call(permit, tenant, action)
    _check_arguments(claims, arguments)
    return permit


# 1. the form


def _parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    try:
        header, claims, signature = token.split(".")
        signed = f"{header}.{claims}".encode("ascii")
    except ValueError:
        raise PermitError("a permit has three parts, all of them base64url") from None
    return _object(header, "header"), _object(claims, "claims"), signed, _bytes(signature, "signature")


def _object(part: str, what: str) -> dict[str, Any]:
    try:
        value = load(_bytes(part, what))
    except ValueError as error:
        raise PermitError(f"the {what}: {error}") from None
    if not isinstance(value, dict):
        raise PermitError(f"the {what}: it is not a JSON object")
    return value


def _bytes(part: str, what: str) -> bytes:
    try:
        decoded = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise PermitError(f"the {what} is not base64url") from None
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode("ascii") != part:
        raise PermitError(f"the {what} is not canonical base64url")
    return decoded


# 2. the key


def _key(header: Mapping[str, Any], keys: Mapping[str, Any]) -> bytes:
    if header.get("typ") != TYPE:
        raise PermitError(f"the type is not {TYPE}: it may be a token for something else")
    if header.get("alg") != _ALGORITHM or "crit" in header:
        raise PermitError("the header asks for another way to verify than Ed25519")
    named = [key for key in _listed(keys) if key.get("kid") == header.get("kid") and key.get("kid") is not None]
    if len(named) != 1:
        raise PermitError("the key is not one of those that are trusted; is the JWKS up to date?")
    key, x = named[0], named[0].get("x")
    if key.get("kty") != "OKP" or key.get("crv") != "Ed25519" or not isinstance(x, str):
        raise PermitError("the key is not an Ed25519 key")
    return _bytes(x, "key")


def _listed(keys: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = keys.get("keys")
    if not isinstance(listed, list):
        raise PermitError("the keys are no JWKS: {keys: [...]}")
    return [key for key in listed if isinstance(key, Mapping)]


# 3. the signature


def _check_signature(key: bytes, signature: bytes, signed: bytes) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - the extra `verify`
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        raise PermitError("the signature does not hold") from None


# 4. the deadline


def _check_deadline(permit: Permit, now: float) -> None:
    if now >= permit.expires_at.timestamp():
        raise PermitError("the permit has expired")


# 5. the call


def _check_call(permit: Permit, tenant: str, action: str) -> None:
    if permit.tenant != tenant:
        raise PermitError("the permit is for another tenant")
    if permit.action != action:
        raise PermitError("the permit is for another action")


# 6. the arguments


def _check_arguments(claims: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    import rfc8785  # noqa: PLC0415 - the extra `verify`

    try:
        digest = hashlib.sha256(rfc8785.dumps(dict(arguments))).hexdigest()
    except (ValueError, TypeError, RecursionError):
        raise PermitError("the arguments have no canonical form: they are not JSON") from None
    if claims.get("arguments_sha256") != digest:
        raise PermitError("the permit is for other arguments")


def _read(claims: Mapping[str, Any]) -> Permit:
    expires, effects = claims.get("exp"), claims.get("effect") or []
    if not isinstance(expires, int) or isinstance(expires, bool) or not 0 <= expires < _GREATEST_TIME:
        raise PermitError("the claims have no usable `exp`")
    if not isinstance(effects, list) or not all(isinstance(effect, str) for effect in effects):
        raise PermitError("the claims have no usable `effect`")
    return Permit(
        tenant=_text(claims, "tenant"),
        principal=_text(claims, "sub"),
        action=_text(claims, "action"),
        admission=_text(claims, "jti"),
        effects=tuple(effects),
        expires_at=datetime.fromtimestamp(expires, UTC),
        claims=claims,
    )


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise PermitError(f"the claims have no usable `{name}`")
    return value
