"""The two doors to Postgres, and what can go wrong behind them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Executable, Row
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

T = TypeVar("T")
Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]

_SERIALIZATION_FAILURES = frozenset({"40001", "40P01"})
# Class 08 is a broken connection, 3D000 a database that is not there, 57P0x a backend that was ended, 53300 too many of
# them, 25006 a primary that is one no longer, 55P03 and 57014 a lock or statement time-out (PostgreSQL documentation,
# appendix A).
_UNAVAILABLE = frozenset(
    {"3D000", "57P01", "57P02", "57P03", "57P04", "57P05", "53300", "53100", "53200", "25006", "55P03", "57014"}
)
_TRIES = 4

# A process that stands still inside a transaction, paused or cut off, must not hold a tenant's lane for longer than
# callers wait. Statements here are small, and compiling them would take longer than running them. A pooler passes
# none of these on: there they are set by ALTER ROLE (deploy/README.md).
_SERVER_SETTINGS = {
    "application_name": "countersign",
    "idle_in_transaction_session_timeout": "5s",
    "lock_timeout": "4s",
    "statement_timeout": "4s",
    "jit": "off",
}


class StoreUnavailableError(Exception):
    """The database did not answer, or not in time. Nothing was changed."""


class CommitLostError(StoreUnavailableError):
    """The connection broke while committing: the transaction happened whole, or not at all."""


class Reader:
    """A connection that reads."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def rows(self, statement: Executable, parameters: Parameters | None = None) -> Sequence[Row[Any]]:
        """Return all rows of the statement."""
        return (await self._connection.execute(statement, parameters)).all()

    async def row(self, statement: Executable, parameters: Parameters | None = None) -> Row[Any] | None:
        """Return the first row, or None."""
        return (await self._connection.execute(statement, parameters)).first()


class Writer(Reader):
    """A connection inside the transaction of one command."""

    async def write(self, statement: Executable, parameters: Parameters | None = None) -> int:
        """Run a statement that changes rows and return how many it matched."""
        return (await self._connection.execute(statement, parameters)).rowcount


@dataclass(frozen=True, slots=True)
class Limits:
    """Connections of the pool, and the seconds that a caller waits for one, for a connect and for a statement."""

    connections: int = 12
    pool_wait: float = 3.0
    connect: float = 2.0
    statement: float = 4.0


class Database:
    """Postgres, as the rest of the service sees it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")

    @classmethod
    def at(cls, url: str, limits: Limits | None = None, *, prepared: bool = True) -> "Database":
        """Return the database at a `postgresql+asyncpg://` URL; `prepared=False` suits a pooler in transaction mode."""
        limits = limits or Limits()
        arguments: dict[str, Any] = {"timeout": limits.connect, "command_timeout": limits.statement}
        if prepared:
            arguments |= {"server_settings": _SERVER_SETTINGS}
        else:
            arguments |= {"statement_cache_size": 0, "prepared_statement_name_func": _unnamed}
        engine = create_async_engine(
            url,
            pool_size=limits.connections,
            max_overflow=0,
            pool_timeout=limits.pool_wait,
            pool_use_lifo=True,
            hide_parameters=True,
            connect_args=arguments,
        )
        return cls(engine)

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()

    async def read(self, query: Callable[[Reader], Awaitable[T]]) -> T:
        """Run a query outside any transaction and return what it returns.

        Raises:
            StoreUnavailableError: the database did not answer.
        """
        async with _translated(), self._autocommit.connect() as connection:
            return await query(Reader(connection))

    async def transact(self, command: Callable[[Writer], Awaitable[T]]) -> T:
        """Run one command in one transaction, commit, and return what it returned.

        Returning commits, raising rolls back. On a serialization failure the command runs again.

        Raises:
            StoreUnavailableError: the database did not answer; nothing was changed.
            CommitLostError: it broke while committing; look up what happened before trying again.
        """
        for _ in range(_TRIES):
            try:
                return await self._attempt(command)
            except DBAPIError as error:
                if _sqlstate(error) not in _SERIALIZATION_FAILURES:
                    raise
        raise StoreUnavailableError

    async def _attempt(self, command: Callable[[Writer], Awaitable[T]]) -> T:
        async with _translated(), self._engine.connect() as connection:
            transaction = await connection.begin()
            result = await command(Writer(connection))
            try:
                await transaction.commit()
            except Exception as error:
                if _is_unavailable(error):
                    raise CommitLostError from error
                raise
            return result


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    """Turn every way in which a database can be absent into the one error that callers answer with 503."""
    try:
        yield
    except StoreUnavailableError:
        raise
    except Exception as error:
        if _is_unavailable(error):
            raise StoreUnavailableError from error
        raise


def _is_unavailable(error: Exception) -> bool:
    if isinstance(error, (PoolTimeout, InterfaceError, OSError, asyncio.TimeoutError)):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = _sqlstate(error)
    return error.connection_invalidated or state in _UNAVAILABLE or state.startswith("08") or _broken(error)


def _broken(error: DBAPIError) -> bool:
    return isinstance(error, OperationalError) and not _sqlstate(error)


def _sqlstate(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", None) or "")


def _unnamed() -> str:
    return ""
