"""The schema of an action's arguments: JSON Schema 2020-12, checked and never used to change a value.

References stay within the schema and nothing is fetched. A schema that could take long on some call is refused when
it is loaded: heavy patterns, references that multiply, and alternatives inside a schema that refers to itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jsonschema_rs

from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.policy import patterns
from app.core.policy.argument_types import Arguments, of_schema
from app.core.policy.facts import Plain
from app.core.policy.places import Place
from app.core.strict_json import pointer
from app.core.values import Json

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MOST_NANOSECONDS: Final = 1_000_000_000
"""What matching all patterns of a schema may cost on one call, at worst."""

_PATTERNS: Final = jsonschema_rs.RegexOptions(size_limit=2**20, dfa_size_limit=2**21)
_MOST_SUBSCHEMAS: Final = 20_000
_LONGEST_CHAIN: Final = 32
_ALTERNATIVES: Final = frozenset({"anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas"})
_REFERENCES: Final = frozenset({"$dynamicRef", "$dynamicAnchor", "$anchor", "$id", "$vocabulary", "$recursiveRef"})


class SchemaError(ValueError):
    """The value is no schema that arguments can be checked with."""


@dataclass(frozen=True, slots=True)
class ArgumentSchema:
    """A compiled schema, and what it promises of arguments."""

    schema: Json
    promises: Arguments
    _weight: int
    _validator: Any = field(repr=False, compare=False)

    def check(self, arguments: Plain) -> Trigger | None:
        """Return why the arguments are not what the schema wants, by pointer and keyword and never by value."""
        if self._weight * patterns.NANOSECONDS * arguments.characters > MOST_NANOSECONDS:
            return _invalid(
                "the arguments are too long to be matched against the patterns of the schema", "", "pattern"
            )
        if self._validator.is_valid(arguments.value):
            return None
        error = next(iter(self._validator.iter_errors(arguments.value)))
        place, keyword = pointer(tuple(error.instance_path)), str(error.schema_path[-1])
        where = f"the argument at {place}" if place else "the arguments"
        return _invalid(f"{where} did not pass `{keyword}` of the schema", place, keyword)


def _invalid(message: str, place: str, keyword: str) -> Trigger:
    return Trigger(Code.ARGUMENTS_INVALID, Outcome.DENY, message, {"pointer": place, "keyword": keyword})


def read_arguments(place: Place) -> ArgumentSchema | None:
    """Return the argument schema that stands here."""
    return place.converted(compile_schema, SchemaError, None)


def compile_schema(schema: Json) -> ArgumentSchema:
    """Return the compiled schema.

    Raises:
        SchemaError: it is no schema of the 2020-12 dialect, refers to something outside, or could take long.
    """
    if not isinstance(schema, Mapping):
        raise SchemaError("expected a JSON Schema: an object")
    if schema.get("$schema", DIALECT) != DIALECT:
        raise SchemaError(f"another dialect than {DIALECT}")
    schema = {keyword: value for keyword, value in schema.items() if keyword != "$id"}
    weight = sum(map(_heavy, _pattern_texts(schema)))
    _refuse_explosion(schema)
    try:
        validator = jsonschema_rs.Draft202012Validator(schema, pattern_options=_PATTERNS, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError(f"no JSON Schema: {str(error).partition(chr(10))[0]}") from None
    return ArgumentSchema(schema, of_schema(schema), weight, validator)


def _pattern_texts(schema: Json) -> Iterator[str]:
    for keyword, value in _keywords(schema):
        if keyword == "pattern" and isinstance(value, str):
            yield value
        elif keyword == "patternProperties" and isinstance(value, Mapping):
            yield from value


def _heavy(pattern: str) -> int:
    weight = patterns.weight(pattern)
    if weight > patterns.HEAVIEST:
        raise SchemaError("a pattern is too heavy; make its repetitions smaller, or state a maxLength instead")
    return weight


def _keywords(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield every member of every object in the schema."""
    if isinstance(value, Mapping):
        for keyword, member in value.items():
            yield keyword, member
            yield from _keywords(member)
    elif isinstance(value, list):
        for element in value:
            yield from _keywords(element)


def _refuse_explosion(schema: Mapping[str, Json]) -> None:
    found = dict(_keywords(schema))
    if _REFERENCES & found.keys():
        raise SchemaError(f'{min(_REFERENCES & found.keys())} is not used here; refer with `$ref: "#/$defs/..."`')
    if "$ref" not in found:
        return
    size = _Size(schema)
    if size.of(schema) > _MOST_SUBSCHEMAS:
        raise SchemaError("its references stand for too many schemas")
    if size.refers_to_itself and _ALTERNATIVES & found.keys():
        raise SchemaError(
            "a schema that refers to itself has no alternatives such as anyOf: checking could take too long"
        )


class _Size:
    """Counts the schemas that a schema stands for when its references are written out, each once within itself."""

    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._counted: dict[str, int] = {}
        self._open: set[str] = set()
        self.refers_to_itself = False

    def of(self, value: Json) -> int:
        if isinstance(value, list):
            return sum(map(self.of, value))
        if not isinstance(value, Mapping):
            return 0
        reference = value.get("$ref")
        inside = self._target(reference) if isinstance(reference, str) else 0
        return 1 + inside + sum(map(self.of, value.values()))

    def _target(self, reference: str) -> int:
        if reference != "#" and not reference.startswith("#/"):
            raise SchemaError('a reference leaves the schema; refer with `$ref: "#/$defs/..."`')
        if reference in self._open:
            self.refers_to_itself = True
            return 0
        if len(self._open) == _LONGEST_CHAIN:
            raise SchemaError(f"references follow each other more than {_LONGEST_CHAIN} times")
        if reference not in self._counted:
            self._open.add(reference)
            self._counted[reference] = min(self.of(self._follow(reference)), _MOST_SUBSCHEMAS + 1)
            self._open.discard(reference)
        return self._counted[reference]

    def _follow(self, reference: str) -> Json:
        target: Json = self._root
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        if target is None:
            raise SchemaError("a reference leads nowhere; put the schema under $defs")
        return target
