"""The schema's history, in alembic revisions. `countersignd migrate` runs what is missing."""
