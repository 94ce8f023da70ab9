"""Ask before you act: the client of the Countersign admission service for AI agents.

    client = Countersign()

    @client.protect("voucher.issue", on_refusal="wait")
    def issue(booking: str, amount: int) -> str: ...

The function runs only when the service admits the call, and what came of it is reported. If the service cannot be
reached, nothing runs.
"""

from countersign._answers import Admission, Answer, Approval, Outcome, Result, Status, Trigger
from countersign._async_client import AsyncCountersign
from countersign._calls import Advice, CallOptions, Money
from countersign._client import Countersign
from countersign._errors import (
    ArgumentError,
    ArgumentsChanged,
    BadRequest,
    Conflict,
    CountersignError,
    Denied,
    DeniedByPerson,
    Forbidden,
    Held,
    NotExecuted,
    NotFound,
    NotUnderstood,
    PermitError,
    Problem,
    Refused,
    Replayed,
    RunFailed,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from countersign._invocation import current_admission
from countersign._permits import Permit, verify_permit
from countersign._protection import Doubt, ProtectOptions
from countersign._verification import Verification, verify_export

__all__ = [
    "Admission",
    "Advice",
    "Answer",
    "Approval",
    "ArgumentError",
    "ArgumentsChanged",
    "AsyncCountersign",
    "BadRequest",
    "CallOptions",
    "Conflict",
    "Countersign",
    "CountersignError",
    "Denied",
    "DeniedByPerson",
    "Doubt",
    "Forbidden",
    "Held",
    "Money",
    "NotExecuted",
    "NotFound",
    "NotUnderstood",
    "Outcome",
    "Permit",
    "PermitError",
    "Problem",
    "ProtectOptions",
    "Refused",
    "Replayed",
    "Result",
    "RunFailed",
    "ServiceError",
    "Status",
    "Trigger",
    "Unauthenticated",
    "Unavailable",
    "Verification",
    "current_admission",
    "verify_export",
    "verify_permit",
]
