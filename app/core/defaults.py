"""What holds where neither the policy nor the call says otherwise, and how long things are kept."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults of SEMANTICS section 10; an operator's settings may say others.

    People may vote, and a denial stands, for `approval_ttl`; their yes may be used for `approval_use_within`. A
    `lease` and a `verification` last as long. A principal may have `live_questions` open. `approval_keep` is for the
    arguments of a finished question, `idempotency_keep` for what a key stands for, `replay_keep` for weighed calls.
    """

    approval_ttl: timedelta = timedelta(minutes=15)
    approval_use_within: timedelta = timedelta(minutes=15)
    approval_keep: timedelta = timedelta(days=30)
    lease: timedelta = timedelta(minutes=5)
    live_questions: int = 20
    verification: timedelta = timedelta(hours=1)
    idempotency_keep: timedelta = timedelta(days=7)
    replay_keep: timedelta = timedelta(days=7)
