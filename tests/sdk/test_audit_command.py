"""`countersign audit verify`: the real command, offline, and the exit codes that scripts rely on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "countersign"
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "audit.json").read_text())
LINES: list[str] = VECTORS["cases"][0]["lines"]


def verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing in its environment that concerns it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
    return subprocess.run(
        [COMMAND, "audit", "verify", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The clean export of the vectors."""
    return written(tmp_path, LINES)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The public keys of the vectors."""
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(VECTORS["public_keys"]))
    return path


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "export.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_keys_and_a_head_prove_it(export: Path, keys: Path) -> None:
    done = verify(export, "--keys", keys, "--head", VECTORS["head"])
    assert done.returncode == 0
    assert "7. the last hash is the head you expect: yes" in done.stdout
    assert "PROVED: 5 records, 0 to 4" in done.stdout


def test_without_keys_or_a_head_it_is_consistent_and_no_more(export: Path, keys: Path) -> None:
    alone = verify(export)
    assert alone.returncode == 3
    assert "6. each record is signed by a key you trust: not asked, no keys given" in alone.stdout
    assert "records could be missing at the end" in alone.stdout
    assert "could have been made anew" in alone.stdout
    assert verify(export, "--keys", keys).returncode == 3
    assert verify(export, "--head", VECTORS["head"]).returncode == 3


def test_what_is_broken_is_named(tmp_path: Path) -> None:
    done = verify(written(tmp_path, [*LINES[:2], LINES[2].replace("approved", "rejected"), *LINES[3:]]))
    assert done.returncode == 1
    assert "4. each hash is that of its record: NO" in done.stdout
    assert "BROKEN at record 2 (line 3)" in done.stdout


def test_a_cut_end_is_found_by_the_head(tmp_path: Path) -> None:
    done = verify(written(tmp_path, LINES[:3]), "--head", VECTORS["head"])
    assert done.returncode == 1
    assert "BROKEN at the end" in done.stdout


@pytest.mark.parametrize("lines", [[], ["{"], [LINES[0], ""], ['{"seq": 0}']], ids=["empty", "half", "blank", "short"])
def test_what_is_no_export_is_not_readable(tmp_path: Path, lines: list[str]) -> None:
    done = verify(written(tmp_path, lines))
    assert done.returncode == 2
    assert "NOT READABLE" in done.stdout
    assert not lines or f"line {len(lines)}" in done.stdout


def test_a_range_is_verified_from_the_hash_before_it(tmp_path: Path, keys: Path) -> None:
    before = json.loads(LINES[1])["hash"]
    part = written(tmp_path, LINES[2:])
    arguments = (part, "--keys", keys, "--head", VECTORS["head"])
    done = verify(*arguments, "--from-seq", "2", "--prev", before)
    assert done.returncode == 0
    assert "The records before 2 are not in this file" in done.stdout
    assert verify(*arguments, "--from-seq", "2").returncode == 2
    assert verify(*arguments).returncode == 1


def test_a_script_reads_json(export: Path) -> None:
    found = json.loads(verify(export, "--json").stdout)
    assert (found["verdict"], found["ok"], found["records"], found["head"]) == ("consistent", True, 5, VECTORS["head"])


@pytest.mark.parametrize("text", ["", "[]", "{", '{"k": "no pem"}', '{"k": "a", "k": "a"}'])
def test_keys_that_are_none_are_a_sentence(export: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text)
    done = verify(export, "--keys", path)
    assert done.returncode == 2
    assert done.stderr.startswith("countersign: ")
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    done = verify(tmp_path / "nowhere.jsonl")
    assert done.returncode == 2
    assert "No such file" in done.stderr
