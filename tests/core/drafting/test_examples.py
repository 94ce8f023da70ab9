"""The examples in the docs: they load, nothing is to be remarked on them, and they decide their cases as they say."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core import policy
from app.core.drafting.cases import read_cases, run
from app.core.drafting.lint import lint

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
POLICIES = sorted(file for file in EXAMPLES.glob("*.yaml") if not file.name.endswith(".test.yaml"))
SOME_TIME = datetime(2026, 11, 3, 9, tzinfo=UTC)


def test_there_are_ten() -> None:
    assert len(POLICIES) == 10


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_an_example_is_clean_and_decides_as_it_says(file: Path) -> None:
    loaded = policy.load(file.read_text())
    assert lint(loaded) == ()
    verdicts = run(loaded, read_cases(file.with_suffix(".test.yaml").read_text()).cases, SOME_TIME)
    assert [verdict for verdict in verdicts if not verdict.passed] == []
    assert len(verdicts) >= 9


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_an_example_has_a_page_that_is_listed(file: Path) -> None:
    listed = (EXAMPLES / "README.md").read_text()
    assert f"]({file.name})" in listed
    if file.stem != "policy":
        assert file.with_suffix(".md").exists()
        assert f"]({file.stem}.md)" in listed
