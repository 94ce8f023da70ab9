"""`countersignd policy`: write policies, try them, and bring them into force."""

from collections.abc import Callable, Mapping
from typing import Final

import typer

from app.cli import policy_files, policy_revisions

_COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "lint": policy_files.lint_files,
    "test": policy_files.run_tests,
    "evaluate": policy_files.evaluate_call,
    "diff": policy_files.compare_files,
    "coverage": policy_files.cover_file,
    "schema": policy_files.print_schema,
    "store": policy_revisions.store_file,
    "list": policy_revisions.list_revisions,
    "show": policy_revisions.show_revision,
    "activate": policy_revisions.activate_revision,
    "shadow": policy_revisions.shadow_revision,
    "replay": policy_revisions.replay_file,
}

app = typer.Typer(name="policy", help="Write policies, try them, and bring them into force.", no_args_is_help=True)

for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
