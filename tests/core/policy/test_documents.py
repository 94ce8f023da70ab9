"""Documents: what loads, and what is wrong with those that do not, each with its place."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.core import policy
from app.core.policy import DocumentError
from tests.core.policy.weighed import document

WHOLE = (Path(__file__).parent / "whole.yaml").read_text()


def test_the_document_of_the_contract_loads() -> None:
    loaded = policy.load(WHOLE)
    assert loaded.version == "2026-11"
    assert loaded.actions["voucher.issue"].knobs.max_blast_radius == 5
    assert loaded.actions["voucher.issue"].knobs.require_human_for == {"live"}
    assert [limit.name for limit in loaded.limits] == ["per-booking", "pace"]
    assert [rule.quorum for rule in loaded.approvers] == [1, 2]


def test_only_the_schema_is_required() -> None:
    loaded = policy.load("schema: countersign.policy/v1")
    assert (loaded.version, loaded.unlisted, loaded.actions, loaded.limits) == ("", "deny", {}, ())
    assert loaded.defaults.require_verification_score == 0.8


def test_the_hash_is_of_what_was_said_and_not_of_how() -> None:
    first = policy.load("schema: countersign.policy/v1\nactions:\n  a: {decision: deny, effect: x}\n")
    same = policy.load('{"actions": {"a": {"effect": "x", "decision": "deny"}}, "schema": "countersign.policy/v1"}')
    of_objects = policy.load({"schema": "countersign.policy/v1", "actions": {"a": {"decision": "deny", "effect": "x"}}})
    other = policy.load("schema: countersign.policy/v1\nactions:\n  a: {decision: deny, effect: y}\n")
    assert first.digest == same.digest == of_objects.digest != other.digest
    assert first.digest.startswith("sha256:")
    assert first.canonical == '{"actions":{"a":{"decision":"deny","effect":"x"}},"schema":"countersign.policy/v1"}'


def test_swapping_two_rules_changes_the_hash() -> None:
    rules = [{"when": "true", "decision": "allow"}, {"decision": "deny"}]
    assert policy.load(document({"rules": rules})).digest != policy.load(document({"rules": rules[::-1]})).digest


def wrong(source: str | dict[str, Any]) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        policy.load(source)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1: the document: the document is empty; it begins with `schema:`"),
        ("[]", "line 1, column 1: the document: expected an object, not a list"),
        ("schema: other/v1", "line 1, column 9: /schema: expected countersign.policy/v1"),
        ("actions: {}", "line 1, column 1: the document: the key schema is missing"),
        (
            "schema: countersign.policy/v1\nactons: {}",
            "line 2, column 9: /actons: unknown key 'actons': did you mean actions?",
        ),
        (
            "schema: countersign.policy/v1\nunlisted: denny",
            "line 2, column 11: /unlisted: 'denny' is none of the words that may stand here: did you mean deny?",
        ),
        (
            "schema: countersign.policy/v1\nschema: countersign.policy/v1",
            "line 2, column 1: the document: the key 'schema' stands twice; its first value is on line 1",
        ),
        ("schema: !!python/name:os.system x", "line 1, column 9: the document: a tag; a policy has none"),
        ("schema: x\n---\nschema: y", "line 2, column 1: the document: a second document; a policy is one"),
        ("? [a]\n: b", "line 1, column 3: the document: a key must be text"),
        ("a: *b", "line 1, column 4: the document: an alias of something that is not finished, or not there"),
        ("a: &a [*a]", "line 1, column 8: the document: an alias of something that is not finished, or not there"),
        ("a: 9007199254740992", "line 1, column 4: the document: an integer beyond 2^53 - 1; write it in quotes"),
        (
            "a: 0.12345678901234567890",
            "line 1, column 4: the document: a number that a double cannot hold; write it in quotes",
        ),
        ("a: 1e999", "line 1, column 4: the document: a number that a double cannot hold; write it in quotes"),
        ("a: \ud800", "line 1, column 4: the document: half of a surrogate pair"),
        ("a: \x00", "line 1, column 4: the document: a character that YAML does not allow"),
    ],
)
def test_what_is_wrong_with_a_text_is_placed(text: str, problem: str) -> None:
    assert problem in wrong(text)


def test_broken_yaml_is_placed() -> None:
    [problem] = wrong("schema: countersign.policy/v1\nactions: {a: [}")
    assert problem.startswith("line 2, column 15: the document: not YAML: ")


@pytest.mark.parametrize("case", yaml.safe_load((Path(__file__).parent / "wrong_documents.yaml").read_text()))
def test_what_is_wrong_is_found_and_placed(case: dict[str, Any]) -> None:
    [problem] = wrong(document(case.get("action"), **case.get("document", {})))
    assert problem.startswith(f"{case['pointer']}: ")
    assert case["message"] in problem


def test_everything_wrong_is_named_at_once_in_reading_order() -> None:
    found = wrong(WHOLE.replace("max_attempts: 3", "max_atempts: 3").replace("quorum: 2", "quorum: two"))
    assert [problem.split(": ")[0] for problem in found] == ["line 22, column 18", "line 30, column 116"]


def test_a_hundred_problems_are_enough() -> None:
    begun = time.process_time()
    assert len(wrong("schema: countersign.policy/v1\n" + "\n".join(f"axtions{n}: 1" for n in range(40_000)))) == 100
    assert time.process_time() - begun < 1.5


def test_what_yaml_1_1_would_read_otherwise_is_text() -> None:
    text = "schema: countersign.policy/v1\nversion: 2026-11-01\ndefaults: {deny_for: [no, on, yes, 12:30, 0x1F, 1_000]}"
    loaded = policy.load(text)
    assert loaded.version == "2026-11-01"
    assert loaded.defaults.deny_for == {"no", "on", "yes", "12:30", "0x1F", "1_000"}


def test_aliases_stand_for_what_they_name() -> None:
    text = "schema: countersign.policy/v1\nactions: {a: &a {decision: deny}, b: *a}"
    assert policy.load(text).actions["b"].rules == policy.load(text).actions["a"].rules


def test_json_escapes_beyond_the_basic_plane() -> None:
    said = {"schema": "countersign.policy/v1", "actions": {"a": {"description": "\U0001f3ab \\ud83c \\"}}}
    assert policy.load(json.dumps(said)).actions["a"].description == "\U0001f3ab \\ud83c \\"


def test_amounts_keep_what_was_written() -> None:
    text = "schema: countersign.policy/v1\nlimits: [{scope: a, limit: {amount: 0.10, currency: EUR}}]"
    [limit] = policy.load(text).limits
    assert str(limit.amount) == "0.10"


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "x" * 10_000_000, "longer than"),
        (LAUGHS, "aliases stand for more than 10000 values"),
        ("[" * 100_000, "not YAML"),
        ("a: " + "{a: " * 100_000, "more than 64 levels"),
        ("- [" + "[], " * 260_000 + "]", "more than 100000 values"),
        ("&a " * 300_000, "not YAML"),
        ("? " * 300_000, "a key must be text"),
        ("- " * 300_000, "more than 64 levels"),
    ],
    ids=["10 MB", "laughs", "brackets", "braces", "many", "anchors", "questions", "dashes"],
)
def test_a_document_that_would_take_long_is_refused_quickly(text: str, message: str) -> None:
    begun = time.process_time()
    [problem] = wrong(text)
    assert message in problem
    assert time.process_time() - begun < 1.5
