"""`countersignd` in a process of its own, as an operator's shell runs it."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).parent / "countersignd"


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command with these settings and no others."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
    environment |= {f"COUNTERSIGN_{name.upper()}": value for name, value in settings.items()}
    return subprocess.run(
        [COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=30, check=False
    )
