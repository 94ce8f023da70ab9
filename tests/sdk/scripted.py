"""A service that says what a test wrote down for it, under httpx's own transport for tests."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx

Reply = httpx.Response | Exception
Play = Callable[[dict[str, Any]], Reply] | Reply

ADMIT = "POST /v1/admit"
QUESTION = "GET /v1/approvals/apr_1"


class Scripted:
    """Replies to each route in the order written, the last one for ever, and keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self._plays: dict[str, deque[Play]] = defaultdict(deque)

    def on(self, route: str, *plays: Play) -> "Scripted":
        """Write down what a route replies: a response, an exception of the transport, or a function of the body."""
        self._plays[route].extend(plays)
        return self

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        route = f"{request.method} {request.url.path}"
        plays = self._plays[route]
        if not plays:
            raise AssertionError(f"nothing is written down for {route}")
        play = plays.popleft() if len(plays) > 1 else plays[0]
        reply = play if isinstance(play, httpx.Response | Exception) else play(body_of(request))
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    @property
    def transport(self) -> httpx.MockTransport:
        """The transport for either client."""
        return httpx.MockTransport(self)

    def sent(self, route: str) -> list[dict[str, Any]]:
        """Return the bodies that a route was sent."""
        return [body_of(each) for each in self.requests if f"{each.method} {each.url.path}" == route]

    def told(self) -> list[dict[str, Any]]:
        """Return the bodies of all reports."""
        return [body_of(each) for each in self.requests if each.url.path.endswith("/outcome")]

    @property
    def routes(self) -> list[str]:
        """The routes that were called, in order."""
        return [f"{request.method} {request.url.path}" for request in self.requests]


def body_of(request: httpx.Request) -> dict[str, Any]:
    """Return a request's JSON body, empty where it has none."""
    body: dict[str, Any] = json.loads(request.content) if request.content else {}
    return body


def reply(status: int, body: object = None, **headers: str) -> httpx.Response:
    """Return a JSON response; underscores in the names of headers become hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={} if body is None else body, headers=named)


def problem(status: int, title: str, **members: object) -> httpx.Response:
    """Return a problem document."""
    body = {"type": "https://countersign.example/problems/x", "title": title, "status": status, **members}
    return httpx.Response(
        status,
        content=json.dumps(body),
        headers={"content-type": "application/problem+json", "x-request-id": "req_1", "retry-after": "0"},
    )


def allow(admitted: str = "adm_1", **members: object) -> httpx.Response:
    """Return an admission."""
    return reply(
        200,
        {
            "outcome": "allow",
            "allowed": True,
            "reason": "no check fired",
            "checks": [],
            "triggered": [],
            "labels": ["live"],
            "approval_id": None,
            "audit_id": "dev/7",
            "admission": {
                "id": admitted,
                "expires_at": "2026-11-29T10:05:00.000000Z",
                "attempt": 1,
                "effect": ["voucher:AB12"],
                "provider_token": "tok_1",
            },
            **members,
        },
        x_request_id="req_1",
    )


def held(**members: object) -> httpx.Response:
    """Return a question that waits for a person."""
    return refused("rule", "require_human", approval_id="apr_1", **members)


def refused(
    code: str, outcome: str = "deny", values: Mapping[str, object] | None = None, /, **members: object
) -> httpx.Response:
    """Return a no for one reason."""
    message = f"because of {code}"
    return reply(
        200,
        {
            "outcome": outcome,
            "allowed": False,
            "reason": message,
            "checks": [message],
            "triggered": [{"code": code, "outcome": outcome, "message": message, **(values or {})}],
            "labels": [],
            "approval_id": None,
            "audit_id": "dev/7",
            "admission": None,
            **members,
        },
    )


def question(status: str, **members: object) -> httpx.Response:
    """Return a question as whoever asked reads it."""
    return reply(200, {"id": "apr_1", "status": status, "expires_at": "2026-11-29T10:15:00.000000Z", **members})


@contextmanager
def serving(service: Scripted) -> Iterator[str]:
    """Let the scripted service be met over a real socket, and give its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            url = f"http://{self.headers['host']}{self.path}"
            response = service(httpx.Request(self.command, url, headers=dict(self.headers), content=content))
            self.send_response(response.status_code)
            self.send_header("content-length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        do_POST = do_DELETE = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
