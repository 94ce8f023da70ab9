"""The differences between two policies, in words, and which way each of them turns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from app.core.money import Money
from app.core.outcomes import Outcome, stronger
from app.core.policy import ApproverRule, Knobs, Limit, Policy
from app.core.policy.actions import ActionPolicy
from app.core.policy.policies import Unlisted
from app.core.policy.rules import Rule
from app.core.windows import describe


class Turn(StrEnum):
    """Whether a change lets more through, less, or cannot be told without knowing the calls."""

    LOOSER = "looser"
    STRICTER = "stricter"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Difference:
    """One change: what it is about (`action voucher.issue`, `limit pace`, ...), in a sentence, and its turn."""

    about: str
    sentence: str
    turn: Turn = Turn.OTHER


def differences(before: Policy, after: Policy) -> tuple[Difference, ...]:
    """Return what changes from one policy to the other; nothing if they say the same."""
    return (
        *_version(before, after),
        *_unlisted(before, after),
        *_knobs("defaults", before.defaults, after.defaults),
        *_actions(before, after),
        *_named("limit", _by_name(before.limits), _by_name(after.limits), _limit),
        *_named("approver rule", _by_name(before.approvers), _by_name(after.approvers), _approver),
    )


def _version(before: Policy, after: Policy) -> Iterator[Difference]:
    if before.version != after.version:
        sentence = f"the version is {after.version or 'no longer named'} instead of {before.version or 'not named'}"
        yield Difference("version", f"{sentence}; activating it cancels open questions")


_CAUTION: Final = {Unlisted.EVALUATE: 0, Unlisted.REQUIRE_HUMAN: 1, Unlisted.DENY: 2}


def _unlisted(before: Policy, after: Policy) -> Iterator[Difference]:
    if before.unlisted is not after.unlisted:
        turn = _turn(_CAUTION[after.unlisted] - _CAUTION[before.unlisted])
        yield Difference("unlisted", f"unlisted actions: {after.unlisted} instead of {before.unlisted}", turn)


def _turn(caution: float) -> Turn:
    return Turn.STRICTER if caution > 0 else Turn.LOOSER if caution < 0 else Turn.OTHER


def _knobs(about: str, before: Knobs, after: Knobs) -> Iterator[Difference]:
    for name in ("require_verification_score", "max_blast_radius", "min_severity"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            turn = {"require_verification_score": new > old, "max_blast_radius": new < old}.get(name)
            stricter = Turn.OTHER if turn is None else Turn.STRICTER if turn else Turn.LOOSER
            yield Difference(about, f"{name} is {new} instead of {old}", stricter)
    for name in ("require_human_for", "deny_for", "require_sandbox_for"):
        yield from _labels(about, name, getattr(before, name), getattr(after, name))
    yield from _over(about, before.require_human_over, after.require_human_over)


def _labels(about: str, name: str, before: frozenset[str], after: frozenset[str]) -> Iterator[Difference]:
    if gone := before - after:
        yield Difference(about, f"{name} no longer has {', '.join(sorted(gone))}", Turn.LOOSER)
    if new := after - before:
        yield Difference(about, f"{name} has {', '.join(sorted(new))} now", Turn.STRICTER)


def _over(about: str, before: Money | None, after: Money | None) -> Iterator[Difference]:
    if before == after:
        return
    if before is None or after is None or before.currency != after.currency:
        turn = Turn.STRICTER if before is None else Turn.LOOSER if after is None else Turn.OTHER
    else:
        turn = Turn.STRICTER if after.amount < before.amount else Turn.LOOSER
    yield Difference(about, f"require_human_over is {_money(after)} instead of {_money(before)}", turn)


def _money(money: Money | None) -> str:
    return "not set" if money is None else str(money)


def _actions(before: Policy, after: Policy) -> Iterator[Difference]:
    everywhere = {found.sentence for found in _knobs("defaults", before.defaults, after.defaults)}
    for name in sorted(before.actions.keys() - after.actions.keys()):
        yield Difference(f"action {name}", f"it is no longer listed, and so {after.unlisted}", Turn.OTHER)
    for name in sorted(after.actions.keys() - before.actions.keys()):
        yield Difference(f"action {name}", f"it is new; so far it was unlisted, and so {before.unlisted}", Turn.OTHER)
    for name, action in after.actions.items():
        if name in before.actions:
            found = _action(before.actions[name], action)
            yield from (one for one in found if one.sentence not in everywhere)


def _action(before: ActionPolicy, after: ActionPolicy) -> Iterator[Difference]:
    about = f"action {after.name}"
    yield from _rules(about, before.rules, after.rules)
    yield from _knobs(about, before.knobs, after.knobs)
    for name, words in _PARTS.items():
        old, new = getattr(before, name), getattr(after, name)
        if _plain(old) != _plain(new):
            yield Difference(about, f"{words} {'is new' if not old else 'is gone' if not new else 'is another'}")


_PARTS: Final[Mapping[str, str]] = {
    "description": "its description",
    "arguments": "the schema of its arguments",
    "labels": "what it declares and derives as labels",
    "asset": "its asset",
    "cost": "its cost",
    "effect": "its effect key",
    "spend": "the list of its scopes",
    "terms": "what holds for its approvals, lease, attempts or refusals",
}


def _plain(value: Any) -> object:  # noqa: ANN401  # parts of an action, of many types
    return getattr(value, "schema", value)


def _rules(about: str, before: Sequence[Rule], after: Sequence[Rule]) -> Iterator[Difference]:
    old, new = [_rule(rule) for rule in before], [_rule(rule) for rule in after]
    if old == new:
        return
    if sorted(old) == sorted(new):
        yield Difference(about, "its rules stand in another order, and the first that matches decides")
        return
    changed = dict(_decisions(before))
    for rule in after:
        was = changed.get(_condition(rule))
        if was is not None and was is not rule.decision:
            turn = Turn.STRICTER if stronger(rule.decision, was) else Turn.LOOSER
            yield Difference(about, f"{_condition(rule)}: {rule.decision} instead of {was}", turn)
    conditions = {_condition(rule) for rule in after}
    yield from (Difference(about, f"no rule any more {text}") for text in changed if text not in conditions)
    for rule in after:
        if _condition(rule) not in changed:
            yield Difference(about, f"a new rule {_condition(rule)}: {rule.decision}")


def _decisions(rules: Sequence[Rule]) -> Iterator[tuple[str, Outcome]]:
    for rule in reversed(rules):
        yield _condition(rule), rule.decision


def _condition(rule: Rule) -> str:
    return f"when {rule.when.text}" if rule.when else "otherwise"


def _rule(rule: Rule) -> tuple[str, str, str]:
    return _condition(rule), rule.decision.value, rule.reason


def _by_name(items: Sequence[Any]) -> Mapping[str, Any]:
    return {item.name: item for item in items}


def _named(
    kind: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    compare: Callable[[str, Any, Any], Iterator[Difference]],
) -> Iterator[Difference]:
    """Yield the differences between two lists of things that are known by their names."""
    for name in sorted(before.keys() - after.keys()):
        yield Difference(f"{kind} {name}", "it is gone", Turn.LOOSER if kind == "limit" else Turn.OTHER)
    for name in sorted(after.keys() - before.keys()):
        yield Difference(f"{kind} {name}", "it is new", Turn.STRICTER if kind == "limit" else Turn.OTHER)
    for name in (name for name in after if name in before):
        yield from compare(f"{kind} {name}", before[name], after[name])


def _limit(about: str, before: Limit, after: Limit) -> Iterator[Difference]:
    if before.pattern != after.pattern:
        yield Difference(about, f"it covers {after.pattern} instead of {before.pattern}")
    if before.window != after.window:
        yield Difference(about, f"its window is {_window(after)} instead of {_window(before)}")
    if (before.currency, before.metric) != (after.currency, after.metric):
        yield Difference(about, f"it is {_allowance(after)} instead of {_allowance(before)}")
    elif before.amount != after.amount:
        turn = _turn(float(before.amount - after.amount))
        yield Difference(about, f"it is {_allowance(after)} instead of {_allowance(before)}", turn)


def _allowance(limit: Limit) -> str:
    return f"{int(limit.amount)} calls" if limit.currency is None else _money(Money(limit.amount, limit.currency))


def _window(limit: Limit) -> str:
    window = describe(limit.window)
    return "all time" if window is None else " ".join(map(str, window.values()))


def _approver(about: str, before: ApproverRule, after: ApproverRule) -> Iterator[Difference]:
    if before.quorum != after.quorum:
        turn = _turn(after.quorum - before.quorum)
        yield Difference(about, f"its quorum is {after.quorum} instead of {before.quorum}", turn)
    for name in ("principals", "roles", "via", "labels"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Difference(about, f"{name}: {_listed(new)} instead of {_listed(old)}")
    if before.match is not after.match:
        yield Difference(about, f"a question needs {after.match} of its labels instead of {before.match}")
    if before.allow_self_approval != after.allow_self_approval:
        turn = Turn.LOOSER if after.allow_self_approval else Turn.STRICTER
        may = "may" if after.allow_self_approval else "may no longer"
        yield Difference(about, f"who asks {may} approve", turn)


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
