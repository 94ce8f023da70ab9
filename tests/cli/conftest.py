"""What tests of the command share."""

from pathlib import Path

import pytest

from tests.command import run


@pytest.fixture
def operator(database_url: str, tmp_path: Path) -> dict[str, str]:
    """The settings with which an operator's command works."""
    key = tmp_path / "signing-key.pem"
    assert run("signing-key", str(key)).returncode == 0
    return {"database_url": database_url, "signing_key_file": str(key)}
