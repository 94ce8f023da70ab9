"""A Chromium for the tests: the one that is there, else Debian's package, else playwright's own build."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_PATIENCE = 600


@cache
def found() -> str | None:
    """Return the path of a Chromium, installing one where that is possible."""
    return _there() or _from_debian() or _of_playwright()


def required() -> str:
    """Return the path of a Chromium. Without one the tests of the console are left out, and in CI they fail."""
    path = found()
    if path is not None:
        return path
    missing = (
        "NO CHROMIUM, SO THE CONSOLE IS NOT TESTED IN A BROWSER. Install Debian's package (apt-get install chromium) "
        "or playwright's build (playwright install chromium)."
    )
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def _there() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


def _from_debian() -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "-qq", "update"], ["apt-get", "-qq", "-y", "install", "chromium"]):
        if not _done(command, environment):
            return None
    return _there()


def _of_playwright() -> str | None:
    command = shutil.which("playwright")
    if command is None or not _done([command, "install", "chromium"], dict(os.environ)):
        return None
    builds = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
    return next((str(path) for path in sorted(builds.glob("chromium-*/chrome-linux*/chrome"))), None)


def _done(command: list[str], environment: dict[str, str]) -> bool:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE, env=environment)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
