"""Every route against every bundle, from the one table."""

import asyncio
import re
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.responses import Response
from starlette.types import Message, Scope

from app.api import routing
from app.api.requests import Request
from app.api.responses import answer
from app.audit.lane import Lane, Lanes
from app.core.chain import Signer
from app.core.refusals import Refusal
from app.db.database import Database
from app.door.rights import TABLE
from app.identity import credentials, tenants
from app.identity.credentials import NewKey
from app.identity.principals import Statement
from app.identity.rights import BUNDLES, SINGLY, SYSTEM_TENANT
from tests.conftest import ADDRESS

_OPENAPI = ("GET", "/openapi.json")
_SOMETHING = "something"


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    for context in iter_route_contexts(app.routes):
        for method in (context.methods or set()) - {"HEAD"}:
            yield method, context.path_format or ""


@pytest.fixture
async def held(database: Database, signer: Signer) -> dict[str, str]:
    """A key for every bundle and for every right that is given singly, all in the tenant of the platform."""
    lanes = Lanes(database, signer)
    wanted = {bundle: NewKey(Statement(bundle, "human"), bundles=frozenset({bundle})) for bundle in BUNDLES}
    for right in SINGLY - {"speak_for"}:
        wanted[right] = NewKey(Statement(right, "human"), rights=frozenset({right}))
    speaks = frozenset({"speak_for"})
    wanted["speak_for"] = NewKey(Statement("speak_for", "human"), rights=speaks, speak_for=frozenset({"agent"}))
    first = await tenants.create(
        lanes, SYSTEM_TENANT, NewKey(Statement("first", "human"), frozenset({"admin"})), "test"
    )
    assert not isinstance(first, Refusal)

    async def issue(lane: Lane) -> dict[str, str]:
        issued = {name: await credentials.issue(lane, new, "test") for name, new in wanted.items()}
        return {name: key.key for name, key in issued.items() if not isinstance(key, Refusal)}

    return await lanes.run(SYSTEM_TENANT, issue)


def rights_of(holder: str) -> frozenset[str]:
    return frozenset(BUNDLES.get(holder, frozenset({holder})))


async def test_every_route_lets_in_exactly_those_who_have_its_right(app: FastAPI, held: dict[str, str]) -> None:
    wrong = []
    for method, path in routes_of(app):
        entry = TABLE.get((method, path))
        if entry is None or entry.rights is None:
            continue
        for holder, key in held.items():
            status = await _knock(app, method, path, key)
            if (status != HTTPStatus.FORBIDDEN) != entry.admits(rights_of(holder)):
                wrong.append((method, path, holder, status))
    assert wrong == []


async def test_without_a_key_only_public_routes_answer(app: FastAPI) -> None:
    for method, path in routes_of(app):
        status = await _knock(app, method, path, None)
        entry = TABLE.get((method, path))
        public = entry is not None and entry.rights is None
        assert (status != HTTPStatus.UNAUTHORIZED) == (public or (method, path) == _OPENAPI), (method, path, status)


def test_every_route_has_an_entry_and_every_entry_a_right_that_somebody_can_have(app: FastAPI) -> None:
    routes = set(routes_of(app)) - {_OPENAPI}
    assert routes == TABLE.keys()
    can_be_had = frozenset().union(*BUNDLES.values(), SINGLY)
    for route, entry in TABLE.items():
        assert entry.rights is None or entry.rights <= can_be_had, route


async def test_a_route_without_an_entry_lets_nobody_in(app: FastAPI, held: dict[str, str]) -> None:
    unlisted = routing.router()

    @unlisted.get("/v1/unlisted")
    async def read(request: Request) -> Response:
        return answer(request.id)

    app.include_router(unlisted)
    for key in (*held.values(), None):
        assert await _knock(app, "GET", "/v1/unlisted", key) == HTTPStatus.FORBIDDEN


async def _knock(app: FastAPI, method: str, path: str, key: str | None) -> int:
    """Ask for a thing that does not exist, with a body that cannot be taken: whoever may, learns that.

    It listens no longer than to the status, since a stream of events has no end.
    """
    status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    sent = iter([{"type": "http.request", "body": b"[]", "more_body": False}])

    async def receive() -> Message:
        for message in sent:
            return message
        await status
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.set_result(message["status"])

    proof = [] if key is None else [await _proof(app, path, key)]
    await app(_scope(method, path, proof), receive, send)
    return await status


async def _proof(app: FastAPI, path: str, key: str) -> tuple[bytes, bytes]:
    """Return the header that shows who asks: the key itself, or for a page a session that the key has opened."""
    if not path.startswith("/console"):
        return b"authorization", f"Bearer {key}".encode()
    presented = credentials.parse(key)
    assert presented is not None
    sight = await app.state.house.watch.within(presented.tenant, 60)
    token = app.state.house.sessions.open(sight.authority, presented.id, sight.now())
    return b"cookie", f"__Host-countersign={token}".encode()


def _scope(method: str, path: str, proof: list[tuple[bytes, bytes]]) -> Scope:
    headers = [(b"content-type", b"application/json"), (b"origin", ADDRESS.encode()), *proof]
    url = re.sub(r"\{[^}]+\}", _SOMETHING, path)
    return {
        "type": "http",
        "method": method,
        "path": url,
        "raw_path": url.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "server": ("countersign.test", 80),
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
        "state": {},
    }
