"""The console over real HTTP, people who sign in to it, and a real browser for them."""

import asyncio
import html
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import Browser, Page, async_playwright, expect

from app.core.refusals import Refusal
from app.identity import tenants
from app.identity.credentials import NewKey
from app.identity.principals import Statement
from app.settings import PREFIX, Settings
from tests.approvals.conftest import Desk, at, desk  # noqa: F401 - fixtures
from tests.web import chromium

_PATIENCE = 15_000
expect.set_options(timeout=_PATIENCE)

Visiting = Callable[..., Awaitable["Visitor"]]
SignIn = Callable[..., Awaitable[Page]]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket on a free port: the address of the console is known before it is served."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def address(listener: socket.socket) -> str:
    """The public URL of the console."""
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def settings(environment: dict[str, str], address: str) -> Settings:
    """The settings of a service that is not in development: its cookie is for TLS, or loopback, only."""
    environment = environment | {f"{PREFIX}PUBLIC_URL": address}
    return Settings.model_validate({name.removeprefix(PREFIX).lower(): value for name, value in environment.items()})


@dataclass
class Visitor:
    """Somebody with a browser that runs no script and draws nothing: an HTTP client that keeps cookies."""

    http: httpx.AsyncClient
    origin: str
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **query: str) -> httpx.Response:
        """Read a page."""
        return await self.http.get(path, params=query or None)

    async def post(self, path: str, headers: dict[str, str] | None = None, /, **fields: str) -> httpx.Response:
        """Send a form, as a page of the console does."""
        said = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
        return await self.http.post(path, data=fields, headers=said if headers is None else headers)

    async def sign_in(self, key: str, again: str = "") -> httpx.Response:
        """Fill in the form of the first page."""
        return await self.post("/console/sign-in", key=key, again=again)


def key_of(somewhere: Desk, name: str) -> str:
    """Return somebody's key."""
    return somewhere.people[name].headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
async def visiting(app: FastAPI, address: str, desk: Desk) -> AsyncIterator[Visiting]:  # noqa: F811
    """Visitors of the console, who are signed in if they come with a name."""
    async with AsyncExitStack() as stack:

        async def come(name: str | None = None) -> Visitor:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            # The cookie is for TLS, and goes where it is.
            client = httpx.AsyncClient(transport=transport, base_url=address.replace("http:", "https:"))
            visitor = Visitor(await stack.enter_async_context(client), address)
            if name is not None:
                assert (await visitor.sign_in(key_of(desk, name))).status_code == httpx.codes.SEE_OTHER
            return visitor

        yield come


@pytest.fixture
async def stranger(app: FastAPI, visiting: Visiting) -> Visitor:
    """A supervisor of another tenant, signed in."""
    lanes = app.state.house.lanes
    ada = NewKey(Statement("ada", "human", roles=frozenset({"supervisor"})), frozenset({"approver", "auditor"}))
    issued = await tenants.create(lanes, "other", ada, "test")
    assert not isinstance(issued, Refusal)
    visitor = await visiting()
    assert (await visitor.sign_in(issued.key)).status_code == httpx.codes.SEE_OTHER
    return visitor


@pytest.fixture
async def served(app: FastAPI, listener: socket.socket) -> AsyncIterator[None]:
    """The app, reached over HTTP."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield
    server.should_exit = server.force_exit = True
    await serving


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A Chromium."""
    path = await asyncio.to_thread(chromium.required)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield browser
        await browser.close()


@pytest.fixture
async def sign_in(browser: Browser, served: None, address: str, desk: Desk) -> SignIn:  # noqa: F811, ARG001
    """Pages of people who have come by the front door, each in a browser of their own."""

    async def enter(name: str, **options: Any) -> Page:
        context = await browser.new_context(viewport={"width": 1280, "height": 900}, base_url=address, **options)
        context.set_default_timeout(_PATIENCE)
        page = await context.new_page()
        page.on("dialog", _unexpected)
        page.on("pageerror", _unexpected)
        await page.goto("/console")
        await page.get_by_label("Key").fill(key_of(desk, name))
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_role("button", name="Sign out").wait_for()
        return page

    return enter


def words(response: httpx.Response) -> str:
    """Return what a page says: its text without tags, a space where a part of it ends, spaces run together."""
    parted = re.sub(r"</(?:p|d[dt]|li|div|t[dhr]|h\d|title|summary)>", " ", response.text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", parted)))


def _unexpected(what: object) -> None:
    raise AssertionError(f"a page must not do this: {what}")
