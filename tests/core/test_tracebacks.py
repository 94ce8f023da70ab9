"""A traceback in the log says where and what kind, and quotes nobody."""

from app.core.tracebacks import ExceptionInfo, without_messages


def _fail(secret: str) -> None:
    nothing: dict[str, str] = {}
    try:
        nothing[secret]
    except KeyError as error:
        raise ValueError(f"no {secret}") from error


def _caught(secret: str) -> ExceptionInfo:
    try:
        _fail(secret)
    except ValueError as error:
        return type(error), error, error.__traceback__
    raise AssertionError


def test_a_traceback_has_frames_and_types_and_no_messages() -> None:
    written = without_messages(_caught("hunter2"))
    assert "hunter2" not in written
    assert written.index("builtins.KeyError") < written.index("builtins.ValueError")
    assert "in _fail" in written


def test_a_cause_that_is_its_own_ends() -> None:
    error = ValueError("a")
    error.__context__ = other = ValueError("b")
    other.__context__ = error
    assert without_messages((ValueError, error, None)).count("ValueError") == 2
