"""How the demo tells what happens."""

import textwrap
from collections import Counter
from collections.abc import Iterable

from desks.desk import Desk, Ending

_WIDTH = 78


def chapter(title: str) -> None:
    """Begin a chapter."""
    print(f"\n── {title} {'─' * max(0, _WIDTH - len(title) - 4)}\n")


def say(text: str) -> None:
    """Tell something, in lines that fit."""
    print(textwrap.fill(text, _WIDTH))


def beat(who: str, text: str) -> None:
    """Tell one step of a scene."""
    print(textwrap.fill(text, _WIDTH, initial_indent=f"  {who:<10} ", subsequent_indent=" " * 13))


def strip(desk: Desk) -> None:
    """Show a desk's day, a mark a call, and how often each ending came."""
    marks = "".join(ending.mark for _, ending in desk.endings)
    print(f"  {desk.name}")
    for line in textwrap.wrap(marks, _WIDTH - 4):
        print(f"    {line}")
    print()
    _counts(ending for _, ending in desk.endings)


def _counts(endings: Iterable[Ending]) -> None:
    counted = Counter(endings)
    for ending in Ending:
        if counted[ending]:
            print(f"  {counted[ending]:>5}  {ending.mark}  {ending.words}")
    print()


def verdict(finding: tuple[bool, str]) -> None:
    """Say whether an invariant holds."""
    held, sentence = finding
    print(f"  {'✓' if held else '✗ NOT TRUE:'} {sentence}")
