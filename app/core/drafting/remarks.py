"""What lint says: one remark on one place of a document."""

from dataclasses import dataclass
from enum import StrEnum

from app.core.policy.source import Path


class Level(StrEnum):
    """How sure it is that the author did not mean this: an error makes a part of the policy useless."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on the value at a path; `code` names its kind."""

    level: Level
    code: str
    message: str
    path: Path


def error(code: str, message: str, *path: str | int) -> Remark:
    """Return a remark on what cannot do what it was written for."""
    return Remark(Level.ERROR, code, message, path)


def warning(code: str, message: str, *path: str | int) -> Remark:
    """Return a remark on what is probably not meant."""
    return Remark(Level.WARNING, code, message, path)
