"""Webhooks' secrets, and their seals: a copy of the database alone lets nobody sign in the service's name.

A secret is encrypted with AES-256-GCM, bound to the webhook whose it is, so that a sealed secret moved to another row
does not open. Keys are derived (HKDF-SHA256, RFC 5869) from what an operator keeps outside the database.
"""

import base64
import binascii
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PREFIX: Final = "whsec_"
"""How every secret begins (Standard Webhooks 1.0)."""

_SECRET_BYTES = 32  # the standard asks for 24 to 64
_PURPOSE = b"countersign webhook secrets v1"
_NONCE_BYTES = 12  # NIST SP 800-38D, section 8.2.1


def new_secret() -> str:
    """Return a new secret: `whsec_` and the base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


class SealError(Exception):
    """A sealed secret does not open with any key of this service."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed secret and the webhook whose it is."""

    tenant: str
    webhook_id: str
    text: str = field(repr=False)


class Sealer:
    """Seals with the first key and opens with any, so that keys can be changed one after the other."""

    def __init__(self, materials: Sequence[bytes]) -> None:
        if not materials:
            raise ValueError("sealing needs at least one key")
        self._keys = [AESGCM(_derived(material)) for material in materials]

    def seal(self, tenant: str, webhook_id: str, secret: str) -> Sealed:
        """Seal the secret of a webhook."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        content = self._keys[0].encrypt(nonce, secret.encode(), _bound_to(tenant, webhook_id))
        return Sealed(tenant, webhook_id, base64.b64encode(nonce + content).decode("ascii"))

    def open(self, sealed: Sealed) -> str:
        """Return the secret.

        Raises:
            SealError: it was sealed with a key that is not here any more, or for another webhook, or is damaged.
        """
        content, bound = _decoded(sealed.text), _bound_to(sealed.tenant, sealed.webhook_id)
        for key in self._keys:
            try:
                return key.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], bound).decode()
            except (InvalidTag, ValueError):
                continue
        raise SealError


def _derived(material: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(material)


def _bound_to(tenant: str, webhook_id: str) -> bytes:
    return f"{tenant}/{webhook_id}".encode()


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise SealError from None
