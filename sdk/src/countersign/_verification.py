"""Whether an export is what the service recorded, decided from the file and from what its reader kept elsewhere.

 1. Every line is one record: JSON that says nothing twice, with the members of a record and no others.
 2. The numbers run without a gap, from 0 or from the number given.
 3. Each record names the hash of the one before: 64 zeros before the first, or the hash given.
 4. Each hash is the SHA-256 of its record's canonical bytes.
 5. Each time has its form, and none is before the previous one.
 6. Each record is signed by a key that the reader trusts. Asked only where keys are given; else a whole chain could
    have been made anew.
 7. The last hash is the one expected. Asked only where a head is given; else records could be missing at the end.

All seven hold: proved. 1 to 5 hold and 6 or 7 was not asked: consistent, and no more than that. What verification never
shows: that the service recorded everything that happened, or what stood in records before the first one given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from countersign._records import GENESIS, Record, canonical, digest, is_hash, is_timestamp, read, signature_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Verdict = Literal["proved", "consistent", "broken", "unreadable"]

STEPS = (
    "every line is one record",
    "the numbers run without a gap",
    "each record names the hash of the one before",
    "each hash is that of its record",
    "time never runs backwards",
    "each record is signed by a key you trust",
    "the last hash is the head you expect",
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it. `records` held; `failed` is the number of the step that did not, with `reason`.

    `broken_at` is the number of the record at fault, and None where no one record is; `line` counts from 1. `head` is
    the hash of the last record that held.
    """

    verdict: Verdict
    records: int
    first: int
    head: str
    signed: bool
    anchored: bool
    failed: int | None = None
    reason: str = ""
    broken_at: int | None = None
    line: int | None = None

    @property
    def ok(self) -> bool:
        """Whether all that was asked holds."""
        return self.verdict in {"proved", "consistent"}


class _Fault(Exception):  # noqa: N818 - what a step found, on its way to the verdict
    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step = step
        self.reason = reason


@dataclass(slots=True)
class _Chain:
    """Where the chain stands after the records read so far."""

    first: int
    hash: str
    keys: "Mapping[str, Ed25519PublicKey] | None"
    records: int = 0
    ts: str = field(default="")

    @property
    def seq(self) -> int:
        return self.first + self.records

    def follow(self, record: Record) -> None:
        """Take in the next record.

        Raises:
            _Fault: a step does not hold.
        """
        _check_number(self, record)
        _check_link(self, record)
        _check_hash(record)
        _check_time(self, record)
        _check_signature(self, record)
        self.hash, self.ts, self.records = record["hash"], record["ts"], self.records + 1


def verify_export(
    lines: Iterable[bytes],
    *,
    keys: Mapping[str, Any] | None = None,
    head: str | None = None,
    from_seq: int = 0,
    prev: str = GENESIS,
) -> Verification:
    """Verify the lines of an export.

    `keys` is what `GET /v1/audit/keys` answers, or `{name: PEM}`; `head` the last hash, from somewhere the service
    cannot write. A range begins at `from_seq`, and `prev` is the hash before it.

    Raises:
        ValueError: `keys`, `head`, `from_seq` or `prev` are not what they should be.
        ImportError: keys are given and the extra `verify` is not installed.
    """
    _check_question(head, from_seq, prev)
    state = _Chain(from_seq, prev, None if keys is None else read_keys(keys))
    numbered = enumerate(lines, start=1)
    first = next(numbered, None)
    if first is None and head != prev:
        return _result(state, head, _Fault(1, "the file is empty, which proves nothing"))
    for number, line in numbered if first is None else chain([first], numbered):
        try:
            state.follow(_record(line))
        except _Fault as fault:
            return _result(state, head, fault, number)
    if head is not None and state.hash != head:
        return _result(state, head, _Fault(7, "the last record has another hash: records are missing, or were changed"))
    return _result(state, head)


def read_keys(document: Mapping[str, Any]) -> "dict[str, Ed25519PublicKey]":
    """Return the public keys of `{name: PEM}` or `{keys: {name: {pem}}}`.

    The service also says from when until when each key signed. That is for people: replicas change keys one after the
    other, so a record of the old key may follow one of the new.

    Raises:
        ValueError: it has another form, or holds something else than Ed25519 keys.
    """
    listed = document["keys"] if isinstance(document.get("keys"), Mapping) else document
    return {name: _public_key(name, entry) for name, entry in listed.items()}


def _public_key(name: str, entry: Any) -> "Ed25519PublicKey":
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - the extra `verify`
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - the same

    pem = entry.get("pem") if isinstance(entry, Mapping) else entry
    try:
        key = load_pem_public_key(str(pem).encode("ascii"))
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError(f"the key {name!r} is not a PEM public key") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"the key {name!r} is not an Ed25519 key")  # noqa: TRY004 - a wrong value in a document
    return key


def _check_question(head: str | None, from_seq: int, prev: str) -> None:
    if head is not None and not is_hash(head):
        raise ValueError("a head is 64 lower-case hex characters")
    if not is_hash(prev):
        raise ValueError("the hash before a range is 64 lower-case hex characters")
    if from_seq < 0 or (from_seq == 0) != (prev == GENESIS):
        raise ValueError("a range from a number above 0 needs the hash before it, and only such a range has one")


# 1. the line


def _record(line: bytes) -> Record:
    try:
        return read(line)
    except ValueError as error:
        raise _Fault(1, str(error)) from None


# 2. the number


def _check_number(state: _Chain, record: Record) -> None:
    if type(record["seq"]) is not int or record["seq"] != state.seq:
        raise _Fault(2, f"record {state.seq} is expected here, and this is another")


# 3. the link


def _check_link(state: _Chain, record: Record) -> None:
    if record["prev_hash"] != state.hash:
        raise _Fault(3, "prev_hash is not the hash of the record before")


# 4. the hash


def _check_hash(record: Record) -> None:
    if not isinstance(record["event_type"], str) or not isinstance(record["payload"], dict):
        raise _Fault(4, "event_type is text and payload an object")
    try:
        expected = digest(canonical(record))
    except (ValueError, RecursionError) as error:
        raise _Fault(4, f"it has no canonical form: {error}") from None
    if record["hash"] != expected:
        raise _Fault(4, "hash is not that of this record: the record was changed")


# 5. the time


def _check_time(state: _Chain, record: Record) -> None:
    if not is_timestamp(record["ts"]):
        raise _Fault(5, "ts is not of the form 2026-11-29T10:00:00.000000Z")
    if record["ts"] < state.ts:
        raise _Fault(5, "ts is before that of the record before")


# 6. the signature


def _check_signature(state: _Chain, record: Record) -> None:
    if not record.signed:
        if state.keys is not None:
            raise _Fault(6, "it is not signed")
        return
    try:
        signature = signature_bytes(record)
    except ValueError as error:
        raise _Fault(6, str(error)) from None
    if state.keys is not None:
        _verify(state.keys, record, signature)


def _verify(keys: "Mapping[str, Ed25519PublicKey]", record: Record, signature: bytes) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - the extra `verify`

    key = keys.get(record["key_id"])
    if key is None:
        raise _Fault(6, "it is signed by a key that was not given")
    try:
        key.verify(signature, record["hash"].encode("ascii"))
    except InvalidSignature:
        raise _Fault(6, "the signature is not that key's over this hash") from None


# the verdict


def _result(state: _Chain, head: str | None, fault: _Fault | None = None, line: int | None = None) -> Verification:
    signed, anchored = state.keys is not None, head is not None
    held = Verification(
        verdict="proved" if signed and anchored else "consistent",
        records=state.records,
        first=state.first,
        head=state.hash,
        signed=signed,
        anchored=anchored,
    )
    if fault is None:
        return held
    found = replace(held, failed=fault.step, reason=fault.reason, line=line)
    if fault.step == 1:
        return replace(found, verdict="unreadable")
    return replace(found, verdict="broken", broken_at=None if line is None else state.seq)
