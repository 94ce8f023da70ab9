"""Imports run inward, as docs/adr/0001 says; the contracts are in pyproject.toml."""

import subprocess
import sys
from pathlib import Path


def test_the_import_contracts_hold() -> None:
    command = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([command, "--no-cache", "--no-logo"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
