"""What a call costs: the policy's price, or the caller's word where the policy has none."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from app.core.codes import Code, Trigger
from app.core.money import AmountError, Money, parse_amount
from app.core.outcomes import Outcome
from app.core.policy.places import Place
from app.core.policy.problems import shown
from app.core.policy.templates import TemplateError, split
from app.core.values import Json, JsonObject

GREATEST: Final = Decimal("999999999999999.99999999")
"""The greatest amount that a cost may be, a sum of many included."""

_MOST_STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class Price:
    """Where the policy finds an amount: fixed, in one argument, or summed over a path such as `legs[].price`."""

    fixed: Decimal | None = None
    path: tuple[str, ...] = ()
    text: str = ""

    def amount(self, arguments: JsonObject) -> Decimal:
        """Return the amount that the price is for these arguments.

        Raises:
            AmountError: an amount is missing, is not one, or is negative; or the sum is too great.
        """
        if self.fixed is not None:
            return self.fixed
        total = sum((parse_amount(value) for value in _at(arguments, self.path)), Decimal())
        if total > GREATEST:
            raise AmountError("the sum is greater than any amount")
        return total


@dataclass(frozen=True, slots=True)
class CostRule:
    """The currency of an action's cost, and its price if the policy has one."""

    currency: str
    price: Price | None = None


def resolve(rule: CostRule | None, stated: Money | None, arguments: JsonObject) -> Money | Trigger | None:
    """Return what a call costs, None for nothing, or why that cannot be said."""
    if rule is None:
        return stated
    if stated is not None and stated.currency != rule.currency:
        return mismatch(stated.currency, [rule.currency])
    if rule.price is None:
        return stated or _undetermined(f"the call must state its cost in {rule.currency}")
    try:
        amount = rule.price.amount(arguments)
    except AmountError as error:
        if error.negative:
            return Trigger(Code.COST_NEGATIVE, Outcome.DENY, f"the cost is negative at {rule.price.text}")
        return _undetermined(f"the cost cannot be told from {rule.price.text}: {error}")
    return Money(amount if stated is None else max(amount, stated.amount), rule.currency)


def mismatch(currency: str, expected: Iterable[str]) -> Trigger:
    """Return the refusal of a cost in another currency than those expected."""
    wanted = sorted(set(expected))
    values: Mapping[str, Json] = {"currency": currency, "expected": wanted}
    return Trigger(
        Code.CURRENCY_MISMATCH, Outcome.DENY, f"the cost is in {currency}, and {', '.join(wanted)} is expected", values
    )


def _undetermined(message: str) -> Trigger:
    return Trigger(Code.COST_UNDETERMINED, Outcome.DENY, message)


def _at(value: Json, path: tuple[str, ...]) -> Iterator[Json]:
    """Yield the values at a path in which `[]` stands for every element of a list."""
    if not path:
        yield value
    elif path[0] == "[]":
        if not isinstance(value, (list, tuple)):
            raise AmountError("there is no list where one is expected")
        for element in value:
            yield from _at(element, path[1:])
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _at(value[path[0]], path[1:])
    else:
        raise AmountError(f"{shown(path[0])} is missing")


_COST: Final = ("amount", "sum", "currency")


def read_cost(place: Place) -> CostRule | None:
    """Return the cost rule that stands here."""
    members = place.members(_COST, ("currency",))
    if "amount" in members and "sum" in members:
        place.complain("a cost has either an `amount` or a `sum`")
    currency = members["currency"].currency() if "currency" in members else ""
    if "sum" in members:
        return CostRule(currency, members["sum"].converted(_sum, TemplateError, Price()))
    if "amount" in members:
        return CostRule(currency, members["amount"].converted(_amount, TemplateError, Price()))
    return CostRule(currency)


def _amount(value: Json) -> Price:
    if isinstance(value, str) and "{" in value:
        parts = tuple(split(value))
        if len(parts) != len(("", "argument", "")) or parts[0] or parts[2]:
            raise TemplateError('expected one argument and nothing else, such as "{amount}"; or use `sum`')
        return Price(path=(parts[1],), text=value)
    try:
        return Price(fixed=parse_amount(value))
    except AmountError as error:
        raise TemplateError(str(error)) from None


def _sum(value: Json) -> Price:
    if not isinstance(value, str):
        raise TemplateError('expected a path such as "legs[].price"')
    steps = [step for part in value.split(".") for step in _steps(part)]
    if "[]" not in steps or len(steps) > _MOST_STEPS:
        raise TemplateError(f'expected a path with [] in it and at most {_MOST_STEPS} steps, such as "legs[].price"')
    return Price(path=tuple(steps), text=value)


def _steps(part: str) -> Iterator[str]:
    name = part.rstrip("[]")
    lists = part[len(name) :]
    if not name or lists.replace("[]", "") or "{" in name:
        raise TemplateError('not a path: names with dots between, and [] after a list, such as "legs[].price"')
    yield name
    yield from ["[]"] * (len(lists) // 2)
