"""Whether the consequences that a call names are free to happen."""

from collections.abc import Sequence

from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.effects.admissions import State
from app.effects.book import Effect
from app.gate import lapses
from app.gate.lane import Lane


def check_effects(lane: Lane, keys: Sequence[str], max_attempts: int) -> list[Trigger]:
    """Return why the keys cannot all be reserved; nothing if they can."""
    checks = (_check(lane, key, max_attempts) for key in keys)
    return [trigger for trigger in checks if trigger is not None]


def _check(lane: Lane, key: str, max_attempts: int) -> Trigger | None:
    effect = lane.effects.effect(key)
    if effect is None:
        return None
    lapses.meet(lane, effect.holder)
    match effect.state:
        case State.RESERVED:
            return _deny(Code.EFFECT_IN_PROGRESS, "another admission is about to have this effect", effect)
        case State.EXECUTED:
            return _deny(Code.EFFECT_ALREADY_DONE, "this effect has already happened", effect)
        case State.UNKNOWN:
            message = "whether this effect has happened is unknown; somebody with the right to resolve must say"
            return _deny(Code.EFFECT_UNKNOWN, message, effect)
        case State.NOT_EXECUTED:
            return _exhausted(effect, max_attempts)


def _exhausted(effect: Effect, max_attempts: int) -> Trigger | None:
    if effect.attempt < max_attempts:
        return None
    message = f"this effect has been attempted {effect.attempt} times, and the policy allows {max_attempts}"
    return _deny(Code.ATTEMPTS_EXHAUSTED, message, effect)


def _deny(code: Code, message: str, effect: Effect) -> Trigger:
    return Trigger(
        code,
        Outcome.DENY,
        message,
        {"effect": effect.key, "admission_id": effect.holder.id, "attempt": effect.attempt},
    )
