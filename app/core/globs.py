"""Globs: texts in which `*` stands for any run of characters, none included, and nothing else is special."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern of scopes or assets."""

    text: str
    _parts: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Split the pattern once."""
        object.__setattr__(self, "_parts", tuple(self.text.split("*")))

    def matches(self, text: str) -> bool:
        """Return whether the text is one that the pattern stands for."""
        first, *middle = self._parts
        if not middle:
            return text == first
        last = middle.pop()
        if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
            return False
        return _in_turn(middle, text[len(first) : len(text) - len(last)])

    def contains(self, other: "Glob") -> bool:
        """Return whether this matches all that the other does.

        The other's own text tells: no part of a pattern has a star in it, so a star of the other can only be met by
        one of this, as whatever stands in its place could be.
        """
        return self.matches(other.text)


def _in_turn(parts: list[str], text: str) -> bool:
    """Return whether the text holds the parts one after the other; the leftmost place of each is always good."""
    for part in parts:
        place = text.find(part)
        if place < 0:
            return False
        text = text[place + len(part) :]
    return True
