"""Behind PgBouncer in transaction mode: the same races, with connections that change under the service."""

import asyncio
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.ask import call, put_in_force, verified
from tests.concurrency.conftest import POLICY, together
from tests.live import LiveService, free_port

_PACKAGE = "pgbouncer"


def _command() -> str:
    """Return the pooler, from the system or from Debian's package; without one, say so loudly."""
    if shutil.which(_PACKAGE) is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False, capture_output=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", _PACKAGE], check=False, capture_output=True)
    found = shutil.which(_PACKAGE)
    if found is not None:
        return found
    message = "PgBouncer is not here and cannot be installed: nothing shows that the service works behind it"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def _pooler(database_url: str, folder: Path) -> Iterator[str]:
    """Run a pooler before the database, and yield the URL through it."""
    command, port, parts = _command(), free_port(), urlsplit(database_url)
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"""
[databases]
* = host={parse_qs(parts.query)["host"][0]} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
"""
    )
    folder.chmod(0o755)
    # The socket is open to the server's own user only; as root that is not ours.
    owner = ["-u", Path(parse_qs(parts.query)["host"][0]).owner()] if os.geteuid() == 0 else []
    process = subprocess.Popen([command, "-q", *owner, str(settings)])
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}{parts.path}"
    finally:
        process.terminate()
        process.wait(10)


async def test_races_hold_behind_a_pooler(
    database_url: str, serve: Callable[..., LiveService], keys: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "pooler"
    folder.mkdir()
    for above in folder.parents:
        if above.is_relative_to(tmp_path.parents[2]):
            above.chmod(0o755)
    with _pooler(database_url, folder) as url:
        service = await asyncio.to_thread(serve, workers=2, database_url=url, pgbouncer="true")
        clients = {
            name: httpx.AsyncClient(base_url=service.url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
            for name, key in keys.items()
        }
        await put_in_force(clients["policy_admin"], POLICY)
        answers = await together(clients["agent"], [call("pay", {"desk": "pooled"}, cost="30")] * 64)
        assert Counter(answer["allowed"] for answer in answers) == {True: 33, False: 31}
        answers = await together(clients["agent"], [call("deliver", {"parcel": "pooled"})] * 32)
        assert Counter(answer["allowed"] for answer in answers) == {True: 1, False: 31}
        await verified(clients["auditor"])
        for client in clients.values():
            await client.aclose()
