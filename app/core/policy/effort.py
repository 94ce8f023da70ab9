"""A bound on what a condition can cost, so that none can stop the service.

The CEL runtime stops loops after 10,000 rounds, but what one round does (a comparison of two long lists, a search in a
long text, a concatenation) is not counted, and nothing else can run meanwhile. So the worst case is worked out from
the condition's shape when it is loaded, and from the size of what it looks at when it is evaluated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from app.core.policy import patterns, syntax
from app.core.policy.syntax import Apply, Constant, Loop, Name, Tree

MOST: Final = 200_000_000
"""The greatest bound under which a condition is evaluated, in nanoseconds: a fifth of a second."""

MOST_ELEMENTS: Final = 1_000
"""How many elements and members the lists and objects that reach a condition may hold in all."""

DEEPEST: Final = 2
"""How far macros may nest."""

_USUAL: Final = 2**14
_ROUNDS: Final = 10_000
_PER_CALL: Final = 100
_PER_ELEMENT: Final = 25
_PER_JOINED_ELEMENT: Final = 250
_PER_JOINED_CHARACTER: Final = 5
_PER_COMPILED_STATE: Final = 1_000

_CHEAP: Final = frozenset(
    {"_&&_", "_||_", "!_", "_?_:_", "@not_strictly_false", "_[_]", "_-_", "_*_", "_/_", "_%_", "-_"}
)


@dataclass(frozen=True, slots=True)
class _Work:
    """One call inside a condition: in how many loops it stands, and what it does there.

    `own` tells that it looks at nothing but the element of the innermost loop, so that over the whole of that loop it
    sees each element of what reaches the condition once.
    """

    depth: int
    own: bool
    joins: bool = False
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Effort:
    """The work of a condition."""

    work: tuple[_Work, ...]
    literals: int
    _light: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Note whether any call of usual size is cheap, so that most calls need no arithmetic."""
        object.__setattr__(self, "_light", self.bound(MOST_ELEMENTS, _USUAL) <= MOST)

    def fits(self, elements: int, characters: int) -> bool:
        """Return whether an evaluation over this many elements and characters is sure to be short."""
        if self._light and characters <= _USUAL:
            return True
        return self.bound(elements, characters) <= MOST

    def bound(self, elements: int, characters: int) -> int:
        """Return the nanoseconds that an evaluation takes at most, over this many elements and characters in all."""
        joins = 1 + sum(work.joins for work in self.work)
        elements += self.literals
        return sum(_cost(work, elements, characters, joins) for work in self.work)


def of(tree: Tree, text: str) -> Effort:
    """Return the work of a condition, given its tree and its text."""
    work = tuple(_work(tree, ()))
    literals = sum(isinstance(node, Constant) for node in syntax.walk(tree)) + len(text) // 64
    return Effort(work, literals)


def depth(tree: Tree) -> int:
    """Return how far loops nest."""
    below = max((depth(child) for child in syntax.children(tree)), default=0)
    return below + isinstance(tree, Loop)


def _work(tree: Tree, loops: tuple[Loop, ...]) -> Iterator[_Work]:
    if isinstance(tree, Loop):
        yield from _work(tree.over, loops)
        for part in tree.body:
            yield from _work(part, (*loops, tree))
        return
    if isinstance(tree, Apply) and tree.function not in _CHEAP:
        yield from _call(tree, loops)
    for child in syntax.children(tree):
        yield from _work(child, loops)


def _call(call: Apply, loops: tuple[Loop, ...]) -> Iterator[_Work]:
    names = {node.name for argument in call.arguments for node in syntax.walk(argument) if isinstance(node, Name)}
    if "@result" in names:
        return  # the loop's own accumulation, bounded by its rounds
    own = bool(loops) and names <= {loops[-1].variable} and _plain(loops[-1].over)
    yield _Work(len(loops), own, call.function == "_+_", _weight(call))


def _plain(over: Tree) -> bool:
    """Return whether a loop runs over something that was given, and not over a list that the condition makes."""
    return not any(isinstance(node, (Apply, Loop)) for node in syntax.walk(over))


def _weight(call: Apply) -> int:
    if call.function != "matches":
        return 0
    pattern = call.arguments[-1]
    return patterns.weight(pattern.value) if isinstance(pattern, Constant) and isinstance(pattern.value, str) else 0


def _cost(work: _Work, elements: int, characters: int, joins: int) -> int:
    rounds = min(elements**work.depth, _ROUNDS) if work.depth else 1
    whole = min(elements ** (work.depth - 1), _ROUNDS) if work.own else rounds
    fixed = rounds * (_PER_CALL + _PER_COMPILED_STATE * work.weight)
    if work.joins:
        return fixed + whole * joins * (_PER_JOINED_ELEMENT * elements + _PER_JOINED_CHARACTER * characters)
    per_character = patterns.NANOSECONDS * work.weight if work.weight else 1
    return fixed + whole * joins * (_PER_ELEMENT * elements + per_character * characters)
