"""Conditions: CEL over the facts of a call.

A condition is compiled when the document is loaded and evaluated over dynamic values. It never has a side effect, and
what it may cost is bounded (effort.py). One that cannot be evaluated is neither true nor false.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from app.core.policy import argument_types, effort, patterns, syntax
from app.core.policy.argument_types import FACTS, Arguments
from app.core.policy.effort import Effort
from app.core.policy.facts import VARIABLES, Facts
from app.core.policy.problems import shown, suggestion
from app.core.policy.syntax import Apply, Constant, Name, Select, Tree

LONGEST: Final = 4_096
"""Characters of a condition."""

_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(path.partition(".")[2] for path in FACTS if path.startswith(f"{name}."))
    for name in ("cost", "action", "principal", "request")
}
_ENVIRONMENT: Final = cel.NewEnv(
    variables={name: cel.Type.TIMESTAMP if name == "now" else cel.Type.DYN for name in VARIABLES}
)


class ConditionError(ValueError):
    """The text is no condition; the message says why."""


class UndeterminedError(Exception):
    """The condition is neither true nor false of these facts; the message is the cause, without any value."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition. `reads` has the names it reads and, where it names them, their members: `cost.amount`."""

    text: str
    tree: Tree = field(repr=False, compare=False)
    reads: frozenset[str] = field(repr=False, compare=False)
    to_check: str = field(repr=False, compare=False)
    _program: Any = field(repr=False, compare=False)
    _effort: Effort = field(repr=False, compare=False)

    def holds(self, facts: Facts) -> bool:
        """Return whether the condition is true of the facts.

        Raises:
            UndeterminedError: it reads what is missing, or what has another type than it expects; it raises, is no
                boolean, or would take too long.
        """
        elements, characters = facts.size
        if elements > effort.MOST_ELEMENTS:
            raise UndeterminedError(f"the lists and objects of the call hold more than {effort.MOST_ELEMENTS} elements")
        if not self._effort.fits(elements, characters):
            raise UndeterminedError("it would take too long on a call of this size")
        try:
            found = self._program.eval(facts.activation(_ENVIRONMENT))
        except RuntimeError:
            raise UndeterminedError("it would take too long") from None
        answer = found.value()
        if isinstance(answer, bool):
            return answer
        if found.type() == cel.Type.ERROR:
            raise UndeterminedError(self._cause(str(answer), facts))
        raise UndeterminedError("it gives something else than true or false")

    def _cause(self, said: str, facts: Facts) -> str:
        """Return the cause of an error. What the runtime says may quote a value, so it is not passed on."""
        if "NOT_FOUND" in said:
            missing = sorted(path for path in self.reads if path.startswith("arguments.") and not facts.has(path))
            return f"{missing[0]} is missing" if missing else "something that it reads is missing"
        if "No matching overload" in said:
            return "a value has another type than it expects"
        return "it raises an error"


def compile_condition(text: str, arguments: Arguments, *, currency_fixed: bool) -> Condition:
    """Return the condition that the text is, for calls whose arguments are as the schema says.

    Raises:
        ConditionError: it is no CEL, reads what is not there, gives no boolean, may cost too much, or can never hold.
    """
    condition = _compiled(text)
    if not currency_fixed and "cost.amount" in condition.reads:
        raise ConditionError("it reads cost.amount, but the action fixes no currency; give the action a `cost`")
    found = argument_types.impossible(condition.to_check, _kinds_read(condition, arguments))
    if found:
        raise ConditionError(f"it can never hold: {found[0]}")
    return condition


def _kinds_read(condition: Condition, arguments: Arguments) -> frozenset[tuple[str, str]]:
    """Return the kinds of those arguments that the condition names, so that alike conditions are checked once."""
    read = {f"arguments.{name}" for name in members_read(condition.tree, "arguments")}
    return frozenset(item for item in arguments.kinds.items() if ".".join(item[0].split(".")[:2]) in read)


@lru_cache(maxsize=16_384)
def _compiled(text: str) -> Condition:
    if len(text) > LONGEST:
        raise ConditionError(f"longer than {LONGEST} characters")
    program = _program(text)
    serialized = program.serialize()
    tree = syntax.parse(serialized)
    _check(tree)
    to_check = argument_types.with_presence_untyped(text, tree, serialized)
    return Condition(text, tree, frozenset(_reads(tree)), to_check, program, effort.of(tree, text))


def _program(text: str) -> Any:  # noqa: ANN401  # the runtime's own type
    try:
        program = _ENVIRONMENT.compile(text)
    except RuntimeError as error:
        found = argument_types.complaints(str(error))
        if found or "ERROR: <input>" not in str(error):
            raise ConditionError(_explained(found, str(error))) from None
        return _ENVIRONMENT.compile(text, disable_check=True)
    gives = program.return_type().name()
    if gives not in {"BOOL", "DYN"}:
        raise ConditionError(f"it gives {gives.lower()}, not true or false")
    return program


def _explained(found: Mapping[str, str], said: str) -> str:
    """Return what the compiler says first, with a nearer word for a name that it does not know."""
    if not found:
        return f"no condition: {said.partition(' [')[0]}"
    place, message = next(iter(found.items()))
    unknown = message.partition("undeclared reference to '")[2].partition("'")[0].partition(".")[0]
    hint = f"; {suggestion(unknown, VARIABLES)}" if unknown else ""
    return f"no condition, at character {place.partition(':')[2]}: {message}{hint}"


def _check(tree: Tree) -> None:
    if effort.depth(tree) > effort.DEEPEST:
        raise ConditionError(f"macros such as all() and exists() nest at most {effort.DEEPEST} deep")
    for node in syntax.walk(tree):
        if isinstance(node, Apply) and node.function == "matches":
            _check_pattern(node.arguments[-1])
        member = _member(node)
        if member and member[0] in _MEMBERS and member[1] not in _MEMBERS[member[0]]:
            known = _MEMBERS[member[0]]
            raise ConditionError(f"{member[0]} has no {shown(member[1])}: {suggestion(member[1], known)}")


def _check_pattern(pattern: Tree) -> None:
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise ConditionError("the pattern of matches() is written as a text in the condition, not taken from the call")
    if patterns.weight(pattern.value) > patterns.HEAVIEST:
        raise ConditionError("the pattern of matches() is too heavy; make its repetitions smaller")
    probe = _PROBE.eval(data={"asset": "", "labels": [pattern.value]}).value()
    if not isinstance(probe, bool):
        raise ConditionError("the pattern of matches() is not a regular expression (RE2 syntax), or too large")


_PROBE: Final = _ENVIRONMENT.compile("asset.matches(labels[0])")


def _reads(tree: Tree) -> Iterator[str]:
    """Yield what a condition reads: names, and each member of a name as `name.member`.

    A name that stands by itself is read with all its members.
    """
    member = _member(tree)
    if member:
        yield from (member[0], ".".join(member))
        return
    if isinstance(tree, Name) and tree.name in VARIABLES:
        yield tree.name
        yield from (f"{tree.name}.{name}" for name in _MEMBERS.get(tree.name, ()))
    for below in syntax.children(tree):
        yield from _reads(below)


def _member(tree: Tree) -> tuple[str, str] | None:
    """Return the variable and the member if the tree is `variable.member` or `variable["member"]`."""
    match tree:
        case Select(operand=Name(name=name), member=member) if name in VARIABLES:
            return name, member
        case Apply(function="_[_]", arguments=(Name(name=name), Constant(value=str(member)))) if name in VARIABLES:
            return name, member
        case _:
            return None


def members_read(tree: Tree, variable: str) -> Collection[str]:
    """Return the members of a variable that a condition names."""
    found = (_member(node) for node in syntax.walk(tree))
    return frozenset(member[1] for member in found if member and member[0] == variable)
