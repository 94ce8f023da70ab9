"""Patterns of action names: exact, `prefix.*` for one more segment, `prefix.**` for any number of them."""

import re
from dataclasses import dataclass, field
from typing import Final

_FORM: Final = re.compile(r"((?:[^*]+\.)?)(\*\*?)|[^*]+")


@dataclass(frozen=True, slots=True)
class ActionPattern:
    """A pattern of action names. `*` alone stands for every name of one segment, `**` alone for every name.

    Raises:
        ValueError: a star stands elsewhere than alone in the last segment.
    """

    text: str
    prefix: str = field(init=False, repr=False, compare=False)
    stars: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the pattern apart once."""
        form = _FORM.fullmatch(self.text)
        if form is None:
            raise ValueError("an action's name, `prefix.*` for one more segment, or `prefix.**` for any more")
        object.__setattr__(self, "prefix", form[1] or "")
        object.__setattr__(self, "stars", form[2] or "")

    def matches(self, name: str) -> bool:
        """Return whether the name is one that the pattern stands for; the prefix itself is not."""
        if not self.stars:
            return name == self.text
        rest = name.removeprefix(self.prefix) if name.startswith(self.prefix) else ""
        return rest != "" and (self.stars == "**" or "." not in rest)

    def contains(self, other: "ActionPattern") -> bool:
        """Return whether this matches all that the other does."""
        if not other.stars:
            return self.matches(other.text)
        if self.stars == "**":
            return other.prefix.startswith(self.prefix)
        return self.text == other.text
