"""API keys: `csk_<id>_<secret>`, shown once; of the secret only its SHA-256 is kept.

A secret has 256 random bits, so a fast hash is enough: there is nothing to guess. An id begins with its tenant, so that
a key needs no table over all tenants to be found by.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import text

from app.audit.lane import Lane
from app.core.chain import timestamp
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.database import Reader
from app.db.statements import Row
from app.identity import principals, rights
from app.identity.authority import Authority, Identity, Principal
from app.identity.principals import Statement
from app.identity.rights import BUNDLES, SYSTEM_TENANT, Right

_PREFIX = "csk_"
_SECRET_BYTES = 32
_ID_BYTES = 10

_FORM = re.compile(
    rf"{_PREFIX}(?P<id>(?P<tenant>[a-z0-9-]{{1,63}})-[0-9a-f]{{{2 * _ID_BYTES}}})_(?P<secret>[A-Za-z0-9_-]{{43}})",
    re.ASCII,
)

_INSERT = text("""
    INSERT INTO credentials
        (tenant, id, principal, secret_sha256, environment, bundles, rights, speak_for, created_at, created_by,
         expires_at)
    VALUES
        (:tenant, :id, :principal, :secret_sha256, :environment, :bundles, :rights, :speak_for, :now, :by,
         :expires_at)
""")

_ROTATE = text("""
    UPDATE credentials SET secret_sha256 = :secret_sha256
    WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
    RETURNING principal
""")

_REVOKE = text("""
    UPDATE credentials SET revoked_at = :now WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL
    RETURNING principal
""")

_EXISTS = text("SELECT id FROM credentials WHERE tenant = :tenant AND id = :id")

_LIST = text("""
    SELECT c.id, c.principal, p.kind, p.owner, p.roles, c.environment, c.bundles, c.rights, c.speak_for, c.created_at,
        c.created_by, c.expires_at, c.revoked_at
    FROM credentials c JOIN principals p ON p.tenant = c.tenant AND p.name = c.principal
    WHERE c.tenant = :tenant AND c.id > :after
        AND (CAST(:principal AS text) IS NULL OR c.principal = CAST(:principal AS text))
    ORDER BY c.id LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that is asked for: whose it shall be, and what it may do."""

    principal: Statement
    bundles: frozenset[str] = frozenset()
    rights: frozenset[str] = frozenset()
    speak_for: frozenset[str] = frozenset()
    environment: str = ""
    expires_in: timedelta | None = None

    def all_rights(self) -> frozenset[str]:
        """Return the rights that the bundles and the single ones give together."""
        return rights.of(self.bundles, self.rights)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key as it is shown once. `findings` are sentences about what is odd about it."""

    id: str
    key: str = field(repr=False)
    principal: str
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """The parts of a key that somebody presents."""

    tenant: str
    id: str
    secret: str = field(repr=False)

    def identity(self, authority: Authority, now: datetime) -> Identity | None:
        """Return who holds this key, or None if nobody does or it has expired."""
        return authority.authenticate(self.id, self.secret, now)


def parse(key: str) -> Presented | None:
    """Return the parts of a key, or None if it has not the form of one."""
    found = _FORM.fullmatch(key)
    return None if found is None else Presented(found["tenant"], found["id"], found["secret"])


async def issue(lane: Lane, new: NewKey, by: str) -> IssuedKey | Refusal:
    """Make a key, and its principal if there is none of that name yet."""
    refused = inadmissible(lane.head.tenant, new)
    if refused is not None:
        return refused
    principal = await principals.agreeing(lane, new.principal, by)
    if isinstance(principal, Refusal):
        return principal
    credential_id, secret = f"{lane.head.tenant}-{secrets.token_hex(_ID_BYTES)}", secrets.token_urlsafe(_SECRET_BYTES)
    expires_at = None if new.expires_in is None else lane.now + new.expires_in
    await lane.tx.write(_INSERT, _row(lane, new, credential_id, secret, expires_at) | {"by": by})
    _record(lane, "credential.created", principal, {**_facts(new, credential_id, expires_at), "by": by})
    return IssuedKey(credential_id, f"{_PREFIX}{credential_id}_{secret}", principal.name, findings(new))


async def rotate(lane: Lane, credential_id: str, by: str) -> IssuedKey | Refusal:
    """Give a key another secret; the one before is worth nothing from then on."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    parameters = {"secret_sha256": _sha256(secret), "now": lane.now}
    row = await lane.tx.row(_ROTATE, _named(lane, credential_id) | parameters)
    if row is None and await lane.tx.row(_EXISTS, _named(lane, credential_id)):
        return Refusal(RefusalKind.CONFLICT, "the key is revoked or has expired; make another one")
    if row is None:
        return unknown()
    await _record_of(lane, "credential.rotated", row.principal, credential_id, by)
    return IssuedKey(credential_id, f"{_PREFIX}{credential_id}_{secret}", row.principal)


async def revoke(lane: Lane, credential_id: str, by: str) -> Refusal | None:
    """End a key for good; ending it again changes nothing."""
    row = await lane.tx.row(_REVOKE, _named(lane, credential_id) | {"now": lane.now})
    if row is not None:
        await _record_of(lane, "credential.revoked", row.principal, credential_id, by)
        return None
    return None if await lane.tx.row(_EXISTS, _named(lane, credential_id)) else unknown()


async def page(reader: Reader, tenant: str, principal: str | None, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` keys in the order of their ids, those behind `after`; never their secrets."""
    return await reader.rows(_LIST, {"tenant": tenant, "principal": principal, "after": after, "limit": limit})


def findings(new: NewKey) -> tuple[str, ...]:
    """Return what is odd about the rights of a key, in sentences."""
    given = new.all_rights()
    found = []
    if {Right.ADMIT, Right.APPROVE} <= given:
        found.append("the key may both ask and approve: nobody can approve what it asks itself; use two keys")
    if Right.APPROVE in given and new.principal.kind == "agent":
        found.append("an agent's key never decides, whatever its rights; use a key of a person")
    return tuple(found)


def unknown() -> Refusal:
    """Return the refusal that answers for a key that is not there, or is another tenant's."""
    return Refusal(RefusalKind.NOT_FOUND, "there is no such key")


def inadmissible(tenant: str, new: NewKey) -> Refusal | None:
    """Return why such a key cannot be made in the tenant, whatever else there is in it."""
    if tenant != SYSTEM_TENANT and Right.TENANTS in new.all_rights():
        detail = f"only keys of the tenant {SYSTEM_TENANT} may make tenants"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer="/bundles")
    if (Right.SPEAK_FOR in new.rights) != bool(new.speak_for):
        detail = "speak_for needs both: the right, and the principals by name in speak_for"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer="/speak_for")
    if not new.bundles and not new.rights:
        detail = f"a key needs at least one bundle ({', '.join(BUNDLES)}) or right"
        return Refusal(RefusalKind.BAD_INPUT, detail, pointer="/bundles")
    return None


def _row(lane: Lane, new: NewKey, credential_id: str, secret: str, expires_at: datetime | None) -> dict[str, object]:
    return _named(lane, credential_id) | {
        "principal": new.principal.name,
        "secret_sha256": _sha256(secret),
        "environment": new.environment,
        "bundles": sorted(new.bundles),
        "rights": sorted(new.rights),
        "speak_for": sorted(new.speak_for),
        "now": lane.now,
        "expires_at": expires_at,
    }


def _named(lane: Lane, credential_id: str) -> dict[str, object]:
    return {"tenant": lane.head.tenant, "id": credential_id}


def _facts(new: NewKey, credential_id: str, expires_at: datetime | None) -> dict[str, Json]:
    return {
        "credential": credential_id,
        "environment": new.environment,
        "bundles": sorted(new.bundles),
        "rights": sorted(new.all_rights()),
        "speak_for": sorted(new.speak_for),
        "expires_at": None if expires_at is None else timestamp(expires_at),
    }


async def _record_of(lane: Lane, event_type: str, name: str, credential_id: str, by: str) -> None:
    principal = await principals.find(lane.tx, lane.head.tenant, name)
    if principal is None:
        raise LookupError("a key without its principal")  # the foreign key forbids it
    _record(lane, event_type, principal, {"credential": credential_id, "by": by})


def _record(lane: Lane, event_type: str, principal: Principal, payload: Mapping[str, Json]) -> None:
    lane.head.authority_epoch += 1
    lane.journal.append(event_type, {**principals.facts(principal), **payload}, principal=principal.name)


def _sha256(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
