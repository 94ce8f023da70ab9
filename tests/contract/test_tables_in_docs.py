"""What the documentation says in tables is what the code says."""

import re
from pathlib import Path

from app.door.problems import CATALOGUE
from app.identity.rights import BUNDLES, SINGLY

DOCS = Path(__file__).parents[2] / "docs"


def rows_of(file: str, columns: int) -> list[list[str]]:
    """Return the rows of the tables of a page that have so many columns, without heads and rules."""
    lines = (line for line in (DOCS / file).read_text().splitlines() if line.startswith("| `"))
    rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
    return [row for row in rows if len(row) == columns]


def test_every_problem_is_in_the_catalogue_as_it_is() -> None:
    documented = {name.strip("`"): (int(status), remedy) for name, status, remedy in rows_of("problems.md", 3)}
    assert documented == {kind: (entry.status, entry.remedy) for kind, entry in CATALOGUE.items()}


def test_every_bundle_and_every_single_right_is_documented() -> None:
    documented = {name.strip("`"): set(re.findall(r"`([^`]+)`", rights)) for name, rights in rows_of("identity.md", 2)}
    assert documented == {bundle: set(map(str, rights)) for bundle, rights in BUNDLES.items()}
    singly = re.search(r"Given singly: (.*?)\.\n", (DOCS / "identity.md").read_text(), re.DOTALL)
    assert singly is not None
    assert set(re.findall(r"`([^`]+)`", singly[1])) == set(map(str, SINGLY))
