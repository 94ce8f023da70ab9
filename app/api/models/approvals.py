"""What people send: a decision on a question, and authority lent to somebody else."""

from typing import Any, Literal

from pydantic import Field

from app.api.models.calls import Text
from app.api.models.fields import Body, Duration, Names, Somebody
from app.approvals.questions import Verdict


class DecisionBody(Body):
    """A yes or a no; a yes may give other values for the call's arguments."""

    decision: Literal["approve", "deny"]
    comment: Text = ""
    arguments: dict[str, Any] | None = Field(default=None, description="all argument names, with an approver's values")
    on_behalf_of: Somebody | None = Field(default=None, description="the human whom a bridge has heard")

    def to_verdict(self) -> Verdict:
        """Return what is said."""
        return Verdict(self.decision)


class DelegationBody(Body):
    """Authority that shall be lent, until when, and for which questions."""

    to: Somebody
    expires_in: Duration
    labels: Names = Field(default_factory=list, description="empty: for every question that the lender may decide")
