"""What an operator installs: pinned, without root, and in step with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PINNED = re.compile(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)(?: ; [^\\]*)? \\")


def pinned(file: str) -> dict[str, str]:
    lines = (DEPLOY / file).read_text().splitlines()
    matches = [PINNED.fullmatch(line) for line in lines if not line.startswith("    --hash=")]
    assert None not in matches, "every line is a release or a hash"
    return {canonicalize_name(match[1]): match[2] for match in matches if match}


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-build.txt"])
def test_pinned_releases_name_no_address(file: str) -> None:
    text = (DEPLOY / file).read_text()
    assert "://" not in text
    assert "index" not in text


def test_pinned_releases_satisfy_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    releases = pinned("requirements.txt")
    for requirement in map(Requirement, project["dependencies"]):
        release = releases.get(canonicalize_name(requirement.name))
        assert release is not None, f"{requirement.name} is not pinned: run deploy/pin"
        assert requirement.specifier.contains(release), f"{requirement} is pinned at {release}: run deploy/pin"


def test_the_image_is_not_run_by_root_and_says_when_it_is_well() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert "\nUSER countersign\n" in text
    assert "\nHEALTHCHECK " in text
    assert text.count("--require-hashes") == 2


def test_compose_migrates_before_it_serves() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert services["postgres"]["image"].startswith("postgres:17")
    assert services["service"]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert services["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}
    assert services["migrate"]["command"] == ["migrate"]
