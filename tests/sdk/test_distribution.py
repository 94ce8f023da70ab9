"""What comes with the distribution, and what it needs."""

import subprocess
import sys
from importlib.metadata import requires
from importlib.resources import files

import countersign

_WITHOUT_EXTRAS = """
import sys
for name in ("cryptography", "rfc8785", "rich", "typer", "app"):
    sys.modules[name] = None
import countersign
countersign.Countersign().close()
assert countersign.verify_export([], head="0" * 64).verdict == "consistent"
from countersign.cli import main
main()
"""


def test_it_depends_on_httpx_only() -> None:
    needed = [line for line in requires("countersign") or [] if "extra ==" not in line]
    assert [line.split(">")[0] for line in needed] == ["httpx"]


def test_it_works_without_its_extras_and_the_command_says_what_is_missing() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'countersign[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_typed() -> None:
    assert files("countersign").joinpath("py.typed").is_file()


def test_every_public_name_is_there_and_documented() -> None:
    for name in countersign.__all__:
        assert hasattr(countersign, name)
    assert sorted(countersign.__all__) == list(countersign.__all__)
