"""Making the key that signs the record."""

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

_OWNER_ONLY = 0o600


def make(path: Path, passphrase: bytes | None = None) -> None:
    """Write a new Ed25519 key as PKCS#8 PEM, readable by its owner only.

    Raises:
        FileExistsError: there is a file already; a signing key is never overwritten.
    """
    encryption: KeySerializationEncryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)


def make_unless_there(path: Path) -> None:
    """Make the key if there is none."""
    if not path.exists():
        make(path)
