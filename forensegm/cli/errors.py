"""What the user sees when something goes wrong: one line for a mistake, the whole traceback for a bug."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path

DEBUG_VARIABLE = "FORENSEGM_DEBUG"
EXIT_BUG = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 130

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep
_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep


class UsageError(ValueError):
    """A mistake in the command line or in a configuration file."""


def debugging() -> bool:
    """Whether the user asked for tracebacks with FORENSEGM_DEBUG=1."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def guard(prog: str, action: Callable[[], int]) -> int:
    """Run `action` and return its exit code; a mistake becomes one line on stderr and exit code 2.

    Args:
        prog: the program's name as the user typed it, which starts the line.
        action: what to run.

    Returns:
        The exit code: that of `action`, 2 for a user's mistake, 130 when interrupted, 1 for a bug, whose traceback
        is printed.
    """
    try:
        return action()
    except KeyboardInterrupt:
        print(f"\n{prog}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`forensegm list models | head`): not worth a word. Python would
        # complain once more while it flushes at exit, hence the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debugging() or not is_mistake(error):
            traceback.print_exc()
            return EXIT_BUG if not is_mistake(error) else EXIT_MISTAKE
        print(f"{prog}: error: {one_line(error)}", file=sys.stderr)
        return EXIT_MISTAKE


def is_mistake(error: BaseException) -> bool:
    """Whether an error is the user's to mend rather than a bug.

    An error of the system (a missing file, a full disk) and memory that ran out always are. A ValueError or
    RuntimeError is when forensegm itself raised it, which it does with a message for the user; from any other library
    it is a case that forensegm should have caught, so its traceback is kept.
    """
    if isinstance(error, OSError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, (ValueError, RuntimeError)) and _raised_by_us(error)


def _raised_by_us(error: BaseException) -> bool:
    # Frames of the standard library are passed over: an error of a worker process is raised again by it.
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = frame.f_code.co_filename
        if path.startswith(_PACKAGE):
            return True
        if "site-packages" in path or not path.startswith(_STDLIB):
            return False
    return False


def one_line(error: BaseException) -> str:
    """An error as one line that names the file, without a trace of Python."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {os.fsdecode(error.filename)}"
    text = " ".join(str(error).split()) or type(error).__name__
    if text.startswith("Expected") or isinstance(error, UsageError):
        return text
    return f"{text} ({DEBUG_VARIABLE}=1 shows where this comes from)"
