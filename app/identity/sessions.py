"""Sessions of the console: opened with a key, told by a token, and worth nothing once the key is.

A session that runs is kept nowhere. Its token names the key and is sealed with a secret of the service together with
the hash of the key's own, so that revoking or rotating the key ends it. Only what was ended by signing out is stored.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import text

from app.db.database import Reader, Writer
from app.identity.authority import Authority, Identity

LONGEST: Final = timedelta(hours=8)
"""A working day: whoever comes back after that signs in again."""

_ID_BYTES = 16
_TOKEN = re.compile(r"(?P<credential>[a-z0-9-]{3,128})\.(?P<opened>[0-9]{1,10})\.(?P<id>[0-9a-f]{32})\.[0-9a-f]{64}")

_END = text("""
    INSERT INTO ended_sessions (tenant, id, until) VALUES (:tenant, :id, :until) ON CONFLICT (tenant, id) DO NOTHING
""")

_FORGET = text("DELETE FROM ended_sessions WHERE tenant = :tenant AND until <= :now")

_ENDED = text("SELECT 1 FROM ended_sessions WHERE tenant = :tenant AND id = :id")


@dataclass(frozen=True, slots=True)
class Session:
    """What a token says. It is true only if `identity` says so too."""

    token: str
    credential_id: str
    id: str
    opened_at: datetime
    _secret: bytes

    @property
    def tenant(self) -> str:
        """Return the tenant of the key."""
        return self.credential_id.rpartition("-")[0]

    @property
    def until(self) -> datetime:
        """Return when it ends by itself."""
        return self.opened_at + LONGEST

    def identity(self, authority: Authority, now: datetime) -> Identity | None:
        """Return whom the session stands for today: nobody if its key was revoked, rotated or has expired."""
        credential = authority.credentials.get(self.credential_id)
        if credential is None or not self.opened_at - _TOLERANCE <= now < self.until:
            return None
        right = _token(self._secret, self.credential_id, self.opened_at, self.id, credential.secret_sha256)
        if not hmac.compare_digest(right.encode(), self.token.encode()):
            return None
        return authority.identity(self.credential_id, now)


_TOLERANCE = timedelta(seconds=1)  # a token has whole seconds, and the database's clock is known to within a little


class Sessions:
    """Opens sessions and reads their tokens, with a secret that all processes of the service share."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def open(self, authority: Authority, credential_id: str, now: datetime) -> str:
        """Return the token of a new session for a key that was just presented."""
        credential = authority.credentials[credential_id]
        return _token(self._secret, credential_id, now, secrets.token_hex(_ID_BYTES), credential.secret_sha256)

    def read(self, token: str) -> Session | None:
        """Return what a token says, or None if it is no token."""
        parts = _TOKEN.fullmatch(token)
        if parts is None:
            return None
        opened_at = datetime.fromtimestamp(int(parts["opened"]), UTC)
        return Session(token, parts["credential"], parts["id"], opened_at, self._secret)


async def end(tx: Writer, session: Session, now: datetime) -> None:
    """End a session before its time, and forget of the ended ones those whose time is over anyway."""
    await tx.write(_FORGET, {"tenant": session.tenant, "now": now})
    await tx.write(_END, {"tenant": session.tenant, "id": session.id, "until": session.until})


async def is_ended(reader: Reader, session: Session) -> bool:
    """Return whether somebody signed out of the session."""
    return await reader.row(_ENDED, {"tenant": session.tenant, "id": session.id}) is not None


def _token(secret: bytes, credential_id: str, opened_at: datetime, session_id: str, key_hash: bytes) -> str:
    said = f"{credential_id}.{int(opened_at.timestamp())}.{session_id}"
    seal = hmac.new(secret, said.encode() + b"\0" + key_hash, hashlib.sha256).hexdigest()
    return f"{said}.{seal}"
