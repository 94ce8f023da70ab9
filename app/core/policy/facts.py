"""What a condition sees of a call."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from app.core.actions import Call, Caller
from app.core.values import Fraction, Json, JsonObject

if TYPE_CHECKING:
    from app.core.money import Money


@dataclass(frozen=True, slots=True)
class Plain:
    """A JSON value in plain Python types, and the size of it: members and elements, and characters of texts."""

    value: Any
    elements: int
    characters: int


def plain(value: Json) -> Plain:
    """Copy a value into plain dicts, lists and numbers, and measure it: what the libraries for schemas and CEL take."""
    tally = [0, 0]
    return Plain(_plain(value, tally), tally[0], tally[1])


_AS_THEY_ARE: Final = frozenset({int, float, bool, type(None)})


def _plain(value: Any, tally: list[int]) -> Any:  # noqa: ANN401  # JSON
    kind = type(value)
    if kind is str:
        tally[1] += len(value)
        return value
    if kind in _AS_THEY_ARE:
        return value
    if kind is Fraction:
        return float(value)
    tally[0] += len(value)
    if kind is dict or isinstance(value, Mapping):
        tally[1] += sum(map(len, value))
        return {name: _plain(member, tally) for name, member in value.items()}
    return [_plain(element, tally) for element in value]


class Facts:
    """The facts of one call, made into a CEL activation when the first condition asks, once.

    `wanted` names what the conditions of the action read; nothing else is made ready for them. `labels`,
    `environment`, `kind` and `blast_radius` are those that the policy declares, and for the rules of an action also
    those that it derives; what the caller says of itself is in `request`.
    """

    __slots__ = (
        "_activation", "_arguments", "_context", "_wanted", "asset", "blast_radius", "call", "caller", "cost",
        "environment", "kind", "labels", "now",
    )  # fmt: skip

    def __init__(self, call: Call, caller: Caller, now: datetime, wanted: AbstractSet[str]) -> None:
        self.call = call
        self.caller = caller
        self.now = now
        self.cost: Money | None = None
        self.asset = ""
        self.environment = ""
        self.kind = ""
        self.blast_radius = 1
        self.labels: frozenset[str] = frozenset()
        self._arguments: Plain | None = None
        self._context: Plain | None = None
        self._wanted = wanted
        self._activation: Any = None

    def change(self, *, environment: str, kind: str, blast_radius: int, labels: frozenset[str]) -> None:
        """Let later conditions see these."""
        new = (environment, kind, blast_radius, labels)
        if new != (self.environment, self.kind, self.blast_radius, self.labels):
            self.environment, self.kind, self.blast_radius, self.labels = new
            self._activation = None

    @property
    def arguments(self) -> Plain:
        """Return the arguments of the call."""
        if self._arguments is None:
            self._arguments = plain(self.call.action.arguments)
        return self._arguments

    @property
    def context(self) -> Plain:
        """Return the context that came with the call."""
        if self._context is None:
            self._context = plain(self.call.context)
        return self._context

    @property
    def size(self) -> tuple[int, int]:
        """Return how many elements and members, and how many characters of text, reach a condition."""
        arguments = self.arguments if "arguments" in self._wanted else _NOTHING
        context = self.context if "context" in self._wanted else _NOTHING
        return arguments.elements + context.elements, arguments.characters + context.characters

    def has(self, path: str) -> bool:
        """Return whether `arguments.name` is there."""
        return path.removeprefix("arguments.") in self.arguments.value

    def activation(self, environment: Any) -> Any:  # noqa: ANN401  # the runtime's own types
        """Return the activation of these facts, which serves all conditions of the call."""
        if self._activation is None:
            values = {name: made(self) for name, made in VARIABLES.items() if name in self._wanted}
            self._activation = environment.Activation(values)
        return self._activation


def _cost(facts: Facts) -> JsonObject:
    if facts.cost is None:
        return {}
    return {"amount": float(facts.cost.amount), "currency": facts.cost.currency}


def _action(facts: Facts) -> JsonObject:
    return {
        "name": facts.call.action.name,
        "environment": facts.environment,
        "kind": facts.kind,
        "blast_radius": facts.blast_radius,
    }


def _principal(facts: Facts) -> JsonObject:
    caller = facts.caller
    return {
        "name": caller.principal,
        "kind": caller.kind,
        "owner": caller.owner,
        "environment": caller.environment,
        "roles": sorted(caller.roles),
        "tenant": caller.tenant,
    }


def _request(facts: Facts) -> JsonObject:
    action = facts.call.action
    return {
        "environment": action.environment,
        "kind": action.kind,
        "tags": sorted(action.tags),
        "blast_radius": action.blast_radius,
        "asset": action.asset,
        "effect": facts.call.effect or "",
        "spend": list(facts.call.spend),
        "run_id": facts.call.run_id or "",
    }


_NOTHING: Final = Plain({}, 0, 0)

VARIABLES: Final[Mapping[str, Callable[[Facts], Any]]] = {
    "arguments": lambda facts: facts.arguments.value,
    "cost": _cost,
    "action": _action,
    "principal": _principal,
    "asset": lambda facts: facts.asset,
    "labels": lambda facts: sorted(facts.labels),
    "request": _request,
    "context": lambda facts: facts.context.value,
    "now": lambda facts: facts.now,
}
"""What a condition may read, and what makes it of the facts."""
