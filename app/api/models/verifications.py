"""What a verifier sends."""

import re
from datetime import timedelta
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from app.api.models.calls import FindingBody
from app.api.models.fields import Body, Duration, Score
from app.core.actions import Verification
from app.core.durations import LONGEST_WAIT, format_duration
from app.core.verification import skeptic
from app.evidence.verifications import Made

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def _digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise ValueError("`sha256:` and 64 hex digits are expected, as an answer's action_digest has them")
    return text


def _life(life: timedelta) -> timedelta:
    if life > LONGEST_WAIT:
        raise ValueError(f"at most {format_duration(LONGEST_WAIT)} is expected")
    return life


class VerificationBody(Body):
    """What was made of a finding, or the finding itself for the built-in skeptic; for one call, by its digest."""

    action_digest: Annotated[str, AfterValidator(_digest)]
    finding: FindingBody | None = None
    survives: bool | None = None
    confidence: Score | None = None
    expires_in: Annotated[Duration, AfterValidator(_life)] | None = Field(
        default=None, description="1h if left out, unless the service's settings say otherwise"
    )

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        judged = (self.survives is None, self.confidence is None)
        if judged != ((True, True) if self.finding is not None else (False, False)):
            raise ValueError("send either a finding, or survives and confidence")
        return self

    def to_verification(self, usual_life: timedelta) -> Made:
        """Return the verification: the skeptic's, where a finding was sent."""
        life = self.expires_in or usual_life
        if self.finding is not None:
            verdict = skeptic(self.finding.to_finding())
            counted = Verification(verdict.survives, verdict.confidence)
            return Made(self.action_digest, counted, life, verdict.refutations)
        counted = Verification(bool(self.survives), self.confidence or 0.0)
        return Made(self.action_digest, counted, life)
