"""The demo: a day of real calls against a real service, in which every invariant holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "sdk" / "examples"


@pytest.mark.timeout(300)
def test_the_demo_holds_what_it_tells() -> None:
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES)}
    command = [sys.executable, "-m", "desks"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "NOT TRUE" not in done.stdout
    for ending in ("held, approved by a person, done", "a cap had no room", "a negative amount", "was lost"):
        assert ending in done.stdout
