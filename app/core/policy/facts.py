"""What a condition sees of a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

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


def _plain(value: Json, tally: list[int]) -> Any:  # noqa: ANN401  # plain JSON
    if isinstance(value, str):
        tally[1] += len(value)
        return value
    if isinstance(value, Fraction):
        return float(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    tally[0] += len(value)
    if isinstance(value, Mapping):
        tally[1] += sum(map(len, value))
        return {name: _plain(member, tally) for name, member in value.items()}
    return [_plain(element, tally) for element in value]


class Facts:
    """The facts of one call, made into a CEL activation when the first condition asks, once.

    `labels`, `environment`, `kind` and `blast_radius` are those that the policy declares, and for the rules of an
    action also those that it derives; what the caller says of itself is in `request`.
    """

    __slots__ = (
        "_activation", "_arguments", "_context", "asset", "blast_radius", "call", "caller", "cost", "environment",
        "kind", "labels", "now",
    )  # fmt: skip

    def __init__(self, call: Call, caller: Caller, now: datetime) -> None:
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
    def elements(self) -> int:
        """Return how many elements and members reach a condition."""
        return self.arguments.elements + self.context.elements

    @property
    def characters(self) -> int:
        """Return how many characters of text reach a condition."""
        return self.arguments.characters + self.context.characters

    def has(self, path: str) -> bool:
        """Return whether `arguments.name` is there."""
        return path.removeprefix("arguments.") in self.arguments.value

    def activation(self, environment: Any) -> Any:  # noqa: ANN401  # the runtime's own types
        """Return the activation of these facts, which serves all conditions of the call."""
        if self._activation is None:
            self._activation = environment.Activation(self._variables())
        return self._activation

    def _variables(self) -> dict[str, Any]:
        return {
            "arguments": self.arguments.value,
            "cost": self._cost(),
            "action": {
                "name": self.call.action.name,
                "environment": self.environment,
                "kind": self.kind,
                "blast_radius": self.blast_radius,
            },
            "principal": self._principal(),
            "asset": self.asset,
            "labels": sorted(self.labels),
            "request": self._request(),
            "context": self.context.value,
            "now": self.now,
        }

    def _cost(self) -> JsonObject:
        if self.cost is None:
            return {}
        return {"amount": float(self.cost.amount), "currency": self.cost.currency}

    def _principal(self) -> JsonObject:
        caller = self.caller
        return {
            "name": caller.principal,
            "kind": caller.kind,
            "owner": caller.owner,
            "environment": caller.environment,
            "roles": sorted(caller.roles),
            "tenant": caller.tenant,
        }

    def _request(self) -> JsonObject:
        action = self.call.action
        return {
            "environment": action.environment,
            "kind": action.kind,
            "tags": sorted(action.tags),
            "blast_radius": action.blast_radius,
            "asset": action.asset,
            "effect": self.call.effect or "",
            "spend": list(self.call.spend),
            "run_id": self.call.run_id or "",
        }
