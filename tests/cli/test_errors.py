"""A user's mistake becomes one line; a bug keeps its traceback."""

import concurrent.futures
import json
from pathlib import Path

import numpy as np
import pytest

from forensegm.cli.errors import UsageError, guard, is_mistake, one_line
from forensegm.sample import LabelSpace


def caught(action: object) -> BaseException:
    with pytest.raises(Exception) as error:  # noqa: PT011
        action()  # type: ignore[operator]
    return error.value


def ours() -> LabelSpace:
    return LabelSpace(())


def test_errors_of_forensegm_and_of_the_system_are_mistakes() -> None:
    assert is_mistake(caught(ours))
    assert is_mistake(caught(Path("/no/such/file").read_text))


def test_an_error_of_a_worker_is_a_mistake_too() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert is_mistake(caught(pool.submit(ours).result))


def test_errors_of_others_are_bugs() -> None:
    assert not is_mistake(caught(lambda: np.zeros(3).reshape(2, 2)))
    assert not is_mistake(caught(lambda: json.loads("{")))
    assert not is_mistake(KeyError("x"))
    assert not is_mistake(ValueError("never raised"))


def test_memory_that_ran_out_is_no_bug() -> None:
    assert is_mistake(type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory."))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(2, "No such file or directory", "a b.png"), "No such file or directory: a b.png"),
        (ValueError("Expected x,\n  got y."), "Expected x, got y."),
        (UsageError("Not that."), "Not that."),
        (ValueError("odd"), "odd (FORENSEGM_DEBUG=1 shows where this comes from)"),
        (RuntimeError(), "RuntimeError (FORENSEGM_DEBUG=1 shows where this comes from)"),
    ],
)
def test_one_line(error: Exception, line: str) -> None:
    assert one_line(error) == line


def test_guard_passes_the_exit_code_on() -> None:
    assert guard("x", lambda: 7) == 7


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORENSEGM_DEBUG", "1")
    assert guard("forensegm", lambda: len(ours().editors)) == 2
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("FORENSEGM_DEBUG", "0")
    assert guard("forensegm", lambda: len(ours().editors)) == 2
    assert capsys.readouterr().err == "forensegm: error: Expected 1 to 254 editors, got 0.\n"
