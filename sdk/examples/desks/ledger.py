"""The world outside, as the desks find it: things happen there, fail there, or happen and nobody hears of it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from countersign import NotExecuted
from desks.calls import ToolCall


class AnswerLostError(Exception):
    """The line went dead after the request was sent."""


@dataclass(slots=True)
class Ledger:
    """What really happened: how often each effect, and how many dollars each desk and customer moved."""

    effects: Counter[str] = field(default_factory=Counter)
    moved: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def perform(self, call: ToolCall) -> None:
        """Do what the call asks.

        Raises:
            NotExecuted: the world said no; nothing has changed.
            AnswerLostError: it is done, but the answer did not come back.
        """
        if call.fails:
            raise NotExecuted
        if call.effect is not None:
            self.effects[call.effect] += 1
        self._move(call)
        if call.lost:
            raise AnswerLostError

    def _move(self, call: ToolCall) -> None:
        amount = call.amount or Decimal(0)
        for scope in (f"desk:{call.desk}", f"customer:{call.customer}"):
            self.moved[scope] += amount
