"""The committed description of the API is the one of the app."""

import json
from pathlib import Path

from app.main import describe

COMMITTED = Path(__file__).parents[2] / "openapi" / "openapi.json"


def test_the_description_is_up_to_date() -> None:
    assert json.loads(COMMITTED.read_text()) == json.loads(json.dumps(describe())), "run `make openapi`"


def test_the_description_is_of_openapi_3_1() -> None:
    assert describe()["openapi"].startswith("3.1")
