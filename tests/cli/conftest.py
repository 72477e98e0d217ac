"""One tiny data set, one tiny training run and what follows from them, made once by the commands themselves."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from forensegm.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


def run(*argv: str | Path) -> Done:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(part) for part in argv])
    return Done(code, out.getvalue(), err.getvalue())


def refused(*argv: str | Path) -> str:
    """Run a command that must fail (see `refused_by`)."""
    return refused_by(f"forensegm {argv[0]}", *argv)


def refused_by(prog: str, *argv: str | Path) -> str:
    """Run a command that must fail: exit code 2, nothing on stdout, one line of `prog` on stderr, which is returned."""
    done = run(*argv)
    assert done.code == 2, done
    assert done.out == ""
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    assert lines[0].startswith(f"{prog}: error: ")
    return lines[0]


@dataclass(frozen=True)
class Workspace:
    """Folders of the session's data set and run, what the commands that made them printed, and how to run more."""

    data: Path
    train: Path
    edited: Done
    trained: Done
    run = staticmethod(run)
    refused = staticmethod(refused)
    refused_by = staticmethod(refused_by)

    @property
    def source(self) -> str:
        return f"native:{self.data}"

    @property
    def checkpoint(self) -> Path:
        return self.train / "checkpoint"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny images gain nothing from threads, which wait for one another for seconds on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("cli")
    data, folder = root / "data", root / "train"
    edited = run(
        *("edit", "--out", data, "--images", "24", "--size", "64", "--workers", "1"),
        *("--editors", "telea,copy_move", "--region_area", "0.1,0.3"),
    )
    assert edited.code == 0, edited.err
    trained = run(
        *("train", "--data", f"native:{data}", "--out", folder, "--epochs", "1", "--threads", "1"),
        *("--model.weights", "none", "--data.crop", "64", "--data.batch_size", "4", "--track.wandb", "off"),
    )
    assert trained.code == 0, trained.err
    return Workspace(data, folder, edited, trained)
