"""The SDK's README is true: its examples run, its help is the command's, its tree is that of the errors."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from inspect import cleandoc
from pathlib import Path
from types import SimpleNamespace

import pytest

from countersign import Money, _errors, current_admission, verify_permit
from tests.sdk.scripted import ADMIT, Scripted, allow, serving
from tests.sdk.test_permits import ARGUMENTS, KEYS, issued

README = (Path(__file__).parents[2] / "sdk" / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_help_is_that_of_the_command() -> None:
    shown = re.findall(
        r"^\$ countersign (.*?)\n(.*?)\n(?=\n\$ |```)", "\n".join(blocks("console")) + "```", re.DOTALL | re.MULTILINE
    )
    assert len(shown) == 3
    for arguments, text in shown:
        command = [str(Path(sys.executable).parent / "countersign"), *arguments.split()]
        done = subprocess.run(command, env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == text.strip()


def test_the_tree_is_that_of_the_errors() -> None:
    tree = next(block for block in blocks("text") if block.startswith("CountersignError"))
    assert tree.strip() in cleandoc(_errors.__doc__ or "").replace("\n    ", "\n")


def test_the_examples_run(service: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    service.on(ADMIT, allow())
    done: list[object] = []
    airline = SimpleNamespace(
        issue=lambda *arguments, **named: done.append((arguments, named)), outcome_of=lambda _: "unknown"
    )
    warehouse = SimpleNamespace(order=lambda *arguments: done.append(arguments), version_of=lambda order: f"{order}:1")
    names = {
        "airline": airline,
        "warehouse": warehouse,
        "KNOWN": {"acme"},
        "Money": Money,
        "Decimal": Decimal,
        "timedelta": timedelta,
        "current_admission": current_admission,
        "verify_permit": verify_permit,
        "token": issued(at=datetime.now(UTC)),
        "arguments": ARGUMENTS,
        "jwks": KEYS,
    }
    monkeypatch.setenv("COUNTERSIGN_KEY", "key_1")
    with serving(service) as url:
        monkeypatch.setenv("COUNTERSIGN_URL", url)
        for example in blocks("python"):
            exec(compile(example, "README.md", "exec"), names)  # noqa: S102 - our own README
        exec("issue_voucher('AB12', 40); order_part('o-1', 'acme', Decimal('12.50'))", names)  # noqa: S102 - the same
        exec("client.close()", names)  # noqa: S102 - the same
    assert done == [
        (("AB12", 300), {}),
        (("AB12", 40), {}),
        (("AB12", 40), {"idempotency_key": "tok_1"}),
        ("o-1", "acme", Decimal("12.50")),
    ]
