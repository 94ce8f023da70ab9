"""What operators send about webhooks."""

from datetime import timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from app.api.models.fields import Body, Duration
from app.outbox.webhooks import LONGEST_URL, Change

LONGEST_OVERLAP: Final = timedelta(days=30)

Event = Literal["approval.requested", "approval.approved", "approval.denied", "approval.expired"]


def _without_repeats(events: list[Event]) -> list[Event]:
    return list(dict.fromkeys(events))


def _bounded(overlap: timedelta | None) -> timedelta | None:
    if overlap is not None and overlap > LONGEST_OVERLAP:
        raise ValueError(f"{LONGEST_OVERLAP.days}d at most is expected")
    return overlap


Events = Annotated[list[Event], Field(min_length=1, max_length=16, fail_fast=True), AfterValidator(_without_repeats)]
Url = Annotated[str, Field(max_length=LONGEST_URL, description="https, and public unless an operator permits it")]


class WebhookBody(Body):
    """A webhook to be registered. Its receiver is asked to echo a challenge before it is."""

    url: Url
    events: Events
    legacy_header: bool = Field(default=False, description="send X-Adk-Signature too")


class WebhookChangeBody(Body):
    """What shall be different; what is left out stays. The receiver at another URL is asked to echo a challenge."""

    url: Url | None = None
    events: Events | None = None
    legacy_header: bool | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("at least one of url, events and legacy_header is expected")
        return self

    def to_change(self) -> Change:
        """Return the change."""
        return Change(self.url, None if self.events is None else tuple(self.events), self.legacy_header)


class RotationBody(Body):
    """How a secret is replaced."""

    overlap: Annotated[Duration | None, AfterValidator(_bounded)] = Field(
        default=timedelta(days=1), description="for how long the secret before signs too; null: not at all"
    )
