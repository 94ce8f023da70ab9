"""Principals: who can ask, own and decide, and the roles that they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from app.audit.lane import Lane
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.database import Reader
from app.db.statements import Row
from app.identity.authority import Principal

_FIND = text("SELECT name, kind, owner, roles FROM principals WHERE tenant = :tenant AND name = :name")

_PUT = text("""
    INSERT INTO principals (tenant, name, kind, owner, roles, created_at, changed_at)
    VALUES (:tenant, :name, :kind, :owner, :roles, :now, :now)
    ON CONFLICT (tenant, name) DO UPDATE SET owner = excluded.owner, roles = excluded.roles, changed_at = :now
""")

_LIST = text("""
    SELECT name, kind, owner, roles, created_at, changed_at FROM principals
    WHERE tenant = :tenant AND name > :after ORDER BY name LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of a principal. `owner` and `roles` may be left unsaid (None)."""

    name: str
    kind: str
    owner: str | None = None
    roles: frozenset[str] | None = None


async def put(lane: Lane, said: Statement, by: str) -> Principal | Refusal:
    """Make the principal, or change its owner and roles to what is said; what is left unsaid stays as it is.

    A new principal is its own owner and has no roles unless something else is said. Its kind never changes, since
    what agents did must not become what a person did.
    """
    found = await find(lane.tx, lane.head.tenant, said.name)
    if found is not None and found.kind != said.kind:
        return _other_kind(found, said)
    wanted = _filled(said, found)
    if wanted != found:
        await _store(lane, wanted, by)
    return wanted


async def agreeing(lane: Lane, said: Statement, by: str) -> Principal | Refusal:
    """Return the principal if all that is said of it is so; make it if there is none of that name."""
    found = await find(lane.tx, lane.head.tenant, said.name)
    if found is None:
        return await put(lane, said, by)
    if found.kind != said.kind:
        return _other_kind(found, said)
    if _filled(said, found) != found:
        return Refusal(
            RefusalKind.CONFLICT,
            f"the principal {said.name} exists with another owner or other roles; leave them out, or change them "
            "first with POST /v1/principals",
        )
    return found


async def find(reader: Reader, tenant: str, name: str) -> Principal | None:
    """Return the principal of that name."""
    row = await reader.row(_FIND, {"tenant": tenant, "name": name})
    return None if row is None else Principal(row.name, row.kind, row.owner, frozenset(row.roles))


async def page(reader: Reader, tenant: str, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` principals in the order of their names, those behind `after`."""
    return await reader.rows(_LIST, {"tenant": tenant, "after": after, "limit": limit})


def _filled(said: Statement, found: Principal | None) -> Principal:
    return Principal(
        name=said.name,
        kind=said.kind,
        owner=said.owner or (found.owner if found else said.name),
        roles=said.roles if said.roles is not None else (found.roles if found else frozenset()),
    )


async def _store(lane: Lane, principal: Principal, by: str) -> None:
    parameters = {
        "tenant": lane.head.tenant,
        "name": principal.name,
        "kind": principal.kind,
        "owner": principal.owner,
        "roles": sorted(principal.roles),
        "now": lane.now,
    }
    await lane.tx.write(_PUT, parameters)
    lane.head.authority_epoch += 1
    lane.journal.append("principal.changed", {**facts(principal), "by": by}, principal=principal.name)


def facts(principal: Principal) -> Mapping[str, Json]:
    """Return what the record says of a principal."""
    return {
        "principal": principal.name,
        "kind": principal.kind,
        "owner": principal.owner,
        "roles": sorted(principal.roles),
    }


def _other_kind(found: Principal, said: Statement) -> Refusal:
    return Refusal(
        RefusalKind.CONFLICT,
        f"the principal {found.name} is of the kind {found.kind}, which never changes; name another principal for the "
        f"kind {said.kind}",
    )
