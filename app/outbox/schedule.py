"""When a delivery that did not succeed is attempted again, and when no more."""

from dataclasses import dataclass
from datetime import timedelta
from random import SystemRandom

_CHANCE = SystemRandom()
_JITTER = 0.25


@dataclass(frozen=True, slots=True)
class Schedule:
    """Waits that grow by a factor up to the longest; after the last attempt the delivery has failed.

    By default: 5 s, 15 s, 45 s, 2 min, 7 min, 20 min, 1 h, 3 h, then every 6 h; twelve attempts in about 22 hours.
    """

    first: timedelta = timedelta(seconds=5)
    factor: float = 3
    longest: timedelta = timedelta(hours=6)
    attempts: int = 12

    def wait_after(self, attempt: int) -> timedelta:
        """Return the wait after the attempt of that number, from 1; up to a quarter more or less, by chance."""
        wait = min(self.longest, self.first * self.factor ** (attempt - 1))
        return wait * _CHANCE.uniform(1 - _JITTER, 1 + _JITTER)
