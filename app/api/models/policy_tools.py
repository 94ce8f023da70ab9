"""What is sent to ask about policies: documents or revisions, and cases."""

from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from app.api.models.fields import Body
from app.api.models.what_ifs import PolicyReference

MOST_REPLAYED: Final = 10_000


class PolicyBody(Body):
    """One policy: under `policy`, or, as when storing, its `document`."""

    policy: PolicyReference | None = None
    document: str | dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.policy is None) == (self.document is None):
            raise ValueError("a `policy` (a document, or the number of a revision) or a `document` is expected")
        return self

    @property
    def reference(self) -> PolicyReference:
        """Return the policy that is meant."""
        return self.document if self.policy is None else self.policy  # type: ignore[return-value]  # one is there

    @property
    def member(self) -> str:
        """Return the pointer to it."""
        return "/document" if self.policy is None else "/policy"


class CasesBody(Body):
    """A policy, and the cases that it must decide: as a list, or as a file's text under `tests`."""

    policy: PolicyReference
    cases: list[dict[str, Any]] | None = None
    tests: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.cases is None) == (self.tests is None):
            raise ValueError("`cases` or `tests` are expected")
        return self


class DifferenceBody(Body):
    """Two policies."""

    before: PolicyReference
    after: PolicyReference


class ReplayBody(Body):
    """A candidate, and how many of the calls that were recorded last are replayed under it."""

    policy: PolicyReference
    last: Annotated[int, Field(ge=1, le=MOST_REPLAYED)] = 1_000
