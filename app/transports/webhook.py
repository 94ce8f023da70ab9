"""The webhook transport: one POST to a checked address, signed, answered with a status, and nothing else of it used."""

import asyncio
import secrets
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx

from app.core.canonical import canonical_json
from app.core.strict_json import JsonError, load
from app.outbox.deliveries import Parcel, Receipt
from app.outbox.sealing import Sealer, SealError
from app.transports import addresses, signatures
from app.transports.addresses import ForbiddenTargetError, Permitted, Resolver, Target

PATIENCE: Final = 10.0
"""Seconds that an attempt or a challenge may take, the look-up of the name included."""

_LONGEST_ECHO = 4_096
_GONE = 410
_USER_AGENT = "Countersign-Webhooks/1"


class WebhookTransport:
    """Sends messages to webhooks.

    Every attempt has a connection of its own: one that is kept would be found again by its address alone, and could
    carry a message to another host with the same address.
    """

    def __init__(
        self,
        sealer: Sealer,
        permitted: Permitted,
        authorities: ssl.SSLContext,
        *,
        resolve: Resolver = addresses.resolve,
        patience: float = PATIENCE,
    ) -> None:
        self._sealer = sealer
        self._permitted = permitted
        self._authorities = authorities
        self._resolve = resolve
        self._patience = patience

    async def close(self) -> None:
        """Do nothing: every attempt opens a connection of its own and closes it."""

    async def send(self, parcel: Parcel) -> Receipt:
        """Attempt a delivery once; a status of 2xx is a success, 410 says that no other attempt is wanted."""
        endpoint = parcel.endpoint
        if endpoint is None:
            return Receipt(delivered=False, detail="there is no such webhook", final=True)
        try:
            signing = [self._sealer.open(sealed) for sealed in endpoint.secrets]
        except SealError:
            return Receipt(delivered=False, detail="its secret does not open with this service's keys: rotate it")
        headers = signatures.headers(parcel.message_id, int(time.time()), parcel.body, signing)
        if endpoint.legacy_header:
            headers |= signatures.legacy_header(parcel.body, signing[0])
        return await self._post(endpoint.url, parcel.body, headers)

    async def challenge(self, url: str, secret: str) -> str | None:
        """Ask the receiver at a URL to echo a random word; return why it cannot be used, or None if it can.

        The receiver gets `{"type": "webhook.challenge", "timestamp": ..., "data": {"challenge": WORD}}`, signed like
        any message, and has to answer 2xx with `{"challenge": WORD}`. So nobody registers somebody else's service.
        """
        word = secrets.token_urlsafe(24)
        body = _challenge(word)
        headers = signatures.headers(f"msg_{secrets.token_hex(16)}", int(time.time()), body, [secret])
        try:
            async with asyncio.timeout(self._patience):
                status, echo = await self._exchange(await self._target(url), body, headers, _LONGEST_ECHO)
        except (ForbiddenTargetError, httpx.HTTPError, ssl.SSLError, TimeoutError) as error:
            return _reason(error)
        if not _is_success(status):
            return f"the receiver answered {status} to the challenge"
        return None if _echoes(echo, word) else "the receiver did not echo the challenge"

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Receipt:
        try:
            async with asyncio.timeout(self._patience):
                status, _ = await self._exchange(await self._target(url), body, headers, 0)
        except (ForbiddenTargetError, httpx.HTTPError, ssl.SSLError, TimeoutError) as error:
            return Receipt(delivered=False, detail=_reason(error))
        return Receipt(delivered=_is_success(status), detail=f"answered {status}", final=status == _GONE)

    async def _target(self, url: str) -> Target:
        return await addresses.target(addresses.parsed(url), self._permitted, self._resolve)

    async def _exchange(self, target: Target, body: bytes, headers: Mapping[str, str], read: int) -> tuple[int, bytes]:
        """Send to the first address that takes the connection; once something was sent no other is tried."""
        for address in target.addresses[:-1]:
            try:
                return await self._exchange_with(str(address), target.url, body, headers, read)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._exchange_with(str(target.addresses[-1]), target.url, body, headers, read)

    async def _exchange_with(
        self, address: str, url: httpx.URL, body: bytes, headers: Mapping[str, str], read: int
    ) -> tuple[int, bytes]:
        async with (
            httpx.AsyncClient(verify=self._authorities, trust_env=False, timeout=self._patience) as client,
            client.stream(
                "POST",
                url.copy_with(host=address),
                content=body,
                headers={**headers, "Host": url.netloc.decode("ascii"), **_OURS},
                extensions={"sni_hostname": addresses.host(url)},
                follow_redirects=False,
            ) as response,
        ):
            return response.status_code, await _beginning(response, read)


def authorities(file: Path | None = None) -> ssl.SSLContext:
    """Return what tells whose certificates are believed: the public authorities, and those of a file of PEM.

    Raises:
        OSError: the file cannot be read, or holds no certificates.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if file is not None:
        context.load_verify_locations(file)
    return context


_OURS = {
    "Content-Type": "application/json",
    "User-Agent": _USER_AGENT,
    "Accept": "application/json",
    "Accept-Encoding": "identity",
}


def _challenge(word: str) -> bytes:
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return canonical_json({"type": "webhook.challenge", "timestamp": timestamp, "data": {"challenge": word}})


async def _beginning(response: httpx.Response, most: int) -> bytes:
    """Return the first bytes of the answer as they came over the line; no more is read, and none of it unpacked."""
    read = b""
    if most:
        async for chunk in response.aiter_raw():
            read += chunk
            if len(read) >= most:
                break
    return read[:most]


def _is_success(status: int) -> bool:
    return 200 <= status < 300  # noqa: PLR2004 - RFC 9110, section 15.3


def _echoes(echo: bytes, word: str) -> bool:
    try:
        said = load(echo)
    except JsonError:
        return False
    return isinstance(said, dict) and said.get("challenge") == word


def _reason(error: Exception) -> str:
    """Return what went wrong in words of ours: a receiver's, or a library's, could hold anything."""
    match error:
        case ForbiddenTargetError():
            return str(error)
        case TimeoutError() | httpx.TimeoutException():
            return "no answer in time"
        case httpx.ConnectError() if _is_of_tls(error):
            return "its certificate is not valid for its host"
        case httpx.ConnectError():
            return "no connection"
        case _:
            return "the connection broke before there was an answer"


def _is_of_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
