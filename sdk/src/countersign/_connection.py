"""Where the service is, who asks, and how patiently: what both clients know."""

import os
from importlib.metadata import version
from typing import Any

import httpx

from countersign._protocol import Patience
from countersign._steps import Reply, Request

DEFAULT_URL = "http://127.0.0.1:8321"


class Connection:
    """The service's URL, the key, and the settings of httpx that no environment variable changes."""

    def __init__(self, url: str | None, key: str | None, timeout: float, tries: int) -> None:
        self.url = _checked(url or os.environ.get("COUNTERSIGN_URL") or DEFAULT_URL)
        self.patience = Patience(tries=max(1, tries))
        self.settings: dict[str, Any] = {
            "base_url": self.url,
            "headers": _headers(key or os.environ.get("COUNTERSIGN_KEY")),
            "timeout": timeout,
            "follow_redirects": False,
            "trust_env": False,
        }


def _checked(url: str) -> httpx.URL:
    parsed = httpx.URL(url)
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ValueError("the URL of the service is http(s)://host, perhaps with a port and a path")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ValueError("the URL of the service has no user, query or fragment; the key has its own parameter")
    return parsed


def _headers(key: str | None) -> dict[str, str]:
    headers = {"Accept": "application/json", "User-Agent": f"countersign-python/{version('countersign')}"}
    if key is None:
        return headers
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the key has characters that no key has; was a line break read with it?")
    return {**headers, "Authorization": f"Bearer {key}"}


def build(http: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
    """Return the request as httpx sends it; its path never leaves the service's URL."""
    if not request.path.startswith("/") or request.path.startswith("//"):
        raise ValueError("a path of the API begins with one slash")
    timeout = http.timeout
    if request.read_timeout is not None:
        timeout = httpx.Timeout(timeout.connect, read=request.read_timeout)
    headers = dict(request.headers)
    if request.content is not None:
        headers["Content-Type"] = "application/json"
    return http.build_request(
        request.method,
        request.path,
        params=request.params or None,
        headers=headers,
        content=request.content,
        timeout=timeout,
    )


def reply_of(response: httpx.Response) -> Reply:
    """Return what httpx received."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, response.content)
