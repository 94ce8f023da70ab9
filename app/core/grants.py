"""Grants: what somebody may ask for, within which bounds; and whether one grant lies within another.

A grant decides nothing: it permits the question to be asked. Its bounds are the same in a body, in the record and in
the database; `read` is the one way from there to here, for whatever stands there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeVar

from app.core.action_patterns import ActionPattern
from app.core.globs import Glob
from app.core.money import Money, is_currency, parse_amount
from app.core.policy.argument_types import Arguments
from app.core.policy.conditions import Condition, ConditionError, compile_condition
from app.core.values import Json, JsonObject

T = TypeVar("T")
P = TypeVar("P", ActionPattern, Glob)

MOST: Final = 64
"""How many patterns, environments or budgets a grant has of each."""

MOST_CONDITIONS: Final = 16
"""How many conditions: each is evaluated while the tenant's lane waits."""


class Dimension(StrEnum):
    """What a grant can be bounded in, by the names of its members."""

    ACTIONS = "actions"
    ASSETS = "assets"
    ENVIRONMENTS = "environments"
    CONDITIONS = "conditions"
    BUDGETS = "budgets"
    EXPIRY = "expiry"


class BoundsError(ValueError):
    """The bounds cannot be read; the message says what is expected of which of them."""

    def __init__(self, dimension: Dimension, message: str) -> None:
        super().__init__(message)
        self.dimension = dimension


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a grant is bounded by. None, and no conditions, is no bound; `actions` are always bounded.

    `budgets` are amounts by currency, over the whole life of the grant. `expires_at` is over exactly at its time.
    """

    actions: tuple[ActionPattern, ...]
    assets: tuple[Glob, ...] | None = None
    environments: frozenset[str] | None = None
    conditions: tuple[Condition, ...] = ()
    budgets: Mapping[str, Decimal] | None = None
    expires_at: datetime | None = None

    def stated(self) -> dict[str, Json]:
        """Return the bounds as `read` takes them; the expiry stands beside them."""
        said: dict[str, Json] = {Dimension.ACTIONS: [pattern.text for pattern in self.actions]}
        if self.assets is not None:
            said[Dimension.ASSETS] = [pattern.text for pattern in self.assets]
        if self.environments is not None:
            said[Dimension.ENVIRONMENTS] = sorted(self.environments)
        if self.conditions:
            said[Dimension.CONDITIONS] = [condition.text for condition in self.conditions]
        if self.budgets is not None:
            budgets = sorted(self.budgets.items())
            said[Dimension.BUDGETS] = [Money(amount, currency).as_json() for currency, amount in budgets]
        return said


def read(said: Json, expires_at: datetime | None) -> Bounds:
    """Return the bounds that are stated: lists of texts, and of amounts with their currency.

    Raises:
        BoundsError: there are no actions, a list is empty, or something in it is not what it should be.
    """
    stated = said if isinstance(said, Mapping) else {}
    actions = _listed(stated, Dimension.ACTIONS, ActionPattern)
    if actions is None:
        raise BoundsError(Dimension.ACTIONS, "the actions are missing; `**` stands for every action")
    environments = _listed(stated, Dimension.ENVIRONMENTS, str)
    return Bounds(
        actions=actions,
        assets=_listed(stated, Dimension.ASSETS, Glob),
        environments=None if environments is None else frozenset(environments),
        conditions=_listed(stated, Dimension.CONDITIONS, condition) or (),
        budgets=_budgets(stated),
        expires_at=expires_at,
    )


def condition(text: str) -> Condition:
    """Return the condition that the text is, over the same facts as a policy's.

    Raises:
        ConditionError: it is none, or compares an amount without saying of which currency.
    """
    found = compile_condition(text, Arguments(), currency_fixed=True)
    if "cost.amount" in found.reads and "cost.currency" not in found.reads:
        raise ConditionError("it reads cost.amount, so it has to read cost.currency too: 100 of which?")
    return found


def excess(child: Bounds, parent: Bounds) -> tuple[Dimension, ...]:
    """Return the dimensions in which a child reaches beyond its parent: to leave out what the parent has does, too.

    A pattern of the child lies within a single one of the parent, and every condition of the parent stands in the
    child word for word: more could be contained than is recognised so, and never less.
    """
    within = {
        Dimension.ACTIONS: _contained(child.actions, parent.actions),
        Dimension.ASSETS: parent.assets is None or _contained(child.assets, parent.assets),
        Dimension.ENVIRONMENTS: parent.environments is None
        or (child.environments is not None and child.environments <= parent.environments),
        Dimension.CONDITIONS: set(child.conditions) >= set(parent.conditions),
        Dimension.BUDGETS: parent.budgets is None or _no_more(child.budgets, parent.budgets),
        Dimension.EXPIRY: parent.expires_at is None
        or (child.expires_at is not None and child.expires_at <= parent.expires_at),
    }
    return tuple(dimension for dimension, holds in within.items() if not holds)


def _contained(child: Iterable[P] | None, parent: Sequence[P]) -> bool:
    return child is not None and all(any(wide.contains(narrow) for wide in parent) for narrow in child)


def _no_more(child: Mapping[str, Decimal] | None, parent: Mapping[str, Decimal]) -> bool:
    if child is None:
        return False
    return all(currency in parent and amount <= parent[currency] for currency, amount in child.items())


def _listed(said: JsonObject, dimension: Dimension, make: Callable[[str], T]) -> tuple[T, ...] | None:
    found = said.get(dimension)
    if found is None:
        return None
    try:
        return tuple(make(_text(element)) for element in _elements(found, dimension))
    except BoundsError:
        raise
    except ValueError as error:
        raise BoundsError(dimension, f"{dimension}: {error}") from None


def _budgets(said: JsonObject) -> dict[str, Decimal] | None:
    found = said.get(Dimension.BUDGETS)
    if found is None:
        return None
    budgets: dict[str, Decimal] = {}
    for element in _elements(found, Dimension.BUDGETS):
        if not isinstance(element, Mapping) or element.keys() != {"amount", "currency"}:
            raise BoundsError(Dimension.BUDGETS, "budgets: an amount and a currency are expected of each")
        currency = element["currency"]
        if not isinstance(currency, str) or not is_currency(currency) or currency in budgets:
            raise BoundsError(Dimension.BUDGETS, "budgets: each is in another currency, of three capital letters")
        try:
            budgets[currency] = parse_amount(element["amount"])
        except ValueError as error:
            raise BoundsError(Dimension.BUDGETS, f"budgets: {error}") from None
    return budgets


def _elements(found: Json, dimension: Dimension) -> Sequence[Json]:
    most = MOST_CONDITIONS if dimension is Dimension.CONDITIONS else MOST
    if isinstance(found, str) or not isinstance(found, Sequence) or not 1 <= len(found) <= most:
        raise BoundsError(dimension, f"{dimension}: a list of 1 to {most} is expected; leave it out to set no bound")
    return found


def _text(element: Json) -> str:
    if not isinstance(element, str) or not element:
        raise ValueError("a text is expected")
    return element
