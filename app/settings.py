"""What an operator sets, from the environment: `COUNTERSIGN_` and the name in capitals. Read at the edge only."""

import re
from dataclasses import fields
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.core.defaults import Defaults
from app.core.durations import LONGEST_LEASE, LONGEST_WAIT, parse_duration

PREFIX = "COUNTERSIGN_"

_REQUIRED = {
    "database_url": "the Postgres to use, such as postgresql://countersign:password@db.internal/countersign",
    "signing_key_file": "the Ed25519 key of the record, as PKCS#8 PEM; `countersignd signing-key FILE` makes one",
    "public_url": "the address under which agents and people reach the service, such as https://countersign.internal",
}
# What asyncpg takes from the query of a URL; anything else it would take for a server setting or refuse obscurely.
_DATABASE_OPTIONS = frozenset({"host", "port", "ssl"})

_ORIGIN = re.compile(r"https?://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)
_NATS_ROOT = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_SHORTEST_KEY = 32  # of a key that seals webhooks' secrets


class IncompleteSettingsError(Exception):
    """Settings are missing without which the service does not start; the message names each."""

    def __init__(self, names: list[str]) -> None:
        lines = (f"  {PREFIX}{name.upper()} is not set: {_REQUIRED[name]}" for name in names)
        super().__init__("\n".join(("the service does not start without these:", *lines)))


class ShortKeyError(ValueError):
    """A file of a key that seals webhooks' secrets holds too little to be random enough."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} needs at least {_SHORTEST_KEY} random characters: openssl rand -hex 32 makes 64")


def _span(value: object) -> timedelta:
    """Return the span of time that a setting states; a default is one already."""
    return value if isinstance(value, timedelta) else parse_duration(value)


Span = Annotated[timedelta, BeforeValidator(_span)]
Wait = Annotated[Span, Field(le=LONGEST_WAIT)]
Lease = Annotated[Span, Field(le=LONGEST_LEASE)]

_USUAL = Defaults()


class Settings(BaseSettings):
    """All settings. Spans of time are written as policies write them, such as 15m."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    development: bool = Field(default=False, description="A laptop: loopback only. Never for others to reach")
    host: str = Field(default="127.0.0.1", description="The address to listen on")
    port: int = Field(default=8321, ge=0, le=65535, description="The port to listen on; 0 takes a free one")
    public_url: str | None = Field(default=None, description="The service's address as others see it")

    database_url: SecretStr | None = Field(default=None, description="postgresql://user:password@host:port/database")
    database_connections: int = Field(default=12, ge=1, le=500, description="Connections a process holds at most")
    pgbouncer: bool = Field(default=False, description="A pooler in transaction mode is in between")

    signing_key_file: Path | None = Field(default=None, description="The Ed25519 key of the record, PKCS#8 PEM")
    signing_key_passphrase: SecretStr | None = Field(default=None, description="Its passphrase, if it has one")
    signing_key_passphrase_file: Path | None = Field(default=None, description="A file that holds the passphrase")

    webhook_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Internal receivers that webhooks may lead to: https://hooks.internal:8443,..."
    )
    webhook_key_files: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(), description="Keys that seal webhooks' secrets, newest first; by default one of the signing key's"
    )
    webhook_authorities_file: Path | None = Field(
        default=None, description="Certificates of authorities, PEM, that receivers may have besides the public ones"
    )
    nats_url: SecretStr | None = Field(default=None, description="Where questions are published: nats://user:pw@host")
    nats_root: str = Field(default="countersign", description="Questions of a tenant go to <root>.<tenant>")
    console: bool = Field(default=False, description="Write questions to standard error too")
    worker: bool = Field(
        default=True, description="Sweep and deliver in the serving processes; else `countersignd work`"
    )

    approval_ttl: Wait = Field(default=_USUAL.approval_ttl, description="For votes, where the policy does not say")
    approval_use_within: Wait = Field(default=_USUAL.approval_use_within, description="To use a yes; the same")
    approval_keep: Span = Field(default=_USUAL.approval_keep, description="Arguments of a question after its end")
    lease: Lease = Field(default=_USUAL.lease, description="Of an admission, where neither policy nor call says")
    live_questions: int = Field(default=_USUAL.live_questions, ge=1, le=1_000, description="A principal's, at most")
    verification: Wait = Field(default=_USUAL.verification, description="How long one counts, if it does not say")
    idempotency_keep: Span = Field(default=_USUAL.idempotency_keep, description="How long a key names its admission")
    replay_keep: Span = Field(default=_USUAL.replay_keep, description="Weighed calls, for replays")

    @field_validator("webhook_origins", "webhook_key_files", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("webhook_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_ORIGIN.fullmatch(origin) for origin in value):
            raise ValueError("origins between commas are expected, such as https://hooks.internal:8443")
        return value

    @field_validator("nats_root")
    @classmethod
    def _tokens(cls, value: str) -> str:
        if not _NATS_ROOT.fullmatch(value):
            raise ValueError("tokens of A-Z, a-z, 0-9, _ and - with points between are expected")
        return value

    @field_validator("public_url")
    @classmethod
    def _an_address_without_path(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "http://unset")
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("not an address of http or https, such as https://countersign.internal")
        return value.rstrip("/") if value else value

    @field_validator("database_url")
    @classmethod
    def _an_address_of_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        return SecretStr(_asyncpg_url(value.get_secret_value())) if value else value

    @model_validator(mode="after")
    def _development_stays_at_home(self) -> Self:
        if self.development and not _is_loopback(self.host):
            message = f"development mode listens on loopback only, and {PREFIX}HOST is {self.host}"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _one_passphrase(self) -> Self:
        if self.signing_key_passphrase and self.signing_key_passphrase_file:
            message = f"set {PREFIX}SIGNING_KEY_PASSPHRASE or {PREFIX}SIGNING_KEY_PASSPHRASE_FILE, not both"
            raise ValueError(message)
        return self

    def require_complete(self) -> None:
        """Check that nothing is missing that the service cannot do without.

        Raises:
            IncompleteSettingsError: names each setting that is missing.
        """
        missing = [name for name in _REQUIRED if getattr(self, name) is None]
        if missing:
            raise IncompleteSettingsError(missing)

    @property
    def database(self) -> str:
        """The SQLAlchemy URL of the database."""
        if self.database_url is None:
            raise IncompleteSettingsError(["database_url"])
        return self.database_url.get_secret_value()

    @property
    def address(self) -> str:
        """The public URL, without a slash at its end."""
        if self.public_url is None:
            raise IncompleteSettingsError(["public_url"])
        return self.public_url

    @property
    def defaults(self) -> Defaults:
        """What holds where neither a policy nor a call says otherwise."""
        return Defaults(**{field.name: getattr(self, field.name) for field in fields(Defaults)})

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels beside webhooks that get every tenant's messages."""
        nats = ("nats",) if self.nats_url else ()
        return (*nats, "console") if self.console else nats

    def read_signing_key(self) -> tuple[bytes, bytes | None]:
        """Return the PEM of the signing key and its passphrase.

        Raises:
            IncompleteSettingsError: no key is named.
            OSError: a file cannot be read.
        """
        if self.signing_key_file is None:
            raise IncompleteSettingsError(["signing_key_file"])
        return self.signing_key_file.read_bytes(), self._passphrase()

    def read_webhook_keys(self) -> list[bytes]:
        """Return what webhooks' secrets are sealed with, the newest first; none if no file is named.

        Raises:
            ShortKeyError: a key could be guessed.
            OSError: a file cannot be read.
        """
        return [_sealing_key(file) for file in self.webhook_key_files]

    def _passphrase(self) -> bytes | None:
        if self.signing_key_passphrase_file:
            return self.signing_key_passphrase_file.read_bytes().rstrip(b"\r\n")
        return self.signing_key_passphrase.get_secret_value().encode() if self.signing_key_passphrase else None


def _sealing_key(file: Path) -> bytes:
    key = file.read_bytes().strip()
    if len(key) < _SHORTEST_KEY:
        raise ShortKeyError(file)
    return key


def _asyncpg_url(text: str) -> str:
    try:
        url = make_url(text)
    except ArgumentError:
        raise ValueError("not an address of Postgres, such as postgresql://user:password@host/database") from None
    if url.drivername not in {"postgres", "postgresql", "postgresql+asyncpg"}:
        message = f"the database has to be Postgres, and this address begins with {url.drivername}://"
        raise ValueError(message)
    return _with_known_options(url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)


def _with_known_options(url: URL) -> URL:
    # libpq says sslmode, asyncpg takes the same words as ssl.
    options = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    unknown = sorted(options.keys() - _DATABASE_OPTIONS)
    if unknown:
        message = f"these options of the database's address are not known: {', '.join(unknown)}"
        raise ValueError(message)
    return url.set(query=options)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
