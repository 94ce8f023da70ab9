"""What is measured of requests, for Prometheus. No principal, argument or scope is in a label."""

import os
from functools import cache
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.responses import Response

from app.api import routing
from app.api.requests import Request

router = routing.router()

SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The environment's name for the folder in which the processes of one service keep their measures."""

_REQUESTS: Final = Counter("countersign_requests_total", "Requests served", ["method", "route", "status"])
_SECONDS: Final = Histogram(
    "countersign_request_seconds",
    "Seconds from a request's first byte to its answer's last",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def served(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; `route` is the template of its path, empty where there is none, so that labels stay few."""
    requests, durations = _measures(method if method in _METHODS else "other", route, status)
    requests.inc()
    durations.observe(seconds)


@cache
def _measures(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    return _REQUESTS.labels(method, route, status), _SECONDS.labels(method, route)


@router.get("/metrics")
async def read_metrics(request: Request) -> Response:  # noqa: ARG001 - every route takes its request
    """Measures of the service on this machine in the Prometheus text format: of all its processes together."""
    return Response(generate_latest(_registry()), media_type=CONTENT_TYPE_LATEST)


def _registry() -> CollectorRegistry:
    """Return what to collect from: where several processes serve, they share a folder, and any of them answers."""
    if SHARED_FOLDER not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # the library has no types here
    return registry
