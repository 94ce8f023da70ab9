"""Who may do what in a tenant, as one immutable snapshot under one epoch, and where it is kept."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text

from app.audit.heads import UnknownTenantError
from app.core.actions import Caller
from app.db.database import Reader
from app.identity import rights

_LOAD = text("""
    SELECT heads.authority_epoch,
        (SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') FROM principals p WHERE p.tenant = heads.tenant) AS principals,
        (SELECT coalesce(jsonb_agg(to_jsonb(c) || jsonb_build_object('sha256', encode(c.secret_sha256, 'hex'))), '[]')
            FROM credentials c WHERE c.tenant = heads.tenant AND c.revoked_at IS NULL) AS credentials,
        (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.id), '[]')
            FROM revocations r WHERE r.tenant = heads.tenant AND r.lifted_at IS NULL) AS revocations
    FROM heads WHERE heads.tenant = :tenant
""")


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody or something that asks, owns or decides. `kind` is agent, service or human."""

    name: str
    kind: str
    owner: str
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Credential:
    """An API key that is not revoked: whose it is, and what it may do. `rights` are all that it gives."""

    id: str
    principal: str
    secret_sha256: bytes
    environment: str
    rights: frozenset[str]
    speak_for: frozenset[str]
    expires_at: datetime | None

    def valid(self, now: datetime) -> bool:
        """Return whether it has not expired; it is over exactly at its time."""
        return self.expires_at is None or now < self.expires_at

    def opens_with(self, secret: str) -> bool:
        """Return whether this is its secret, in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), self.secret_sha256)


@dataclass(frozen=True, slots=True)
class Revocation:
    """A kill switch that is on: for a principal, for an action, or (both None) for the whole tenant."""

    id: str
    principal: str | None
    action: str | None
    reason: str

    def covers(self, principal: str, action: str) -> bool:
        """Return whether it stops this principal from this action."""
        return self.principal in {None, principal} and self.action in {None, action}

    def sentence(self) -> str:
        """Return what is revoked and why, for whoever is stopped by it."""
        subject = "the principal" if self.principal else "the action" if self.action else "every action of the tenant"
        return f"{subject} is revoked: {self.reason}"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who authenticated, by which credential, under which epoch; `speak_for` are principals it may name as itself."""

    caller: Caller
    credential_id: str
    speak_for: frozenset[str]
    epoch: int


@dataclass(frozen=True, slots=True)
class Authority:
    """Everything of a tenant that says who may do what, under one epoch. Delegations are with the approvals."""

    tenant: str
    epoch: int
    principals: Mapping[str, Principal]
    credentials: Mapping[str, Credential]
    revocations: tuple[Revocation, ...]

    def authenticate(self, credential_id: str, secret: str, now: datetime) -> Identity | None:
        """Return who holds this key, or None if nobody does or it has expired."""
        credential = self.credentials.get(credential_id)
        if credential is None or not credential.opens_with(secret):
            return None
        return self._identity(credential, now)

    def caller(self, credential_id: str, now: datetime) -> Caller | None:
        """Return whom an authenticated credential stands for today, or None if it is revoked or has expired.

        This is what a lane asks, under the head's lock, of a credential that was authenticated a moment before.
        """
        identity = self.identity(credential_id, now)
        return None if identity is None else identity.caller

    def identity(self, credential_id: str, now: datetime) -> Identity | None:
        """Return the same with the credential's own facts: for who has shown in another way that it is theirs."""
        credential = self.credentials.get(credential_id)
        return None if credential is None else self._identity(credential, now)

    def revoked(self, principal: str, action: str) -> str | None:
        """Return a sentence about the revocation that stops this principal from this action, or None."""
        found = next((revocation for revocation in self.revocations if revocation.covers(principal, action)), None)
        return None if found is None else found.sentence()

    def is_revoked(self, principal: str) -> bool:
        """Return whether the principal itself is revoked, whatever it asks."""
        return any(found.principal == principal for found in self.revocations)

    def _identity(self, credential: Credential, now: datetime) -> Identity | None:
        principal = self.principals[credential.principal]
        if not credential.valid(now):
            return None
        caller = Caller(
            tenant=self.tenant,
            principal=principal.name,
            kind=principal.kind,
            owner=principal.owner,
            environment=credential.environment,
            roles=principal.roles,
            rights=self._rights_today(credential),
        )
        return Identity(caller, credential.id, credential.speak_for, self.epoch)

    def _rights_today(self, credential: Credential) -> frozenset[str]:
        if self.is_revoked(credential.principal):
            return credential.rights & rights.WHILE_REVOKED
        return credential.rights


async def load(reader: Reader, tenant: str) -> Authority | None:
    """Read the tenant's authority in one statement, so that all of it is of one moment; None if there is no tenant."""
    row = await reader.row(_LOAD, {"tenant": tenant})
    if row is None:
        return None
    return Authority(
        tenant=tenant,
        epoch=row.authority_epoch,
        principals={found["name"]: _principal(found) for found in row.principals},
        credentials={found["id"]: _credential(found) for found in row.credentials},
        revocations=tuple(map(_revocation, row.revocations)),
    )


def _principal(row: Mapping[str, Any]) -> Principal:
    return Principal(row["name"], row["kind"], row["owner"], frozenset(row["roles"]))


def _credential(row: Mapping[str, Any]) -> Credential:
    return Credential(
        id=row["id"],
        principal=row["principal"],
        secret_sha256=bytes.fromhex(row["sha256"]),
        environment=row["environment"],
        rights=rights.of(row["bundles"], row["rights"]),
        speak_for=frozenset(row["speak_for"]),
        expires_at=_moment(row["expires_at"]),
    )


def _revocation(row: Mapping[str, Any]) -> Revocation:
    return Revocation(row["id"], row["principal"], row["action"], row["reason"])


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


class AuthorityCache:
    """The authority of each tenant as this process has read it last."""

    def __init__(self) -> None:
        self._held: dict[str, Authority] = {}

    def newest(self, tenant: str) -> Authority | None:
        """Return what was read last, whatever its epoch."""
        return self._held.get(tenant)

    def held(self, tenant: str, epoch: int) -> Authority | None:
        """Return the authority of this epoch if it is in memory."""
        found = self._held.get(tenant)
        return found if found is not None and found.epoch == epoch else None

    async def at(self, reader: Reader, tenant: str, epoch: int) -> Authority:
        """Return the authority of this epoch, reading it if it is not in memory.

        Without the tenant's lock what is read may be of a later epoch; under it, it is of this one.

        Raises:
            UnknownTenantError: there is no such tenant.
        """
        found = self.held(tenant, epoch) or await load(reader, tenant)
        if found is None:
            raise UnknownTenantError(tenant)
        self._held[tenant] = found
        return found
