"""Who is let in: somebody known by what they show, with a right that the route takes. It looks at no body."""

from datetime import datetime
from typing import Protocol

from app.core.refusals import RefusalKind
from app.door.problems import RefusedError
from app.door.requests import Request
from app.door.rights import Entry, Freshness
from app.identity.authority import Authority, Identity
from app.identity.watch import Sight, Watch

_A_SECOND = 1.0


class Proof(Protocol):
    """What somebody shows to be known by: a key, or the session that a key has opened."""

    @property
    def tenant(self) -> str:
        """Return the tenant that it is of."""
        ...

    def identity(self, authority: Authority, now: datetime) -> Identity | None:
        """Return whom it stands for today, or None if it stands for nobody."""
        ...


async def enter(request: Request, entry: Entry, proof: Proof) -> None:
    """Let the request through, with who asks written on it, or refuse it.

    Raises:
        RefusedError: 401 if the proof stands for nobody, 403 without a right that the route takes.
    """
    identity, sight = await authenticate(request.house.watch, proof, entry.freshness)
    if not entry.admits(identity.caller.rights) and entry.freshness is not Freshness.NOW:
        identity, sight = await authenticate(request.house.watch, proof, Freshness.NOW)
    request.scope["caller"] = identity.caller
    request.scope["credential_id"] = identity.credential_id
    request.scope["speak_for"] = identity.speak_for
    request.scope["sight"] = sight
    if not entry.admits(identity.caller.rights):
        raise _lacking(entry)


async def authenticate(watch: Watch, proof: Proof, freshness: Freshness) -> tuple[Identity, Sight]:
    """Return whom the proof stands for, and what was seen of their tenant.

    Raises:
        RefusedError: it stands for nobody.
    """
    sight = await _sight(watch, proof.tenant, freshness)
    identity = _identity(sight, proof)
    if identity is None and freshness is not Freshness.NOW:
        # Memory may be behind a key that was made just now: as with rights, only what is as of now refuses.
        sight = await watch.fresh(proof.tenant)
        identity = _identity(sight, proof)
    if sight is None or identity is None:
        raise RefusedError(RefusalKind.UNAUTHENTICATED, "the key is unknown, revoked or has expired")
    return identity, sight


async def _sight(watch: Watch, tenant: str, freshness: Freshness) -> Sight | None:
    if freshness is Freshness.LANE:
        return watch.last(tenant)
    if freshness is Freshness.SECOND:
        return await watch.within(tenant, _A_SECOND)
    return await watch.fresh(tenant)


def _identity(sight: Sight | None, proof: Proof) -> Identity | None:
    return None if sight is None else proof.identity(sight.authority, sight.now())


def _lacking(entry: Entry) -> RefusedError:
    wanted = " or ".join(sorted(entry.rights or ()))
    return RefusedError(RefusalKind.FORBIDDEN, f"this needs the right {wanted}, which the key does not have")
