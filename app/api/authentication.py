"""The door: who asks, and whether the route's right is theirs. It looks at nothing but headers."""

from app.api.problems import RefusedError
from app.api.requests import Request
from app.api.rights import Entry, Freshness
from app.core.refusals import RefusalKind
from app.identity import credentials
from app.identity.authority import Identity
from app.identity.credentials import Presented
from app.identity.watch import Sight, Watch

_SCHEME = "bearer "
_A_SECOND = 1.0


async def enter(request: Request, entry: Entry | None) -> None:
    """Let the request through, with who asks written on it, or refuse it.

    Raises:
        RefusedError: 401 without a valid key, 403 without a right that the route takes.
    """
    if entry is None:
        raise RefusedError(RefusalKind.FORBIDDEN, "no right leads to this route")
    if entry.rights is None:
        return
    identity, sight = await _authenticate(request, entry.freshness)
    request.scope["caller"] = identity.caller
    request.scope["credential_id"] = identity.credential_id
    request.scope["speak_for"] = identity.speak_for
    request.scope["sight"] = sight
    if not entry.admits(identity.caller.rights):
        raise _lacking(entry)


async def _authenticate(request: Request, freshness: Freshness) -> tuple[Identity, Sight]:
    presented = _presented(request.headers.get("authorization"))
    watch = request.house.watch
    sight = await _sight(watch, presented.tenant, freshness)
    identity = _identity(sight, presented)
    if identity is None and freshness is not Freshness.NOW:
        # Memory may be behind a key that was made just now; only what is as of now refuses.
        sight = await watch.fresh(presented.tenant)
        identity = _identity(sight, presented)
    if sight is None or identity is None:
        raise _unauthenticated("the key is unknown, revoked or has expired")
    return identity, sight


async def _sight(watch: Watch, tenant: str, freshness: Freshness) -> Sight | None:
    if freshness is Freshness.LANE:
        return watch.last(tenant)
    if freshness is Freshness.SECOND:
        return await watch.within(tenant, _A_SECOND)
    return await watch.fresh(tenant)


def _identity(sight: Sight | None, presented: Presented) -> Identity | None:
    if sight is None:
        return None
    return sight.authority.authenticate(presented.id, presented.secret, sight.now())


def _presented(header: str | None) -> Presented:
    if header is None:
        raise _unauthenticated("send a key as `Authorization: Bearer csk_…`")
    if header[: len(_SCHEME)].lower() != _SCHEME:
        raise _unauthenticated("the Authorization header has to be of the scheme Bearer")
    presented = credentials.parse(header[len(_SCHEME) :].strip())
    if presented is None:
        raise _unauthenticated("this is not a key of this service; they begin with csk_")
    return presented


def _unauthenticated(detail: str) -> RefusedError:
    return RefusedError(RefusalKind.UNAUTHENTICATED, detail)


def _lacking(entry: Entry) -> RefusedError:
    wanted = " or ".join(sorted(entry.rights or ()))
    return RefusedError(RefusalKind.FORBIDDEN, f"this needs the right {wanted}, which the key does not have")
