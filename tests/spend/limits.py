"""Limits, as a policy states them."""

from decimal import Decimal

from app.core.policy.limits import Limit, Metric
from app.core.windows import Window


def limit(pattern: str, amount: int, currency: str | None = "EUR", window: Window | None = None) -> Limit:
    """Return a limit on money, or without a currency on the number of calls."""
    metric = Metric.COUNT if currency is None else Metric.MONEY
    return Limit(pattern, pattern, metric, Decimal(amount), currency, window)
