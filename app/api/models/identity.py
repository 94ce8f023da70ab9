"""What administrators and operators send: keys, principals, tenants, revocations."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from app.api.models.calls import Text
from app.api.models.fields import Body, Duration, Name, NameOrEmpty, Names, Somebody
from app.identity.credentials import NewKey
from app.identity.principals import Statement
from app.identity.revocations import Subject
from app.identity.rights import BUNDLES, SINGLY

PrincipalKind = Literal["agent", "service", "human"]


def _bundle(name: str) -> str:
    if name not in BUNDLES:
        raise ValueError(f"one of the bundles is expected: {', '.join(BUNDLES)}")
    return name


def _single_right(name: str) -> str:
    if name not in SINGLY:
        raise ValueError(f"one of the rights that are given singly is expected: {', '.join(sorted(SINGLY))}")
    return name


Bundles = Annotated[list[Annotated[Name, AfterValidator(_bundle)]], Field(fail_fast=True)]
Rights = Annotated[list[Annotated[Name, AfterValidator(_single_right)]], Field(fail_fast=True)]


class KeyBody(Body):
    """A key to be made; its principal is made with it if there is none of that name."""

    principal: Somebody
    kind: PrincipalKind
    owner: Somebody | None = Field(default=None, description="whose it is; a new principal is its own owner")
    environment: NameOrEmpty = ""
    bundles: Annotated[Bundles, Field(max_length=len(BUNDLES))] = Field(default_factory=list)
    roles: Names | None = Field(default=None, description="of a new principal; those of others are changed there")
    rights: Annotated[Rights, Field(max_length=len(SINGLY))] = Field(default_factory=list)
    speak_for: Names = Field(default_factory=list, description="the principals that the right speak_for is for")
    expires_in: Duration | None = None

    def to_key(self) -> NewKey:
        """Return the key that is asked for."""
        roles = None if self.roles is None else frozenset(self.roles)
        return NewKey(
            principal=Statement(self.principal, self.kind, self.owner, roles),
            bundles=frozenset(self.bundles),
            rights=frozenset(self.rights),
            speak_for=frozenset(self.speak_for),
            environment=self.environment,
            expires_in=self.expires_in,
        )


class PrincipalBody(Body):
    """A principal to be made, or whose owner and roles shall be these; what is left out stays as it is."""

    principal: Somebody
    kind: PrincipalKind
    owner: Somebody | None = None
    roles: Names | None = None

    def to_statement(self) -> Statement:
        """Return what is said of the principal."""
        return Statement(self.principal, self.kind, self.owner, None if self.roles is None else frozenset(self.roles))


class TenantBody(Body):
    """A tenant to be made, and who gets its first key, with the bundle admin."""

    tenant: Name
    admin: Somebody = "admin"
    kind: PrincipalKind = "human"

    def to_key(self) -> NewKey:
        """Return the tenant's first key."""
        return NewKey(Statement(self.admin, self.kind), bundles=frozenset({"admin"}))


class RevocationBody(Body):
    """What shall be stopped: one of a principal, an action, or the whole tenant."""

    principal: Somebody | None = None
    action: Name | None = None
    tenant: Literal[True] | None = None
    reason: Annotated[Text, Field(min_length=1)]

    @model_validator(mode="after")
    def _one_subject(self) -> Self:
        if (self.principal, self.action, self.tenant).count(None) != 2:  # noqa: PLR2004 - three, of which one
            raise ValueError("exactly one of principal, action and tenant is expected")
        return self

    def to_subject(self) -> Subject:
        """Return what shall be stopped."""
        return Subject(self.principal, self.action)
