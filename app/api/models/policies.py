"""What policy administrators send."""

from typing import Any, Literal

from app.api.models.fields import Body


class DocumentBody(Body):
    """A policy document, as its text (YAML or JSON) or as an object."""

    document: str | dict[str, Any]


class ActivationBody(Body):
    """How a revision is brought in: `enforce` answers calls, `shadow` is weighed beside and never answers."""

    mode: Literal["enforce", "shadow"] = "enforce"
