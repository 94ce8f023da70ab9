"""Argument schemas: checked, never completed, without references to outside, and never slow."""

import time
from typing import Any

import pytest

from app.core import policy
from app.core.policy import DocumentError
from app.core.values import Fraction
from tests.core.policy.weighed import codes, document, load, weigh

SCHEMA = {
    "type": "object",
    "required": ["booking"],
    "additionalProperties": False,
    "properties": {
        "booking": {"type": "string", "pattern": "^[A-Z0-9]{4,8}$"},
        "amount": {"type": "number", "minimum": 0},
        "items": {"type": "array", "items": {"type": "object", "required": ["n"]}},
    },
}


def test_arguments_that_fit_are_left_as_they_are() -> None:
    arguments: dict[str, Any] = {"booking": "AB12", "amount": Fraction("1.50"), "items": [{"n": 1}]}
    assert codes(weigh(load({"arguments": SCHEMA}), arguments)) == []


@pytest.mark.parametrize(
    ("arguments", "pointer", "keyword"),
    [
        ({}, "", "required"),
        ({"booking": "ab"}, "/booking", "pattern"),
        ({"booking": 12345}, "/booking", "type"),
        ({"booking": "AB12", "amount": "5"}, "/amount", "type"),
        ({"booking": "AB12", "amount": -1}, "/amount", "minimum"),
        ({"booking": "AB12", "x": 1}, "", "additionalProperties"),
        ({"booking": "AB12", "items": [{"n": 1}, {}]}, "/items/1", "required"),
    ],
)
def test_arguments_that_do_not_fit_deny_with_pointer_and_keyword(
    arguments: dict[str, Any], pointer: str, keyword: str
) -> None:
    [found] = weigh(load({"arguments": SCHEMA}), arguments).triggered
    assert found.values == {"pointer": pointer, "keyword": keyword}


def test_a_message_never_quotes_a_value() -> None:
    [found] = weigh(load({"arguments": SCHEMA}), {"booking": "hunter2"}).triggered
    assert found.message == "the argument at /booking did not pass `pattern` of the schema"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("text", "expected a JSON Schema"),
        ({"type": "strnig"}, "no JSON Schema"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "another dialect"),
        ({"$ref": "https://example.com/schema"}, "a reference leaves the schema"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "a reference leaves the schema"),
        ({"$ref": "#/$defs/nothing"}, "a reference leads nowhere"),
        ({"pattern": "(a"}, "no JSON Schema"),
        ({"pattern": "(?=a)b"}, "no JSON Schema"),
        ({"pattern": "((a{1,50}){1,50}){1,50}"}, "a pattern is too heavy"),
        ({"patternProperties": {"(.{1,100}){1,100}": {}}}, "a pattern is too heavy"),
        (
            {"$ref": "#/$defs/n0", "$defs": {f"n{n}": {"$ref": f"#/$defs/n{n + 1}"} for n in range(2_000)}},
            "references follow each other more than 32 times",
        ),
        ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "a schema that refers to itself has no alternatives"),
        (
            {
                "$ref": "#/$defs/a0",
                "$defs": {
                    **{f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 4} for n in range(12)},
                    "a12": {"type": "object"},
                },
            },
            "its references stand for too many schemas",
        ),
    ],
)
def test_what_is_no_schema_here(schema: Any, message: str) -> None:
    begun = time.process_time()
    with pytest.raises(DocumentError, match=message):
        policy.load(document({"arguments": schema}))
    assert time.process_time() - begun < 0.5


def test_a_tree_of_arguments_may_refer_to_itself() -> None:
    schema = {
        "$id": "https://example.com/tree",
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}}
        },
    }
    loaded = load({"arguments": schema})
    assert codes(weigh(loaded, {"left": {"left": {"v": 1}}})) == []
    assert codes(weigh(loaded, {"left": {"left": {"v": "1"}}})) == ["arguments_invalid"]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(x+x+)+y", "^(a|aa)+$", "(.*)(.*)(.*)(.*)z"])
def test_a_catastrophic_pattern_is_matched_in_linear_time(pattern: str) -> None:
    loaded = load({"arguments": {"properties": {"text": {"pattern": pattern}}}})
    begun = time.process_time()
    weigh(loaded, {"text": "a" * 500_000 + "b"})
    assert time.process_time() - begun < 1


def test_a_heavy_pattern_is_not_tried_on_a_long_text() -> None:
    loaded = load({"arguments": {"properties": {"text": {"pattern": "[ab]*a[ab]{1000}c"}}}})
    begun = time.process_time()
    assert codes(weigh(loaded, {"text": "ab" * 400_000})) == ["arguments_invalid"]
    assert time.process_time() - begun < 0.5
    assert codes(weigh(loaded, {"text": "a" * 1_001 + "c"})) == []
