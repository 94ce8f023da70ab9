"""The JSON Schema of the document: it takes what loads, and refuses what a schema can tell to be wrong."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from app.core.policy.json_schema import document_schema
from tests.core.policy.weighed import document

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
# What only a compiler can tell.
COMPILED = ("when", "asset", "effect", "cost", "sum", "amount", "timezone", "deny", "ttl", "lease", "1", "0")

VALIDATOR = jsonschema_rs.Draft202012Validator(dict(document_schema()), offline=True)


@pytest.mark.parametrize(
    "file", [HERE / "whole.yaml", *sorted(DOCS.glob("examples/*.yaml"))], ids=lambda file: file.name
)
def test_what_loads_is_valid(file: Path) -> None:
    found = yaml.safe_load(file.read_text())
    if "schema" in found:
        errors = [f"{error.instance_path}: {error.message}" for error in VALIDATOR.iter_errors(found)]
        assert errors == []


@pytest.mark.parametrize("case", yaml.safe_load((HERE / "wrong_documents.yaml").read_text()))
def test_what_is_wrong_in_its_shape_is_not_valid(case: dict[str, Any]) -> None:
    if not case["pointer"].endswith(COMPILED):
        assert not VALIDATOR.is_valid(document(case.get("action"), **case.get("document", {})))


def test_the_copy_in_the_docs_is_this_one() -> None:
    text = json.dumps(document_schema(), indent=2, ensure_ascii=False) + "\n"
    assert (DOCS / "policy.schema.json").read_text() == text, "run countersignd policy schema > docs/policy.schema.json"
