"""The command `countersign`: for people who approve, look after effects and money, or verify the record.

Exit codes, everywhere but in `audit verify`: 0 done · 1 the service refused · 2 the command was not understood ·
4 no credential, or not the right · 5 not found · 6 no answer from the service. `audit verify` has its own.
"""

import sys


def main() -> None:
    """Run the command."""
    try:
        from countersign.cli.commands import run  # noqa: PLC0415 - the extra `cli`
    except ModuleNotFoundError as error:
        sys.exit(f"countersign: {error.name} is missing; install it with: pip install 'countersign[cli]'")
    run()
