"""Where a webhook may lead: the form of its URL, and the addresses that its host stands for.

A tenant chooses the URL, and the service sits inside somebody's network: without these rules a tenant could make it
knock at doors that only the inside can reach (CWE-918). A name is resolved once and all its addresses are checked, so
that it cannot mean one thing when it is checked and another when it is connected to.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

import httpx

from app.outbox.webhooks import LONGEST_URL

IPAddress = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

_GREATEST_PORT: Final = 65_535

# The IANA special-purpose address registries (RFC 6890 and its updates), multicast, what is reserved; and the address
# at which a cloud's machines meet their host, which looks like a public one.
_NOT_PUBLIC = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",
        # Within 2000::/3: protocol assignments (Teredo, ORCHID), documentation, 6to4, AS112.
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
]
_GLOBAL_UNICAST = ip_network("2000::/3")  # RFC 4291, section 2.4: nothing else of IPv6 is public
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: the IPv4 address is its last four bytes

# Names are looked up in threads of their own: a resolver that hangs keeps nobody else waiting.
_LOOKUPS = ThreadPoolExecutor(8, thread_name_prefix="webhook-lookup")


class ForbiddenTargetError(Exception):
    """The URL leads where no webhook may; the message says which rule it breaks and names no address."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """What an operator allows beyond public https.

    `origins` are internal receivers by scheme, host and port (`https://hooks.internal:8443`), which may be of plain
    http and lie at private addresses. With `loopback`, on a laptop, everything on the machine itself may be reached.
    """

    origins: frozenset[str] = frozenset()
    loopback: bool = False

    @classmethod
    def of(cls, origins: Iterable[str], *, loopback: bool = False) -> "Permitted":
        """Return what these origins permit.

        Raises:
            ForbiddenTargetError: one of them is not an origin.
        """
        return cls(frozenset(_origin(parsed(origin)) for origin in origins), loopback)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be sent to, and the addresses to connect to, in order."""

    url: httpx.URL
    addresses: tuple[IPAddress, ...]


def parsed(text: str) -> httpx.URL:
    """Return the URL, if it has the form of one that may be sent to.

    Raises:
        ForbiddenTargetError: it has not.
    """
    if len(text) > LONGEST_URL or not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise ForbiddenTargetError(f"a URL of at most {LONGEST_URL} visible ASCII characters is expected")
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        raise ForbiddenTargetError("this is not a URL") from None
    if url.scheme not in {"https", "http"} or not url.host:
        raise ForbiddenTargetError("a URL such as https://hooks.example.com/approvals is expected")
    if not 0 < _port(url) <= _GREATEST_PORT:
        raise ForbiddenTargetError("the URL has a port that does not exist")
    if url.userinfo or url.fragment:
        raise ForbiddenTargetError("the URL may hold neither a user name nor a fragment")
    return url


async def target(url: httpx.URL, permitted: Permitted, resolve: Resolver) -> Target:
    """Resolve the host of a URL, once, and return where to connect to.

    Raises:
        ForbiddenTargetError: the URL is not https, or an address of its host is not public; unless that is permitted.
    """
    addresses = tuple(dict.fromkeys(await resolve(host(url), _port(url))))
    if not addresses:
        raise ForbiddenTargetError("the host of the URL has no address")
    if _is_permitted(url, addresses, permitted):
        return Target(url, addresses)
    if url.scheme != "https":
        raise ForbiddenTargetError("the URL has to be of https")
    if not all(is_public(address) for address in addresses):
        raise ForbiddenTargetError("the host of the URL has an address that is not public")
    return Target(url, addresses)


def host(url: httpx.URL) -> str:
    """Return the host of a URL as it stands there: an international name in its ASCII form."""
    return url.raw_host.decode("ascii")


async def resolve(host: str, port: int) -> Sequence[IPAddress]:
    """Return the addresses of a host by the system's resolver; none if it has none."""
    if (literal := _literal(host)) is not None:
        return [literal]
    loop = asyncio.get_running_loop()
    try:
        found = await loop.run_in_executor(_LOOKUPS, _look_up, host, port)
    except (OSError, UnicodeError):
        return []
    # A link-local address comes with the name of an interface, which says nothing about whether it is public.
    return [ip_address(address.partition("%")[0]) for address in found]


def is_public(address: IPAddress) -> bool:
    """Return whether the address is one of the internet's, by itself and by what it carries inside."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _GLOBAL_UNICAST:
            return False
    return not any(address in network for network in _NOT_PUBLIC if network.version == address.version)


def _is_permitted(url: httpx.URL, addresses: Sequence[IPAddress], permitted: Permitted) -> bool:
    if permitted.loopback and all(address.is_loopback for address in addresses):
        return True
    return _origin(url) in permitted.origins and not any(_is_nowhere(address) for address in addresses)


def _is_nowhere(address: IPAddress) -> bool:
    """Return whether nobody's receiver can be there: many hosts, none, or the link's own (a cloud's metadata)."""
    inside = address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
    return inside.is_multicast or inside.is_unspecified or inside.is_link_local


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{host(url)}:{_port(url)}"


def _port(url: httpx.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def _literal(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _look_up(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
