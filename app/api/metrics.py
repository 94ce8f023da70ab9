"""What is measured of requests, for Prometheus. No principal, argument or scope is in a label."""

from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Histogram, generate_latest
from starlette.responses import Response

from app.api import routing
from app.api.requests import Request

router = routing.router()

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
    known = method if method in _METHODS else "other"
    _REQUESTS.labels(known, route, status).inc()
    _SECONDS.labels(known, route).observe(seconds)


@router.get("/metrics")
async def read_metrics(request: Request) -> Response:  # noqa: ARG001 - every route takes its request
    """Measures of this process in the Prometheus text format."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
