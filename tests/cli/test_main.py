"""The program as a whole: help, unknown commands, exit codes, interrupts."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from forensegm.cli import main as main_module
from forensegm.cli.main import COMMANDS, main
from forensegm.cli.options import Command
from forensegm.version import __version__


def run(*argv: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "forensegm", *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    for name, command in COMMANDS.items():
        assert sum(line.startswith(f"  {name} ") and command.summary in line for line in lines) == 1
    assert "  forensegm demo --out runs/demo" in lines
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_fits_and_explains(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: forensegm {name}")
    assert max(map(len, text.splitlines())) <= 100
    assert all(example.startswith(f"{name} ") or example == name for example in COMMANDS[name].examples)
    assert COMMANDS[name].examples


def test_help_is_fast_and_imports_no_torch() -> None:
    code = "import sys, time; from forensegm.cli.main import main; main(['--help']);"
    code += "print(time.process_time(), file=sys.stderr); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert float(done.stderr) < 1, "seconds of CPU time, which other programs do not change"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"forensegm {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["trian"], "forensegm: error: Expected a known command, got 'trian'. Did you mean train?"),
        (["--out", "x"], "forensegm: error: Expected a command first, got '--out'. See forensegm --help."),
        (
            ["edit", "--images", "x"],
            "forensegm edit: error: Expected --images to be an integer, got 'x'.",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(argv: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err == line + "\n"
    assert captured.out == ""


def test_module_runs_as_a_program() -> None:
    done = run("edit", "--images", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "forensegm edit: error: Expected --images to be an integer, got 'x'.\n"


def test_printed_configuration_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--print_config", "--epochs", "7"]) == 0
    text = capsys.readouterr().out
    values = yaml.safe_load(text)
    assert set(values) == {"train", "data", "model", "loss", "optim", "augment", "evaluate", "track"}
    assert values["train"]["epochs"] == 7
    assert "  # passes over the training split\n  epochs: 7\n" in text
    (tmp_path / "train.yaml").write_text(text)
    assert main(["train", "--config", str(tmp_path / "train.yaml"), "--print_config"]) == 0
    assert capsys.readouterr().out == text


def test_the_current_folder_is_searched_last_for_parts_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["--version"]) == 0
    assert sys.path[-1] == str(tmp_path)


def raising(error: BaseException) -> Command:
    def run_command(*_: object) -> int:
        raise error

    return Command(name="edit", summary="raises", run=run_command)


def test_interrupt_is_130_and_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(main_module.COMMANDS, "edit", raising(KeyboardInterrupt()))
    assert main(["edit"]) == 130
    assert capsys.readouterr().err == "\nforensegm edit: interrupted\n"


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(main_module.COMMANDS, "edit", raising(KeyError("x")))
    assert main(["edit"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m forensegm train --help | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: forensegm train")
    assert done.stderr == ""
