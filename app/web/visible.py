"""Text of others on a page: escaped, and with a mark wherever it holds something that cannot be seen.

A right-to-left override makes `fdp.exe` read `exe.pdf`; a zero-width space makes two names look like one; a row of
fillers pushes the end of a line out of sight. Each is shown as its code point, such as U+202E.
"""

import re
import unicodedata
from typing import Final

from markupsafe import Markup, escape

_LINE_BREAKS: Final = frozenset("\n\t")
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
# Characters of other categories that draw nothing: joiners, Hangul and Khmer fillers, the blank of Braille, and the
# selectors of variations (Unicode, DerivedCoreProperties.txt, Default_Ignorable_Code_Point).
_DRAWS_NOTHING: Final = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)

_PARTS: Final = re.compile(r"[^./:_-]*[./:_-]|[^./:_-]+")


def shown(value: object) -> Markup:
    """Return a value as part of a page. Templates pass everything that they write through here."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup()
    text = str(value)
    if text.isascii() and text.isprintable():
        return escape(text)
    return Markup().join(map(_character, text))


def parted(name: object) -> Markup:
    """Return a name as part of a page, with a place to break a line behind each of its parts."""
    return Markup("<wbr>").join(shown(part) for part in _PARTS.findall(str(name)))


def exact(value: object) -> Markup:
    """Return a value escaped and otherwise as it is, for attributes and for fields that are sent back."""
    return escape("" if value is None else value)


def has_unseen(text: str) -> bool:
    """Return whether text holds something that a page would mark."""
    return any(map(_is_unseen, text))


def _character(character: str) -> Markup:
    return Markup("<mark>U+{:04X}</mark>").format(ord(character)) if _is_unseen(character) else escape(character)


def _is_unseen(character: str) -> bool:
    if character in _LINE_BREAKS or character == " ":
        return False
    category = unicodedata.category(character)
    return category in _UNSEEN_CATEGORIES or category == "Zs" or _DRAWS_NOTHING.match(character) is not None
