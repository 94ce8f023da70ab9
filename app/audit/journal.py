"""The journal of one transaction: records appended in memory, then hashed, signed and written with the head."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from app.audit.heads import Head
from app.core import chain
from app.core.chain import Signer
from app.core.values import Json
from app.db.books import Rows


class Journal:
    """The end of the chain while the head is locked; a book that only writes.

    Every record is hashed when it is appended and signed before it is written: an unsigned record never exists.
    """

    READS: ClassVar[Mapping[str, str]] = {}
    WRITES: ClassVar[Mapping[str, str]] = {
        "journal_records": """
            INSERT INTO audit_records
                (tenant, seq, ts, event_type, principal, action, command_id, canonical, hash, key_id, signature)
            SELECT :tenant, seq, ts, event_type, principal, action, command_id, canonical, hash, key_id, signature
            FROM jsonb_to_recordset(CAST(:journal_records AS jsonb)) AS record
                (seq bigint, ts timestamptz, event_type text, principal text, action text, command_id text,
                 canonical text, hash text, key_id text, signature text)
        """,
        "journal_head": """
            UPDATE heads SET seq = head.seq, hash = head.hash, ts = head.ts, key_id = head.key_id,
                signature = head.signature, policy_revision = head.policy_revision,
                shadow_revision = head.shadow_revision, authority_epoch = head.authority_epoch
            FROM jsonb_to_recordset(CAST(:journal_head AS jsonb)) AS head
                (seq bigint, hash text, ts timestamptz, key_id text, signature text, policy_revision bigint,
                 shadow_revision bigint, authority_epoch bigint)
            WHERE heads.tenant = :tenant
        """,
    }

    def __init__(self, head: Head, now: datetime, signer: Signer) -> None:
        self.head = head
        self.now = now
        self._ts = chain.timestamp(now)
        self._signer = signer
        self._records: list[dict[str, Any]] = []
        self._command_id: str | None = None

    def begin(self, command_id: str) -> None:
        """Mark the next record as the first of this command, so that it can be looked up after a lost COMMIT."""
        self._command_id = command_id

    def append(
        self,
        event_type: str,
        payload: Mapping[str, Json],
        *,
        principal: str = "",
        action: str = "",
    ) -> int:
        """Append a record and return its seq; `principal` and `action` are for searching.

        Raises:
            NotRecordableError: the payload holds what a record cannot.
        """
        seq = self.head.seq
        canonical = chain.canonical(seq, self._ts, event_type, payload, self.head.hash)
        record_hash = chain.hash_of(canonical)
        self._records.append(
            {
                "seq": seq,
                "ts": self._ts,
                "event_type": event_type,
                "principal": principal,
                "action": action,
                "command_id": self._command_id,
                "canonical": canonical,
                "hash": record_hash,
            }
        )
        self._command_id = None
        self.head.seq, self.head.hash, self.head.ts = seq + 1, record_hash, self.now
        return seq

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return nothing: the head was read with the lock."""
        return {}

    def load(self, name: str, rows: Rows) -> None:
        """Refuse rows: the journal reads none."""
        raise LookupError(f"{len(rows)} rows of {name}")

    def writes(self) -> Mapping[str, Rows]:
        """Return the signed records and the head after them."""
        if not self._records:
            return {}
        for record in self._records:
            record["key_id"], record["signature"] = self._signer.key_id, self._signer.sign(record["hash"])
        last = self._records[-1]
        head = {
            "seq": self.head.seq,
            "hash": last["hash"],
            "ts": last["ts"],
            "key_id": last["key_id"],
            "signature": last["signature"],
            "policy_revision": self.head.policy_revision,
            "shadow_revision": self.head.shadow_revision,
            "authority_epoch": self.head.authority_epoch,
        }
        return {"journal_records": self._records, "journal_head": [head]}
