"""The app of one process, from its settings: the only place where HTTP is wired."""

import asyncio
import gc
import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import structlog
from fastapi import FastAPI

from app.api import (
    admissions,
    approvals,
    audit,
    catalogue,
    delegations,
    grants,
    health,
    keys,
    metrics,
    noop,
    openapi,
    permits,
    policies,
    policy_tools,
    principals,
    problems,
    rehearsals,
    revocations,
    spend,
    tenants,
    verifications,
    webhooks,
    whoami,
)
from app.api.accounting import Accounting
from app.api.turns import Turns
from app.approvals.waits import Waits
from app.audit import rotation
from app.audit.lane import Lanes
from app.core.chain import Signer
from app.core.permits import PermitIssuer
from app.core.tracebacks import without_messages
from app.db.database import Database, Limits
from app.door.ending import until_told, when_told_to_end
from app.door.house import House
from app.door.readiness import Readiness
from app.gate.desk import Desk
from app.gate.facts import FactCache
from app.gate.lane import LaneBuilder
from app.gate.looks import Looks
from app.gate.refused import RefusalBudget
from app.identity.sessions import Sessions
from app.identity.watch import Watch
from app.outbox.book import Outlets
from app.outbox.sealing import Sealer
from app.settings import Settings
from app.transports import console, nats
from app.transports.addresses import Permitted
from app.transports.console import ConsoleTransport
from app.transports.courier import Routes, Transport
from app.transports.nats import NatsTransport
from app.transports.webhook import WebhookTransport, authorities
from app.web import pages
from app.worker import Worker

_RESOURCES = (
    admissions,
    approvals,
    delegations,
    audit,
    permits,
    policy_tools,
    rehearsals,
    policies,
    keys,
    principals,
    revocations,
    grants,
    whoami,
    tenants,
    health,
    catalogue,
    spend,
    verifications,
    webhooks,
    metrics,
    noop,
)


def from_environment() -> FastAPI:
    """Return the app of the environment's settings, for a server that makes one in each of its processes."""
    return create_app(Settings())


def create_app(settings: Settings) -> FastAPI:
    """Return the service. It opens no connection before it is started.

    Raises:
        IncompleteSettingsError: a setting is missing that the service cannot do without.
        ValueError: the signing key cannot be used.
        OSError: the signing key cannot be read.
    """
    settings.require_complete()
    _log_as(development=settings.development)
    app = _wired()
    house, worker = _furnish(settings)
    app.state.house = house
    app.state.worker = worker if settings.worker else None
    return app


def work() -> None:
    """Sweep and deliver until the process is told to end, without serving anything."""
    settings = Settings()
    settings.require_complete()
    _log_as(development=settings.development)
    asyncio.run(until_told(_work(*_furnish(settings))))


def describe() -> dict[str, Any]:
    """Return the OpenAPI description of the service; it needs no settings."""
    return _wired().openapi()


def _wired() -> FastAPI:
    app = FastAPI(
        title="Countersign",
        summary="Ask before you act: admission for AI agents",
        version=version("countersign-service"),
        lifespan=_running,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        # Spans and measures, if a collector is set up; no logs, which would hold what was sent.
        telemetry={"logs": False},
    )
    problems.install(app)
    openapi.install(app)
    for resource in _RESOURCES:
        app.include_router(resource.router)
    for router in pages.ROUTERS:
        app.include_router(router)
    app.add_middleware(Turns)
    app.add_middleware(Accounting)
    return app


def _furnish(settings: Settings) -> tuple[House, Worker]:
    signer = Signer.from_pem(*settings.read_signing_key())
    sealer = Sealer([*settings.read_webhook_keys(), signer.derive("webhook secrets")])
    webhook = _webhook(settings, sealer)
    database = Database.at(
        settings.database, Limits(connections=settings.database_connections), prepared=not settings.pgbouncer
    )
    facts = FactCache.empty()
    watch = Watch(database, facts.authorities)
    outlets = Outlets(settings.address, settings.channels)
    builder = LaneBuilder(facts, signer, PermitIssuer(signer, settings.address), outlets, settings.defaults)
    house = House(
        address=settings.address,
        development=settings.development,
        defaults=settings.defaults,
        database=database,
        signer=signer,
        lanes=Lanes(database, signer),
        builder=builder,
        desk=Desk(database, builder),
        facts=facts,
        watch=watch,
        readiness=Readiness(database, signer, watch, facts.policies),
        refusals=RefusalBudget(time.monotonic),
        sessions=Sessions(signer.derive("console sessions")),
        waits=Waits(database),
        looks=Looks(database),
        sealer=sealer,
        challenger=webhook,
    )
    routes = Routes(webhook, _others(settings))
    return house, Worker(database, house.desk, house.lanes, routes, settings.defaults)


def _webhook(settings: Settings, sealer: Sealer) -> WebhookTransport:
    permitted = Permitted.of(settings.webhook_origins, loopback=settings.development)
    return WebhookTransport(sealer, permitted, authorities(settings.webhook_authorities_file))


def _others(settings: Settings) -> dict[str, Transport]:
    others: dict[str, Transport] = {}
    if settings.nats_url is not None:
        others[nats.CHANNEL] = NatsTransport(settings.nats_url.get_secret_value(), settings.nats_root)
    if settings.console:
        others[console.CHANNEL] = ConsoleTransport()
    return others


async def _work(house: House, worker: Worker) -> None:
    """Run the worker with the desk that its sweeps go through."""
    await rotation.introduce(house.database, house.lanes, house.signer)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(house.desk.run())
            tasks.create_task(worker.run())
    finally:
        await house.database.close()


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    house: House = app.state.house
    worker: Worker | None = app.state.worker
    await rotation.introduce(house.database, house.lanes, house.signer)
    running = [house.desk.run(), house.waits.run()] + ([worker.run()] if worker else [])
    tasks = [asyncio.create_task(each) for each in running]
    try:
        with when_told_to_end(house.waits.close):
            _spare_the_collector()
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await house.database.close()


def _spare_the_collector() -> None:
    """Keep what lives as long as the process out of the garbage collector's sight, and let it look less often.

    An admission leaves no cycles behind, and looking through the compiled policies again and again for some took a
    sixth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)


def _log_as(*, development: bool) -> None:
    """Write what happens to standard error: a JSON object a line, or in development what a person likes to read."""
    level = logging.WARNING if development else logging.INFO
    shown = structlog.dev.ConsoleRenderer() if development else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(without_messages),
            shown,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
