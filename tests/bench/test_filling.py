"""The filled database is one that the service could have made."""

from pathlib import Path

import httpx

from app.embedded import EmbeddedPostgres
from tests.bench.filling import fill
from tests.bench.grounds import Grounds


def test_a_filled_database_has_a_chain_that_verifies_and_sums_that_agree(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    grounds = Grounds(postgres, tmp_path)
    filled = fill(grounds, "filled", 600)
    assert not grounds.wrong_sums(filled)
    with grounds.serving(filled, 1) as service:
        auditor = {"Authorization": f"Bearer {grounds.tenants.keys['auditor'][0]}"}
        found = httpx.post(f"{service.url}/v1/audit/verify", headers=auditor, timeout=30).json()
    assert found["ok"], found
    assert found["records"] > 600
