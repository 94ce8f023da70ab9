"""Asking a person in the terminal: only a clear yes is a yes."""

import sys
import time
from typing import Any
from urllib.parse import quote

from countersign._client import Countersign
from countersign._errors import Conflict, Forbidden, NotFound, Unavailable
from countersign.cli import questions
from countersign.cli.screen import complain, console, say
from countersign.cli.session import pages

_YES = frozenset({"y", "yes"})
_QUEUE = 1000


def watch_queue(client: Countersign, *, every: float, once: bool) -> None:
    """Ask about every question that waits for this person, each once; end when nobody is there to answer.

    Whatever is answered and is not a clear yes is a no. Where nothing can be answered any more (the end of the input,
    an interruption) the questions stay as they are: that nobody answers is for the clock to say.
    """
    say("Watching for questions. Only 'yes' approves; any other answer denies. Ctrl-C leaves them open.")
    seen: set[str] = set()
    try:
        while True:
            for question in _new(client, seen):
                if not _ask(client, question):
                    seen.discard(question)
            if once:
                return
            time.sleep(every)
    except (EOFError, KeyboardInterrupt):
        say("Stopped; what was not answered stays open.")


def _new(client: Countersign, seen: set[str]) -> list[str]:
    try:
        waiting = pages(client, "/v1/approvals", {"status": "pending", "mine": "true"}, _QUEUE)
    except Unavailable as error:
        complain(f"{error}; looking again")
        return []
    new = [str(question["id"]) for question in waiting if isinstance(question.get("id"), str)]
    fresh = [question for question in new if question not in seen]
    seen.update(fresh)
    return fresh


def _ask(client: Countersign, question: str) -> bool:
    """Ask about one question; return False where it is not known whether the answer arrived."""
    path = f"/v1/approvals/{quote(question, safe='')}"
    try:
        found = client.request("GET", path)
        if found.get("status") != "pending":
            return True
        _show(found)
        made = client.request("POST", f"{path}/decision", body=_decision())
        say(f"{question} is {made.get('status')}.")
    except (Conflict, Forbidden, NotFound) as error:
        complain(f"{question} was not decided by you: {error}")
    except Unavailable as error:
        complain(f"{error}; {question} is asked again if it still waits")
        return False
    return True


def _show(question: dict[str, Any]) -> None:
    console().rule()
    questions.whole(question)


def _decision() -> dict[str, str]:
    answer = _read("Approve? [yes/NO] ")
    if answer.strip().casefold() in _YES:
        return {"decision": "approve"}
    comment = _read("Denied. Why? (the agent is told; empty for no comment) ", ending="") if answer else ""
    return {"decision": "deny", **({"comment": comment.strip()} if comment.strip() else {})}


def _read(prompt: str, ending: str | None = None) -> str:
    """Return a line that was typed, or `ending` where the input has ended.

    Raises:
        EOFError: the input has ended, and no `ending` is given.
    """
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if line:
        return line
    if ending is None:
        raise EOFError
    return ending
