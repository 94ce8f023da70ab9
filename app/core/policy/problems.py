"""What is wrong with a policy document, and where."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

_LONGEST_WORD = 128
_MOST_WORDS = 12


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, with its place: a JSON pointer, and line and column (from 1) if there was a text."""

    message: str
    pointer: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return the place and the message on one line."""
        place = self.pointer or "the document"
        if self.line is not None:
            place = f"line {self.line}, column {self.column}: {place}"
        return f"{place}: {self.message}"


class DocumentError(ValueError):
    """The document is no policy. `problems` names everything that was found, in reading order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def suggestion(word: str, known: Collection[str]) -> str:
    """Return the end of a message about a word that is not known: the nearest one, or what there is to choose from."""
    close = get_close_matches(word[:_LONGEST_WORD], known, n=1) if known else []
    if close:
        return f"did you mean {close[0]}?"
    words = sorted(known)
    if len(words) <= _MOST_WORDS:
        return f"expected {alternatives(words)}"
    return "no such word"


def alternatives(words: Iterable[str]) -> str:
    """Return the words as a choice: `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def shown(word: str) -> str:
    """Return the word as a message quotes it: on one line, and not too long."""
    return repr(word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…")
