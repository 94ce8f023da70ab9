"""The table of verifications."""

from sqlalchemy import Boolean, Column, DateTime, Double, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.tables import metadata

verifications = Table(
    "verifications",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("action_digest", Text, nullable=False, comment="of the one call that it is for"),
    Column("made_by", Text, nullable=False, comment="the principal that posted it"),
    Column("survives", Boolean, nullable=False),
    Column("confidence", Double, nullable=False, comment="0..1"),
    Column("refutations", JSONB, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("admission_id", Text, comment="the admission that it served; null while it may serve one"),
    comment="What was made of findings, each for one call",
)
