"""What can go wrong over HTTP: the one table from an error or a refusal to a status, and the door's own no.

How a problem is written is for those who write answers: as JSON (RFC 9457) by the API, as a page by the console.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from starlette.requests import ClientDisconnect

from app.approvals.waits import TooManyWaitersError
from app.audit.heads import UnknownTenantError
from app.audit.records import UnreadableRecordError
from app.core.refusals import RefusalKind
from app.db.database import StoreUnavailableError
from app.gate.desk import DeskFullError

RETRY_AFTER: Final = "1"
"""Seconds: long enough for a group to be served, or a standby to be found."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem: its status, its title, and what to do about it."""

    status: int
    title: str
    remedy: str


CATALOGUE: Final[Mapping[str, Problem]] = MappingProxyType(
    {
        RefusalKind.BAD_INPUT: Problem(
            400, "The request cannot be taken", "Each entry of `errors` names a place and what is expected there."
        ),
        RefusalKind.UNAUTHENTICATED: Problem(
            401,
            "No valid credential",
            "Send `Authorization: Bearer csk_…` with a key that is neither revoked nor over.",
        ),
        RefusalKind.FORBIDDEN: Problem(
            403, "The credential does not give this right", "Use a key with the right that `detail` names."
        ),
        "denied": Problem(403, "The action is denied", "Do not run it. `triggered` says what fired."),
        "approval-required": Problem(
            403, "A person has to approve", "Do not run it yet: wait for the approval, then send the same call again."
        ),
        RefusalKind.SPEND_LIMIT_EXCEEDED: Problem(
            403, "A spend limit leaves no room", "Wait for room, or have the limit changed; a person cannot lift it."
        ),
        RefusalKind.NOT_FOUND: Problem(
            404, "There is no such thing", "Check the id; what belongs to others answers like what does not exist."
        ),
        "method-not-allowed": Problem(405, "The resource has no such method", "`Allow` names those it has."),
        RefusalKind.CONFLICT: Problem(
            409, "The state does not allow it", "Read the resource again; `detail` says what stands in the way."
        ),
        RefusalKind.IDEMPOTENCY_CONFLICT: Problem(
            409, "The idempotency key names another request", "Send the request that it names, or use a new key."
        ),
        RefusalKind.PRECONDITION_FAILED: Problem(
            412, "It has changed since it was read", "Read it again, and send the ETag of what you have read."
        ),
        "too-large": Problem(413, "The body is too large", "Send at most 1 MiB."),
        "internal": Problem(
            500,
            "The service failed",
            "Look whether it has taken effect before you send it again; report the request's id.",
        ),
        "unavailable": Problem(
            503,
            "The service cannot answer now",
            "Do not act. Send the same again after `Retry-After` seconds; an idempotency key makes it count once.",
        ),
    }
)
"""Every problem by the last part of its type. Names are public: none is removed or reused."""

OF_ERRORS: Final[Mapping[type[Exception], tuple[str, str]]] = MappingProxyType(
    {
        UnknownTenantError: (RefusalKind.NOT_FOUND, "there is no such tenant"),
        StoreUnavailableError: (
            "unavailable",
            "the database did not answer in time; send the same again, with the idempotency key if it has one",
        ),
        UnreadableRecordError: (
            RefusalKind.CONFLICT,
            "what stands in a record's place is none; POST /v1/audit/verify says where",
        ),
        ClientDisconnect: (RefusalKind.BAD_INPUT, "the body ended before it was whole"),
        TooManyWaitersError: ("unavailable", "too many requests wait for decisions; ask again without wait"),
        DeskFullError: ("unavailable", "too many requests are waiting; nothing was changed"),
    }
)
"""What an error that reaches the app means: the kind of its problem, and a sentence."""


def meaning(error: Exception) -> tuple[str, str]:
    """Return the kind of problem that one of `OF_ERRORS` is, and what to say of it."""
    return next(OF_ERRORS[base] for base in type(error).__mro__ if base in OF_ERRORS)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with what was sent, and where in the body (RFC 6901; "" is the whole, or not in the body)."""

    detail: str
    pointer: str = ""


class RefusedError(Exception):
    """The door refuses the request: nothing happened, and no command was run."""

    def __init__(self, kind: str, detail: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.faults = faults


def bad_input(detail: str, where: str = "") -> RefusedError:
    """Return the error of a request that cannot be taken, with the pointer to the place."""
    return RefusedError(RefusalKind.BAD_INPUT, detail, (Fault(detail, where),))
