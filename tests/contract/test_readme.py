"""What the README promises, done: its commands are run as they stand, and their output is what it says."""

import os
import re
import runpy
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END_OF_OUTPUT = "--end-of-output--"


class Step(NamedTuple):
    """A command, and what it prints; `...` stands for anything."""

    command: str
    output: str


def blocks(language: str) -> list[str]:
    return [body for found, body in FENCED.findall(README) if found == language]


def steps() -> list[Step]:
    found: list[Step] = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:], ""))
        elif line.startswith("> "):
            found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
        else:
            found[-1] = found[-1]._replace(output=f"{found[-1].output}{line}\n")
    return found


@pytest.fixture
def newcomer() -> Iterator[tuple[Path, int]]:
    """A folder in which `make serve` has been run, and the port it serves on."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        with serving(folder / ".countersign") as process:
            yield folder, port_of(process)


@contextmanager
def serving(data: Path) -> Iterator["subprocess.Popen[str]"]:
    command = ["make", "--no-print-directory", "-C", str(ROOT), "serve", "PORT=0", f"DATA={data}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def port_of(process: "subprocess.Popen[str]") -> int:
    said = iter(process.stdout or ())
    line = next(line for line in said if "http://127.0.0.1:" in line)
    while "/v1/audit/export" not in next(said):
        pass
    return int(line.partition("http://127.0.0.1:")[2].split()[0])


def outputs(folder: Path, port: int, commands: list[str]) -> list[str]:
    """Run the commands in one shell, and return what each printed."""
    script = "".join(f"{command}\necho {END_OF_OUTPUT}\n" for command in commands)
    script = script.replace("127.0.0.1:8321", f"127.0.0.1:{port}")
    done = subprocess.run(["bash"], input=script, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.stdout.split(f"{END_OF_OUTPUT}\n")


def matches(printed: str, promised: str) -> bool:
    pattern = ".*".join(map(re.escape, promised.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


@pytest.mark.skipif(
    shutil.which("curl") is None and not os.environ.get("CI"),
    reason="the story is told with curl, which this machine lacks; CI has to have it",
)
def test_the_story_is_true(newcomer: tuple[Path, int]) -> None:
    folder, port = newcomer
    told = steps()
    printed = outputs(folder, port, [step.command for step in told])
    for step, output in zip(told, printed, strict=False):
        assert matches(output, step.output), f"{step.command}\nprinted {output!r}\nand not  {step.output!r}"


def test_the_snippet_runs(newcomer: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, port = newcomer
    keys = (folder / ".countersign" / "secrets" / "dev-keys.json").read_text()
    found = re.search(r'"agent": "(.*)"', keys)
    monkeypatch.setenv("COUNTERSIGN_KEY", found[1] if found else "")
    snippet = folder / "snippet.py"
    snippet.write_text(blocks("python")[0].replace("127.0.0.1:8321", f"127.0.0.1:{port}"))
    airline = SimpleNamespace(issue=lambda booking, amount: f"voucher {booking} {amount}")

    names = runpy.run_path(str(snippet), init_globals={"airline": airline})
    with names["client"]:
        assert names["issue_voucher"]("CD34", 50) == "voucher CD34 50"


def test_its_first_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^make ([a-z]+)", "".join(blocks("sh")), re.MULTILINE) + re.findall(r"`make ([a-z]+)`", README)
    assert {"serve", "test"} <= set(named)
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
