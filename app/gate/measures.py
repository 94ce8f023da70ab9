"""What is measured of decisions, for Prometheus. No tenant, principal, action, argument or scope is in a label."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import Counter, Histogram

from app.gate.answers import Answer

_ANSWERS: Final = Counter(
    "countersign_answers_total", "Answers to calls that wanted to run", ["outcome", "allowed", "replayed"]
)
_COMMANDS: Final = Histogram("countersign_group_commands", "Commands in a group", buckets=(1, 2, 4, 8, 16, 32, 64, 128))
_SECONDS: Final = Histogram(
    "countersign_group_seconds",
    "Seconds of a group from the lock to the commit",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)


def answered(answer: Answer) -> None:
    """Count an answer."""
    replayed = bool(answer.body.get("replayed"))
    _ANSWERS.labels(answer.body["outcome"], str(answer.allowed).lower(), str(replayed).lower()).inc()


@contextmanager
def group(commands: int) -> Iterator[None]:
    """Measure a group while it is served."""
    started = time.perf_counter()
    try:
        yield
    finally:
        _COMMANDS.observe(commands)
        _SECONDS.observe(time.perf_counter() - started)
