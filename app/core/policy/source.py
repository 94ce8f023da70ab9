"""From text to values: YAML (of which JSON is a part) read strictly, and the place of every value kept.

Scalars are read as YAML 1.2's core schema has them, without its octal, hexadecimal and infinite numbers: `no`, `on`
and `2026-11` are text. Numbers remember their literals. A key that stands twice, a tag, a key that is not text, a
second document and an alias that multiplies are refused.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

import yaml

from app.core.policy.problems import DocumentError, Problem, shown
from app.core.strict_json import pointer
from app.core.values import GREATEST_INTEGER, Fraction, Json

MOST_CHARACTERS: Final = 2**20
"""The longest document: as much as a request body may hold."""

MOST_DEPTH: Final = 64
MOST_VALUES: Final = 100_000
MOST_FROM_ALIASES: Final = 10_000
"""How many values all aliases together may stand for."""

Path: TypeAlias = tuple[str | int, ...]

_Scalar: TypeAlias = "bool | int | Fraction | str | None"
_Content: TypeAlias = "_Scalar | list[_Node] | dict[str, _Node]"
_Mark: TypeAlias = Any  # the parsers in C and in Python have a class each

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_TEXT_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})
_LONGEST_NUMBER = 400
_NUMBERS_BEGIN = frozenset("-0123456789")
# JSON escapes what lies beyond the basic plane as two escapes (RFC 8259 section 7), YAML as one.
_PAIR = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Node:
    """A value with its place, and how many values and levels it stands for."""

    line: int
    column: int
    content: _Content
    values: int = 1
    levels: int = 0


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read; `key` is the name whose value comes next."""

    node: _Node
    anchor: str | None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A document's values, and where each of them stood."""

    value: Json
    _root: _Node | None = None

    def problem(self, message: str, path: Path) -> Problem:
        """Return the problem of the value at the path; of the innermost that exists, if that one does not."""
        node = self._root
        for step in path:
            below = None if node is None else _step(node, step)
            if below is None:
                break
            node = below
        if node is None:
            return Problem(message, pointer(path))
        return Problem(message, pointer(path), node.line, node.column)


def read(source: str | Mapping[str, Json]) -> Source:
    """Return the values of a document: of a text, or of one that was parsed already.

    Raises:
        DocumentError: the text is not YAML or JSON as described above, or too large.
    """
    if isinstance(source, str):
        root = _Composer(source).root()
        return Source(_value(root), root)
    return Source(_Plain().value(source, ()))


def _step(node: _Node, step: str | int) -> _Node | None:
    if isinstance(node.content, dict):
        return node.content.get(str(step))
    if isinstance(node.content, list) and isinstance(step, int) and step < len(node.content):
        return node.content[step]
    return None


def _value(node: _Node) -> Json:
    if isinstance(node.content, dict):
        return {key: _value(member) for key, member in node.content.items()}
    if isinstance(node.content, list):
        return [_value(element) for element in node.content]
    return node.content


class _Composer:
    """Builds the tree of a text from the parser's events, without recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Open] = []
        self._anchors: dict[str, _Node] = {}
        self._aliased = 0
        self._root: _Node | None = None

    def root(self) -> _Node:
        if len(self._text) > MOST_CHARACTERS:
            raise DocumentError([Problem(f"longer than {MOST_CHARACTERS} characters", "")])
        takers: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin,
            yaml.SequenceStartEvent: self._begin,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._begin_document,
        }
        for event in self._events():
            if take := takers.get(type(event)):
                take(event)
        if self._root is None:
            raise DocumentError([Problem("the document is empty; it begins with `schema:`", "", 1, 1)])
        return self._root

    def _events(self) -> Iterator[yaml.Event]:
        try:
            self._text.encode()
            yield from yaml.parse(self._as_yaml(), Loader=_LOADER)
        except UnicodeEncodeError as error:
            raise self._at(error.start, "half of a surrogate pair") from None
        except yaml.reader.ReaderError as error:
            raise self._at(error.position, "a character that YAML does not allow") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = " ".join(filter(None, [error.context, error.problem]))
            raise _fault(f"not YAML: {said}", mark) from None

    def _as_yaml(self) -> str:
        if not self._text.lstrip().startswith("{"):
            return self._text
        return _PAIR.sub(_joined, self._text)

    def _at(self, position: int, message: str) -> DocumentError:
        before = self._text[:position]
        return DocumentError([Problem(message, "", before.count("\n") + 1, position - before.rfind("\n"))])

    def _begin_document(self, event: yaml.DocumentStartEvent) -> None:
        if self._root is not None:
            raise _fault("a second document; a policy is one", event.start_mark)

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        ended = self._open.pop()
        self._place(ended.node, ended.anchor, event.start_mark)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        _refuse_tag(event)
        if self._expects_key():
            self._key(event.value, event.start_mark)
            return
        plain = event.implicit[0] and event.tag is None
        content = _scalar(event.value, event.start_mark) if plain else event.value
        self._place(_node(content, event.start_mark), event.anchor, event.start_mark)

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        _refuse_tag(event)
        if self._expects_key():
            raise _fault("a key must be text", event.start_mark)
        if len(self._open) == MOST_DEPTH:
            raise _fault(f"more than {MOST_DEPTH} levels", event.start_mark)
        content: _Content = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append(_Open(_node(content, event.start_mark), event.anchor))

    def _alias(self, event: yaml.AliasEvent) -> None:
        node = self._anchors.get(str(event.anchor))
        if node is None:
            raise _fault("an alias of something that is not finished, or not there", event.start_mark)
        if self._expects_key():
            raise _fault("a key must be text", event.start_mark)
        self._aliased += node.values
        if self._aliased > MOST_FROM_ALIASES:
            raise _fault(f"aliases stand for more than {MOST_FROM_ALIASES} values", event.start_mark)
        self._place(node, None, event.start_mark)

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].node.content, dict) and self._open[-1].key is None

    def _key(self, key: str, mark: _Mark) -> None:
        holder = self._open[-1]
        if isinstance(holder.node.content, dict) and key in holder.node.content:
            first = holder.node.content[key]
            raise _fault(f"the key {shown(key)} stands twice; its first value is on line {first.line}", mark)
        holder.key = key

    def _place(self, node: _Node, anchor: str | None, mark: _Mark) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        holder = self._open[-1]
        if isinstance(holder.node.content, list):
            holder.node.content.append(node)
        elif isinstance(holder.node.content, dict) and holder.key is not None:
            holder.node.content[holder.key] = node
            holder.key = None
        self._grow(holder.node, node, mark)

    def _grow(self, holder: _Node, node: _Node, mark: _Mark) -> None:
        holder.values += node.values
        if holder.levels <= node.levels:
            holder.levels = node.levels + 1
        if holder.values > MOST_VALUES:
            raise _fault(f"more than {MOST_VALUES} values", mark)
        if len(self._open) + node.levels > MOST_DEPTH:
            raise _fault(f"more than {MOST_DEPTH} levels", mark)


def _joined(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[0]
    code = 0x10000 + (int(escape[1], 16) - 0xD800) * 0x400 + int(escape[2], 16) - 0xDC00
    return f"\\U{code:08x}"


def _refuse_tag(event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
    if event.tag is not None and event.tag not in _TEXT_TAGS:
        raise _fault("a tag; a policy has none", event.start_mark)


def _node(content: _Content, mark: _Mark) -> _Node:
    return _Node(mark.line + 1, mark.column + 1, content)


def _fault(message: str, mark: _Mark | None) -> DocumentError:
    if mark is None:
        return DocumentError([Problem(message, "")])
    return DocumentError([Problem(message, "", mark.line + 1, mark.column + 1)])


def _scalar(text: str, mark: _Mark) -> _Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBERS_BEGIN or len(text) > _LONGEST_NUMBER or not _FRACTION.fullmatch(text):
        return text
    try:
        return _number(text)
    except _InexactError as error:
        raise _fault(str(error), mark) from None


class _InexactError(ValueError):
    """The number is not one that every reader of JSON would read alike."""


def _number(literal: str) -> int | Fraction:
    if _INTEGER.fullmatch(literal):
        if len(literal) > len(str(-GREATEST_INTEGER)) or abs(int(literal)) > GREATEST_INTEGER:
            raise _InexactError("an integer beyond 2^53 - 1; write it in quotes")
        return int(literal)
    number = Fraction(literal)
    if not _holds(number):
        raise _InexactError("a number that a double cannot hold; write it in quotes")
    return number


def _holds(number: Fraction) -> bool:
    try:
        return math.isfinite(number) and Decimal(repr(float(number))) == Decimal(number.literal)
    except InvalidOperation:
        return False


class _Plain:
    """Copies a parsed document into plain objects and lists, within the same bounds as a text."""

    def __init__(self) -> None:
        self._values = 0

    def value(self, value: object, path: Path) -> Json:
        self._values += 1
        if self._values > MOST_VALUES or len(path) > MOST_DEPTH:
            raise DocumentError([Problem(f"more than {MOST_VALUES} values or {MOST_DEPTH} levels", "")])
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, (int, float)):
            return self._number(value, path)
        if isinstance(value, Mapping):
            return {str(key): self.value(member, (*path, str(key))) for key, member in value.items()}
        if isinstance(value, Sequence):
            return [self.value(element, (*path, place)) for place, element in enumerate(value)]
        raise DocumentError([Problem("not a JSON value", pointer(path))])

    def _number(self, value: float, path: Path) -> int | Fraction:
        literal = value.literal if isinstance(value, Fraction) else repr(value)
        if not _FRACTION.fullmatch(literal):
            raise DocumentError([Problem("not a number that JSON has", pointer(path))])
        try:
            return _number(literal)
        except _InexactError as error:
            raise DocumentError([Problem(str(error), pointer(path))]) from None
