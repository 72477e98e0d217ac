"""The YAML file of a whole run: read with every key and type checked, and written with its help texts."""

from __future__ import annotations

from argparse import ArgumentError
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonargparse import ArgumentParser

from forensegm.cli.errors import UsageError
from forensegm.cli.helptext import hint_words
from forensegm.cli.options import Command, Option, command_options, section_options, section_types
from forensegm.config import Config, plain
from forensegm.lookup import unknown_name


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """Read a YAML file of the nested configuration; every key and type is checked, whatever the command uses.

    Returns:
        The values by section, only those that the file holds.

    Raises:
        UsageError: no such file, not YAML, an unknown section or key, or a value of the wrong type.
    """
    if not path.is_file():
        raise UsageError(f"Expected --config to name a YAML file, got '{path}', which is not a file.")
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError(f"Expected YAML, got at {where}: {error.problem}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"Expected YAML in {path}, got text that cannot be read: {error}") from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise UsageError(f"Expected {path} to hold sections such as 'train:', got {type(content).__name__}.")
    return {str(section): _read_section(str(section), entries, path) for section, entries in content.items()}


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would silently drop the first."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value]
        for number, key in enumerate(keys):
            if key.value in [earlier.value for earlier in keys[:number]]:
                raise yaml.MarkedYAMLError(problem=f"a second '{key.value}'", problem_mark=key.start_mark)
        return super().construct_mapping(node, deep=deep)


def _read_section(section: str, entries: Any, path: Path) -> dict[str, Any]:
    if section not in section_types():
        raise UsageError(str(unknown_name(section, section_types(), what=f"section in {path}")))
    entries = {} if entries is None else entries
    if not isinstance(entries, dict):
        raise UsageError(f"Expected '{section}' in {path} to hold 'key: value' lines, got '{entries}'.")
    options = {option.key: option for option in section_options(section)}
    return {str(key): _read_value(f"{section}.{key}", value, options, path) for key, value in entries.items()}


def _read_value(key: str, value: Any, options: Mapping[str, Option], path: Path) -> Any:
    if key not in options:
        section, _, name = key.partition(".")
        known = [option.key.partition(".")[2] for option in options.values()]
        raise UsageError(str(unknown_name(name, known, what=f"key of '{section}' in {path}")))
    parser = ArgumentParser(exit_on_error=False, print_config=None)
    parser.add_argument("--value", type=options[key].hint)
    try:
        return parser.parse_object({"value": value})["value"]
    except ArgumentError as error:
        words = hint_words(options[key].hint)
        raise UsageError(f"Expected '{key}' in {path} to be {words}, got '{value}'.") from error


def config_text(config: Config, command: Command) -> str:
    """The configuration of a command as YAML, each key under its help text: what --print_config prints."""
    values, lines, section = plain(config), [], ""
    for option in command_options(command):
        if option.key.partition(".")[0] != section:
            section = option.key.partition(".")[0]
            lines.append(f"{section}:")
        key = option.key.partition(".")[2]
        value = yaml.safe_dump(values[section][key], sort_keys=False, default_flow_style=True, width=1000)
        lines += [f"  # {option.help}", f"  {key}: {value.splitlines()[0]}"]
    return "\n".join(lines) + "\n"
