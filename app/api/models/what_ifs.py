"""What somebody sends who asks what a policy would answer: a call with the facts that would else be looked up."""

from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from app.api.models.calls import MOST_ADVICE, ActionBody, AdviceBody, Severity, Text
from app.api.models.fields import Amount, Body, Key, Members, Name, NameOrEmpty, Names, Scopes, Score
from app.core.actions import Call, Caller, Finding, Verification
from app.core.evaluation import WhatIf

MOST_CASES: Final = 2_000

PolicyReference = str | dict[str, Any] | int
"""A policy: a document, as its text or as an object, or the number of a stored revision."""


class FindingGivenBody(Body):
    """A finding of which only the severity counts here; its grounding is given as `verification`."""

    severity: Severity
    title: Text = ""
    gsar_score: Score = 1.0
    evidence_refs: Annotated[list[str], Field(fail_fast=True)] = Field(default_factory=list)
    confidence: Score | None = None

    def to_finding(self) -> Finding:
        """Return the finding."""
        confidence = self.gsar_score if self.confidence is None else self.confidence
        return Finding(self.title, self.severity, self.gsar_score, tuple(self.evidence_refs), confidence)


class VerificationGivenBody(Body):
    """A verification that counts, as given."""

    survives: bool
    confidence: Score

    def to_verification(self) -> Verification:
        """Return the verification."""
        return Verification(self.survives, self.confidence)


class PrincipalGivenBody(Body):
    """Who would ask, with everything that a credential would say."""

    name: Name
    kind: NameOrEmpty = "agent"
    owner: NameOrEmpty = ""
    environment: NameOrEmpty = ""
    roles: Names = Field(default_factory=list)

    def to_caller(self, tenant: str) -> Caller:
        """Return the caller."""
        return Caller(
            tenant=tenant,
            principal=self.name,
            kind=self.kind,
            owner=self.owner,
            environment=self.environment,
            roles=frozenset(self.roles),
            rights=_SEES_WHAT_IT_GIVES,
        )


# Whoever asks here has stated the totals, so the answer may repeat them.
_SEES_WHAT_IT_GIVES = frozenset({"attest", "spend:read"})


class FactsBody(Body):
    """The facts that a call is weighed against; all of them are taken as attested and literal."""

    context: dict[str, Any] = Field(default_factory=dict)
    finding: FindingGivenBody | None = None
    verification: VerificationGivenBody | None = None
    advice: Annotated[list[AdviceBody], Field(max_length=MOST_ADVICE, fail_fast=True)] = Field(default_factory=list)
    spend: Scopes = Field(default_factory=list)
    spent: Members[Key, Amount] = Field(default_factory=dict)
    effect: Key | None = None
    principal: Name | PrincipalGivenBody | None = None
    run_id: Name | None = None

    def of(self, action: ActionBody) -> WhatIf:
        """Return a call of the action, with these facts."""
        call = Call(
            action=action.to_action(),
            context=self.context,
            finding=None if self.finding is None else self.finding.to_finding(),
            advice=tuple(advice.to_advice() for advice in self.advice),
            spend=tuple(self.spend),
            effect=self.effect,
            run_id=self.run_id,
        )
        verification = None if self.verification is None else self.verification.to_verification()
        return WhatIf(call, verification, self.spent)

    def to_caller(self, tenant: str) -> Caller:
        """Return who would ask; nobody in particular, if it is left out."""
        if isinstance(self.principal, PrincipalGivenBody):
            return self.principal.to_caller(tenant)
        return PrincipalGivenBody(name=self.principal or "nobody").to_caller(tenant)


class CaseBody(FactsBody):
    """A call with its facts."""

    action: ActionBody

    def to_what_if(self) -> WhatIf:
        """Return the call and its facts."""
        return self.of(self.action)


class EvaluateBody(FactsBody):
    """A policy, and the call that it would weigh with its facts; or many `cases` of that instead."""

    policy: PolicyReference
    action: ActionBody | None = None
    cases: Annotated[list[CaseBody], Field(max_length=MOST_CASES, fail_fast=True)] | None = None

    @model_validator(mode="after")
    def _one_or_many(self) -> Self:
        if self.cases is None and self.action is None:
            raise ValueError("an `action` or `cases` are expected")
        if self.cases is not None and self.model_fields_set > {"policy", "cases"}:
            raise ValueError("beside `cases` nothing but the `policy` is expected; facts belong to each case")
        return self
