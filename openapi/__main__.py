"""Print the description of the HTTP API; `make openapi` keeps it in openapi.json."""

import json

from app.main import describe

print(json.dumps(describe(), indent=2, sort_keys=True, ensure_ascii=False))
