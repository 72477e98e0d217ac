"""What a command takes: every option is made from a field of `forensegm.config.Config` and exists nowhere else.

The options of a command's own section carry no prefix (`forensegm edit --images 100`), those of other sections do
(`--model.name`), and a few have a short name (`--data`). The full name, `--edit.images`, always works as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_type_hints

import docstring_parser
from jsonargparse import ArgumentParser, Namespace

from forensegm.cli.helptext import HelpFormatter, hint_metavar
from forensegm.config import Config

# An argument group of jsonargparse, whose class is not public.
Group = Any


@dataclass(frozen=True)
class Command:
    """One command of `forensegm`.

    Attributes:
        name: what the user types.
        summary: one line for the list of commands.
        run: does the work, with the configuration and the arguments that are no part of it; returns the exit code.
        usage: the positional arguments, as they stand in the usage line.
        examples: command lines to copy, without the leading "forensegm".
        own: section of the configuration whose options carry no prefix.
        sections: sections whose options carry their section's name as a prefix.
        short: "section.field" to the short name of its option; a field of a section that is not listed above is
            offered alone.
        leave_out: "section.field" of options that the command has no use for.
        required: "section.field" of options that must be given, with what they are, for the message.
        add_arguments: adds arguments that are no part of the configuration to the group that it gets.
    """

    name: str
    summary: str
    run: Callable[[Config, Namespace], int]
    usage: str = ""
    examples: tuple[str, ...] = ()
    own: str = ""
    sections: tuple[str, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    required: Mapping[str, str] = field(default_factory=dict)
    add_arguments: Callable[[Group], None] | None = None


@dataclass(frozen=True)
class Option:
    """One field of the configuration as an option: `key` is "section.field", `name` what help and messages call it."""

    key: str
    name: str
    hint: Any
    default: Any
    help: str

    @property
    def dest(self) -> str:
        """Where the parser keeps the value: without a dot, since a short name such as --data may be a section's."""
        return self.key.replace(".", "__")


def section_types() -> dict[str, type]:
    """The sections of the configuration by name, in their order."""
    return dict(get_type_hints(Config))


def command_options(command: Command) -> list[Option]:
    """The options of a command, section by section, its own section first."""
    listed = [command.own, *command.sections] if command.own else list(command.sections)
    alone = [key.partition(".")[0] for key in command.short]
    options = []
    for section in dict.fromkeys([*listed, *alone]):
        for option in section_options(section):
            short = command.short.get(option.key)
            if option.key in command.leave_out or (section not in listed and short is None):
                continue
            if short is None and section == command.own:
                short = "--" + option.key.partition(".")[2]
            options.append(replace(option, name=short or option.name))
    return options


def section_options(section: str) -> Iterator[Option]:
    """The options of one section under their full names."""
    yield from dataclass_options(section_types()[section], prefix=f"{section}.")


def dataclass_options(kind: type, *, prefix: str = "") -> Iterator[Option]:
    """The fields of a dataclass as options; their help texts are the "Attributes" of its docstring."""
    hints, defaults = get_type_hints(kind), kind()
    texts = {entry.arg_name: entry.description for entry in docstring_parser.parse(kind.__doc__ or "").params}
    for part in fields(kind):
        key = f"{prefix}{part.name}"
        text = " ".join((texts.get(part.name) or "").split()).rstrip(".")
        yield Option(key, f"--{key}", hints[part.name], getattr(defaults, part.name), text)


def add_trusted_name(group: Group) -> None:
    """Add --trusted_name, with which a checkpoint of the user's own network is opened."""
    group.add_argument(
        "--trusted_name",
        type=str,
        default="",
        metavar="TEXT",
        help='only for a checkpoint of your own network: its "pkg.mod:fn", which is imported on your word alone',
    )


def add_dataclass(group: Group, kind: type) -> None:
    """Add the fields of a dataclass that is no part of the configuration, without a prefix."""
    for option in dataclass_options(kind):
        _add_option(group, option)


def build_parser(command: Command) -> ArgumentParser:
    """The parser of a command, its help grouped by section of the configuration."""
    parser = ArgumentParser(
        prog=f"forensegm {command.name}",
        description=_describe(command),
        usage=" ".join(filter(None, ["%(prog)s", command.usage, "[--OPTION VALUE ...]"])),
        formatter_class=HelpFormatter,
        exit_on_error=False,
        allow_abbrev=False,
        add_help=False,
        print_config=None,
    )
    arguments = parser.add_argument_group("Arguments")
    if command.add_arguments is not None:
        command.add_arguments(arguments)
    options = command_options(command)
    groups: dict[str, Group] = {}
    for option in options:
        section = option.key.partition(".")[0]
        if section not in (command.own, *command.sections):
            groups[section] = arguments
        elif section not in groups:
            groups[section] = parser.add_argument_group(f"{_title(section)} (section {section})")
        _add_option(groups[section], option, required=option.key in command.required)
    general = parser.add_argument_group("General")
    if options:
        general.add_argument(
            "--config",
            action="append",
            metavar="FILE",
            help="YAML file of the whole configuration, sections that this command does not use included; options "
            "given here win over it",
        )
        general.add_argument("--print_config", action="store_true", help="print the configuration as YAML and stop")
    general.add_argument("-h", "--help", action="help", help="print this help and stop")
    return parser


def _title(section: str) -> str:
    text = docstring_parser.parse(section_types()[section].__doc__ or "").short_description or section
    return text.partition(". ")[0].rstrip(".")


def _describe(command: Command) -> str:
    lines = [f"  forensegm {example}" for example in command.examples]
    return "\n".join([command.summary + ".", *(["", "Examples:", *lines] if lines else [])])


def _add_option(group: Group, option: Option, *, required: bool = False) -> None:
    extra: dict[str, Any] = {"nargs": "?", "const": True} if option.hint is bool else {}
    group.add_argument(
        option.name,
        dest=option.dest,
        type=option.hint,
        default=option.default,
        metavar=hint_metavar(option.hint),
        help=f"{option.help} (required)" if required else option.help,
        **extra,
    )
