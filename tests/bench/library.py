"""The library `ctrlrun` beside us: its protected call with an effect key, over the same Postgres.

It decides in the process of who calls, so its callers are threads: each calls, and calls again when that has returned.
It takes its calls on standard input and says what it measured in one line, as the load generators do.
"""

import itertools
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_POLICY = """
schema: ctrlrun.policy/v2
actions:
  bench.pay:
    effect: "invoice:{invoice}"
    rules:
      - when: {amount_gte: 0, amount_lte: 100}
        decision: allow
      - decision: deny
"""


def main() -> None:
    """Call for so many seconds from so many threads."""
    import ctrlrun  # noqa: PLC0415 - the extra `bench`
    from ctrlrun.postgres import PostgresStateStore  # noqa: PLC0415 - the same

    wanted: dict[str, Any] = json.load(sys.stdin)
    control = ctrlrun.Control(ctrlrun.Policy.from_yaml(_POLICY), PostgresStateStore(wanted["conninfo"]))
    numbers = itertools.count(1)

    def pay(invoice: str, amount: int) -> str:
        return f"{invoice}: {amount}"

    protected = ctrlrun.protect("bench.pay", effect="invoice:{invoice}", control=control)(pay)

    def call_until(ends: float) -> list[float]:
        latencies = []
        with ctrlrun.context(agent="bench"):
            while (begun := time.perf_counter()) < ends:
                protected(invoice=f"{wanted['tag']}-{next(numbers)}", amount=12)
                latencies.append(time.perf_counter() - begun)
        return latencies

    with ThreadPoolExecutor(wanted["threads"]) as threads:
        # Every thread opens its connection, which is no part of what is measured.
        list(threads.map(call_until, [time.perf_counter() + 0.5] * wanted["threads"]))
        started = time.perf_counter()
        called = threads.map(call_until, [started + wanted["seconds"]] * wanted["threads"])
        latencies = sorted(itertools.chain.from_iterable(called))
    _say(latencies, time.perf_counter() - started)


def _say(latencies: list[float], seconds: float) -> None:
    half, nearly_all = (1000 * latencies[int(share * (len(latencies) - 1))] for share in (0.5, 0.99))
    print(f"MEASURED {seconds:.6f} {len(latencies)} {half:.3f} {nearly_all:.3f} 0 0 ")


if __name__ == "__main__":
    main()
