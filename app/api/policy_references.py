"""A policy as a body refers to it: a document that is sent along, or a revision that is stored."""

from dataclasses import dataclass

from app.api.models.what_ifs import PolicyReference
from app.api.policy_documents import compiled
from app.api.requests import Request
from app.core.policy import Policy
from app.core.refusals import RefusalKind
from app.door.problems import Fault, RefusedError
from app.policies.active import MissingRevisionError


@dataclass(frozen=True, slots=True)
class Referred:
    """A compiled policy, and its revision if it is stored."""

    policy: Policy
    revision: int | None


async def referred(request: Request, reference: PolicyReference, under: str) -> Referred:
    """Return what the member at the pointer `under` refers to.

    Raises:
        RefusedError: the document does not load, or there is no such revision.
    """
    if not isinstance(reference, int):
        return Referred(await compiled(reference, under), None)
    house = request.house
    try:
        found = await house.database.read(
            lambda reader: house.facts.policies.get(reader, request.caller.tenant, reference)
        )
    except MissingRevisionError as error:
        detail = f"there is no {error}"
        raise RefusedError(RefusalKind.NOT_FOUND, detail, (Fault(detail, under),)) from None
    return Referred(found.policy, found.revision)
