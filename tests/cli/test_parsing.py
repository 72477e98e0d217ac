"""Options come from the configuration, files are checked, the command line wins, mistakes are one sentence."""

from pathlib import Path

import pytest

from forensegm.cli.errors import UsageError
from forensegm.cli.main import COMMANDS
from forensegm.cli.options import Command, command_options
from forensegm.cli.parsing import check_required, parse_command
from forensegm.config import Config


def parse(command: str, *argv: str) -> Config:
    return parse_command(COMMANDS[command], argv)[0]


def mistake(command: str, *argv: str) -> str:
    with pytest.raises(UsageError) as caught:
        check_required(COMMANDS[command], parse(command, *argv))
    return str(caught.value)


def test_no_argument_gives_the_defaults() -> None:
    assert parse("edit") == Config()


@pytest.mark.parametrize("argv", [("--images", "5"), ("--images=5",), ("--edit.images", "5"), ("--edit.images=5",)])
def test_own_section_goes_with_and_without_its_name(argv: tuple[str, ...]) -> None:
    assert parse("edit", *argv).edit.images == 5


def test_options_of_other_sections_and_short_names() -> None:
    config = parse(
        "train", "--data", "native:x", "--data.batch_size", "2", "--model", "smp:fpn/a", "--optim.lr", "1e-4"
    )
    assert (config.data.source, config.data.batch_size) == ("native:x", 2)
    assert (config.model.name, config.optim.lr) == ("smp:fpn/a", 1e-4)
    assert parse("train", "--data.source", "native:y").data.source == "native:y"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jpeg(70)", ["jpeg(70)"]),
        ("jpeg(70),resize(0.5)|jpeg(70)", ["jpeg(70)", "resize(0.5)|jpeg(70)"]),
        ("[jpeg(70), crop(1,2)]", ["jpeg(70)", "crop(1,2)"]),
        ('["jpeg(70)"]', ["jpeg(70)"]),
        ("1,2", ["1", "2"]),
    ],
)
def test_lists_of_names(text: str, expected: list[str]) -> None:
    assert parse("robustness", "--chains", text).distort.chains == expected
    assert parse("robustness", f"--distort.chains={text}").distort.chains == expected


def test_numbers_mappings_and_switches() -> None:
    config = parse("edit", "--turns", "0.5,.5", "--split=0.6,0.2,0.2", "--seed", "-1")
    assert (config.edit.turns, config.edit.split, config.edit.seed) == ([0.5, 0.5], (0.6, 0.2, 0.2), -1)
    assert parse("train", "--loss.terms", "dice=1,lovasz=0.5").loss.terms == {"dice": 1.0, "lovasz": 0.5}
    assert parse("train", "--loss.terms", "{dice: 1}").loss.terms == {"dice": 1.0}
    assert parse("train", "--resume").train.resume is True
    assert parse("train", "--resume", "false").train.resume is False


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("edit", "--imges", "3"), "Expected a known option, got '--imges'. Did you mean --images?"),
        (
            ("train", "--batch_size", "3"),
            "Expected a known option, got '--batch_size'. Did you mean --data.batch_size?",
        ),
        (("train", "--data.sorce=x"), "Expected a known option, got '--data.sorce'. Did you mean --data?"),
        (("edit", "--images", "many"), "Expected --images to be an integer, got 'many'."),
        (("edit", "--images", "2.5"), "Expected --images to be an integer, got '2.5'."),
        (("edit", "--images"), "Expected a value after --images."),
        (("edit", "--split", "0.1,0.2"), "Expected --split to be 3 numbers separated by commas, got '0.1, 0.2'."),
        (("edit", "--turns", "a"), "Expected --turns to be numbers separated by commas, got 'a'."),
        (("train", "--precision", "fp17"), "Expected --precision to be one of auto, fp32, bf16, fp16, got 'fp17'."),
        (("train", "--resume", "maybe"), "Expected --resume to be true or false, got 'maybe'."),
        (
            ("train", "--loss.terms", "dice"),
            "Expected --loss.terms to be names with numbers, as in a=1.0,b=0.5, got 'dice'.",
        ),
        (("export", "--opset", "x"), "Expected --opset to be an integer, got 'x'."),
        (("edit", "--a.b", "3"), "Expected a known option, got '--a.b'. See forensegm edit --help."),
        (("edit", "photos"), "Expected no further argument, got 'photos'. See forensegm edit --help."),
        (
            ("edit", "--model.name", "x"),
            "Expected an option of forensegm edit, got --model.name, which it does not use. See forensegm edit --help.",
        ),
        (("train",), "Expected --data, the data set to train on, for example --data native:runs/data."),
    ],
)
def test_a_mistake_names_the_option(argv: tuple[str, ...], message: str) -> None:
    assert mistake(*argv) == message


def test_abbreviations_are_not_guessed() -> None:
    assert "Did you mean --images?" in mistake("edit", "--imag", "3")


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_command_line_wins_over_files_and_later_files_over_earlier(tmp_path: Path) -> None:
    first = write(tmp_path / "a.yaml", "edit: {images: 1, size: 64}\ntrain: {epochs: 3}\noptim: {lr: 1e-3}\n")
    second = write(tmp_path / "b.yaml", "edit: {size: 32}\ndata:\n")
    config = parse("edit", "--images", "9", "--config", first, "--config", second)
    assert (config.edit.images, config.edit.size) == (9, 32)
    assert (config.train.epochs, config.optim.lr) == (3, 1e-3), "sections that edit does not use are kept"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: {epoch: 3}", "Expected a known key of 'train' in run.yaml, got 'epoch'. Did you mean epochs?"),
        ("trian: {epochs: 3}", "Expected a known section in run.yaml, got 'trian'. Did you mean train or track?"),
        ("optim: {lr: fast}", "Expected 'optim.lr' in run.yaml to be a number, got 'fast'."),
        ("edit: {images: 2.5}", "Expected 'edit.images' in run.yaml to be an integer, got '2.5'."),
        ("edit: 3", "Expected 'edit' in run.yaml to hold 'key: value' lines, got '3'."),
        ("- edit", "Expected run.yaml to hold sections such as 'train:', got list."),
        ("edit: {images: 1}\nedit: {}", "Expected YAML, got at run.yaml:2:1: a second 'edit'."),
        ("edit: [1", "Expected YAML, got at run.yaml:1:9: expected ',' or ']', but got '<stream end>'."),
        ("[a]: 1", "Expected YAML, got at run.yaml:1:1: found unhashable key."),
    ],
)
def test_a_mistake_in_a_file_names_file_and_key(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run.yaml", text)
    assert mistake("edit", "--config", "run.yaml") == message


def test_a_missing_or_unreadable_file(tmp_path: Path) -> None:
    assert "which is not a file" in mistake("train", "--config", str(tmp_path))
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    assert "text that cannot be read" in mistake("train", "--config", str(tmp_path / "binary.yaml"))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_option_has_a_help_text_and_one_name(command: Command) -> None:
    options = command_options(command)
    assert all(option.help for option in options)
    names = [option.name for option in options]
    assert len(names) == len(set(names))
    known = {option.key for option in options}
    assert set(command.required) <= known
    assert set(command.short) <= known
