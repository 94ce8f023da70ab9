"""How the tree is named: files are nouns of the product, and what a room is stands in its first lines."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "app").rglob("*.py")) + sorted((ROOT / "sdk" / "src").rglob("*.py"))
ROOMS = sorted(path.parent for path in (ROOT / "app").rglob("__init__.py"))
TOP_LEVEL = {
    ".ci", ".dockerignore", ".gitignore", "CHANGELOG.md", "Dockerfile", "LICENSE", "Makefile", "README.md", "app",
    "deploy", "docker-compose.yml", "docs", "migrations", "openapi", "pyproject.toml", "sdk", "tests",
}  # fmt: skip
SAYS_NOTHING = {"util", "utils", "helper", "helpers", "common", "manager", "service", "services", "base", "misc"}
LONGEST_FILE = 400


def tracked_at_the_top() -> set[str]:
    ignored = {".git", *(line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines())}
    return {path.name for path in ROOT.iterdir()} - ignored


def test_the_top_level_is_what_a_newcomer_expects() -> None:
    assert tracked_at_the_top() <= TOP_LEVEL


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_file_is_named_after_its_subject(path: Path) -> None:
    assert not SAYS_NOTHING & set(path.stem.strip("_").split("_"))


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_file_has_one_subject_and_a_length_that_fits(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_a_room_says_what_it_owns_and_defines_nothing_in_its_first_file(room: Path) -> None:
    module = ast.parse((room / "__init__.py").read_text())
    assert ast.get_docstring(module)
    assert all(isinstance(statement, ast.Expr | ast.ImportFrom | ast.Assign) for statement in module.body)


def functions() -> list[tuple[str, int]]:
    return [
        (f"{path.name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_functions_are_short() -> None:
    lengths = sorted(length for _, length in functions())
    assert lengths[len(lengths) // 2] <= 10
    assert lengths[len(lengths) * 9 // 10] <= 35


def test_the_core_reads_no_clock_and_rolls_no_dice() -> None:
    forbidden = {"now", "utcnow", "today", "random", "token_hex", "uuid4", "getenv"}
    for path in (ROOT / "app" / "core").rglob("*.py"):
        calls = {
            node.func.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        assert not forbidden & calls, path
