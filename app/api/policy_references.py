"""A policy as a body refers to it: a document that is sent along, or a revision that is stored."""

from dataclasses import dataclass

from app.api.models.what_ifs import PolicyReference
from app.api.policy_documents import compiled
from app.api.requests import Request
from app.core.policy import Policy
from app.core.policy.documents import Document
from app.core.refusals import RefusalKind
from app.db.ids import BEYOND_ANY
from app.door.problems import Fault, RefusedError
from app.policies import revisions


@dataclass(frozen=True, slots=True)
class Referred:
    """A compiled document, and its revision if it is stored."""

    document: Document
    revision: int | None

    @property
    def policy(self) -> Policy:
        """Return the policy that the document is."""
        return self.document.policy


async def referred(request: Request, reference: PolicyReference, under: str) -> Referred:
    """Return what the member at the pointer `under` refers to.

    Raises:
        RefusedError: the document does not load, or there is no such revision.
    """
    if not isinstance(reference, int):
        return Referred(await compiled(reference, under), None)
    stored = await request.house.database.read(
        lambda reader: revisions.read(reader, request.caller.tenant, min(reference, BEYOND_ANY))
    )
    if stored is None:
        detail = f"there is no revision {reference}"
        raise RefusedError(RefusalKind.NOT_FOUND, detail, (Fault(detail, under),))
    return Referred(await compiled(stored.document, under), stored.revision)
