"""The keys of a laptop: one for every part in the play, in one file that only its owner can read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from app.audit.lane import Lane
from app.cli.refused import unless_refused
from app.cli.store import OPERATOR, Store
from app.core.refusals import Refusal
from app.identity import authority, credentials, tenants
from app.identity.credentials import IssuedKey, NewKey
from app.identity.principals import Statement

_OWNER_ONLY = 0o600
_FIRST = "admin"

# Each is a principal and an owner of its own, so that everybody can play everybody: who asks cannot approve.
_CAST: Mapping[str, NewKey] = {
    "agent": NewKey(Statement("agent", "agent"), frozenset({"agent"})),
    "agent2": NewKey(Statement("agent2", "agent"), frozenset({"agent"})),
    "approver": NewKey(Statement("approver", "human", roles=frozenset({"approver"})), frozenset({"approver"})),
    "approver2": NewKey(Statement("approver2", "human", roles=frozenset({"approver"})), frozenset({"approver"})),
    "operator": NewKey(Statement("operator", "human"), frozenset({"operator"})),
    "policy_admin": NewKey(Statement("policy_admin", "human"), frozenset({"policy_admin"})),
    "auditor": NewKey(Statement("auditor", "human"), frozenset({"auditor"})),
    _FIRST: NewKey(Statement(_FIRST, "human"), frozenset({"admin"})),
}


async def ensure(opened: Store, tenant: str, file: Path) -> Mapping[str, str]:
    """See that the tenant is there and that the file holds a key in force for every part, and return the keys."""
    keys = await _in_force(opened, tenant, file)
    for name, new_key in _CAST.items():
        if name not in keys:
            keys[name] = await _make(opened, tenant, new_key)
    ordered = {name: keys[name] for name in _CAST}
    _write(file, ordered)
    return ordered


async def _in_force(opened: Store, tenant: str, file: Path) -> dict[str, str]:
    known = await opened.database.read(lambda reader: authority.load(reader, tenant))
    if known is None:
        issued = unless_refused(await tenants.create(opened.lanes, tenant, _CAST[_FIRST], OPERATOR))
        return {_FIRST: issued.key}
    return {name: key for name, key in _read(file).items() if _id_of(key) in known.credentials}


def _read(file: Path) -> dict[str, str]:
    keys: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    return keys


def _id_of(key: str) -> str | None:
    presented = credentials.parse(key)
    return None if presented is None else presented.id


async def _make(opened: Store, tenant: str, new_key: NewKey) -> str:
    async def issue(lane: Lane) -> IssuedKey | Refusal:
        return await credentials.issue(lane, new_key, OPERATOR)

    return unless_refused(await opened.lanes.run(tenant, issue)).key


def _write(file: Path, keys: Mapping[str, str]) -> None:
    beside = file.with_suffix(".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(descriptor, "w") as opened:
        json.dump(keys, opened, indent=2)
        opened.write("\n")
    beside.replace(file)
