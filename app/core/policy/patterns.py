"""How heavy a regular expression is: what its matching may cost at worst, whatever the text.

The engines used (RE2, Rust's regex) match in time linear in the text, but the factor is the size of the automaton
that the pattern expands to, and counted repetitions multiply it: `((a{1,10}){1,10}){1,10}` has a thousand states.
"""

import re
from typing import Final

HEAVIEST: Final = 4_000
"""The greatest weight of one pattern."""

NANOSECONDS: Final = 6
"""What one unit of weight costs at worst on one character (measured: 5.3 with Rust's regex, up to 9 with RE2)."""

_UNICODE = 50
_WIDE = 8
_TOKEN = re.compile(
    r"""(?P<unicode>\\[pP](?:\{[^}]*\}|.))
      | (?P<escape>\\.)
      | (?P<set>\[\^?\]?(?:\\.|\[:[a-z^]+:\]|[^\]\\])*\])
      | (?P<open>\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:|[=!]))?)
      | (?P<close>\))
      | (?P<repeat>[*+?]|\{(?P<least>[0-9]{1,5})(?P<range>,(?P<most>[0-9]{0,5}))?\})
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def weight(pattern: str) -> int:
    """Return about how many states the pattern's automaton has."""
    sums, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup if token["repeat"] is None else "repeat"
        if kind == "repeat":
            grown = last * (_times(token) - 1)
            sums[-1], last = sums[-1] + grown, last + grown
        elif kind == "open":
            sums.append(0)
        elif kind == "close" and len(sums) > 1:
            last = sums.pop() + 1
            sums[-1] += last
        else:
            last = _states(str(kind), token.group())
            sums[-1] += last
    return sum(sums)


def _times(token: re.Match[str]) -> int:
    if token["least"] is None:
        return 1
    if not token["range"]:
        return max(1, int(token["least"]))
    return max(1, int(token["most"] or token["least"]))


def _states(kind: str, text: str) -> int:
    if kind == "unicode":
        return _UNICODE
    if kind == "set":
        wide = text.startswith("[^") or not text.isascii()
        return _UNICODE * (text.count("\\p") + text.count("\\P")) + (_WIDE if wide else 1)
    return _WIDE if text == "." or (kind == "escape" and text[1] in "DWS") else 1
