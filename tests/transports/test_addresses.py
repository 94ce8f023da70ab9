"""A webhook leads to the public internet and nowhere else, whatever its host is called and stands for."""

from ipaddress import ip_address

import pytest

from app.transports import addresses
from app.transports.addresses import ForbiddenTargetError, IPAddress, Permitted, Target, is_public

NOBODY = Permitted()

NOT_PUBLIC = [
    "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "100.100.100.200",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:10.0.0.1", "fe80::1", "fec0::1", "fc00::1",
    "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "100::1",
    "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "5f00::1", "4000::1",
]  # fmt: skip

PUBLIC = ["8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "64:ff9b::8.8.8.8"]


async def leads(url: str, *found: str, permitted: Permitted) -> bool:
    return (await target(url, *found, permitted=permitted)).addresses == tuple(map(ip_address, found))


async def target(url: str, *found: str, permitted: Permitted = NOBODY) -> Target:
    async def resolve(host: str, port: int) -> list[IPAddress]:
        del host, port
        return [ip_address(address) for address in found]

    return await addresses.target(addresses.parsed(url), permitted, resolve)


@pytest.mark.parametrize("address", NOT_PUBLIC)
async def test_what_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(ForbiddenTargetError):
        await target("https://hooks.example/in", address)


@pytest.mark.parametrize("address", PUBLIC)
async def test_what_is_public_is_connected_to(address: str) -> None:
    assert (await target("https://hooks.example/in", address)).addresses == (ip_address(address),)


async def test_one_private_address_among_public_ones_is_enough() -> None:
    with pytest.raises(ForbiddenTargetError):
        await target("https://hooks.example/in", "8.8.8.8", "10.0.0.1")


async def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(ForbiddenTargetError):
        await target("https://hooks.example/in")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/in",
        "ftp://hooks.example/in",
        "file:///etc/passwd",
        "https:///in",
        "https:hooks.example",
        "//hooks.example/in",
        "hooks.example/in",
        "https://user:password@hooks.example/in",
        "https://hooks.example/in#fragment",
        "https://hooks.example:0/in",
        "https://hooks.example:65536/in",
        "https://hooks.example/a b",
        "https://hooks.example\\@10.0.0.1/",
        "https://hooks.example/\r\nHost: inside",
        "https://hooks.example/\x00",
        "https://b\u00fccher.example/in",
        "https://hooks.example/" + "a" * 2_048,
        "",
    ],
)
async def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(ForbiddenTargetError):
        await target(url, "8.8.8.8")


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_the_machine_itself_is_refused_however_it_is_written(host: str) -> None:
    with pytest.raises(ForbiddenTargetError):
        await addresses.target(addresses.parsed(f"https://{host}/in"), NOBODY, addresses.resolve)


async def test_a_name_that_nobody_knows_has_no_address() -> None:
    assert await addresses.resolve("nobody.invalid", 443) == []
    assert await addresses.resolve(f"{'a' * 64}.example", 443) == []


async def test_an_operator_permits_an_internal_receiver_by_its_whole_origin() -> None:
    permitted = Permitted.of(["https://hooks.internal:8443", "http://desk.internal"])
    assert await leads("https://hooks.internal:8443/in", "10.0.0.1", permitted=permitted)
    assert await leads("http://desk.internal:80/in", "10.0.0.2", permitted=permitted)
    for other in ("https://hooks.internal/in", "http://hooks.internal:8443/in", "https://other.internal:8443/in"):
        with pytest.raises(ForbiddenTargetError):
            await target(other, "10.0.0.1", permitted=permitted)


@pytest.mark.parametrize("address", ["169.254.169.254", "224.0.0.1", "::", "fe80::1", "::ffff:169.254.169.254"])
async def test_not_even_an_operator_permits_where_no_receiver_can_be(address: str) -> None:
    permitted = Permitted.of(["http://desk.internal"])
    with pytest.raises(ForbiddenTargetError):
        await target("http://desk.internal/in", address, permitted=permitted)


async def test_on_a_laptop_the_laptop_itself_may_be_reached_and_nothing_else_inside() -> None:
    laptop = Permitted(loopback=True)
    assert await leads("http://localhost:9000/in", "127.0.0.1", "::1", permitted=laptop)
    for inside in ("10.0.0.1", "169.254.169.254"):
        with pytest.raises(ForbiddenTargetError):
            await target("http://localhost:9000/in", "127.0.0.1", inside, permitted=laptop)


@pytest.mark.parametrize("origin", ["hooks.internal", "https://", "ftp://hooks.internal"])
def test_what_is_no_origin_permits_nothing(origin: str) -> None:
    with pytest.raises(ForbiddenTargetError):
        Permitted.of([origin])
