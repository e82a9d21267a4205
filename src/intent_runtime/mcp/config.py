"""Trusted configuration files of the service (contract section 11, Command).

Every mistake is a `ConfigFileError` whose one line names the file, the instance and the cause.
"""

from __future__ import annotations

import json
import runpy
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from intent_runtime.errors import IntentParseError
from intent_runtime.intent import Intent
from intent_runtime.text import has_lone_surrogate, name_list, shorten


class ConfigFileError(Exception):
    """What is wrong with a configuration file, in one line."""


class Configuration(NamedTuple):
    """The instances of a file; `owned` are those built here, to be disposed at the end."""

    instances: dict[str, Intent]
    owned: tuple[Intent, ...]


def load_configuration(path: Path) -> Configuration:
    """Read a `.py`, `.toml` or `.json` file and build its instances."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise _wrong(path, f"unknown ending; known are {', '.join(_READERS)}")
    if not path.is_file():
        raise _wrong(path, "no such file" if not path.exists() else "not a file")
    entries = _instances(path, reader(path))
    is_code = path.suffix.lower() == ".py"
    instances: dict[str, Intent] = {}
    owned: list[Intent] = []
    try:
        for name, entry in entries.items():
            if is_code and isinstance(entry, Intent):
                instances[name] = entry
            else:
                instances[name] = _built(path, name, entry, is_code=is_code)
                owned.append(instances[name])
    except ConfigFileError:
        for intent in owned:
            intent.dispose()
        raise
    return Configuration(instances, tuple(owned))


def _wrong(path: Path, cause: str, name: str | None = None) -> ConfigFileError:
    where = f"{path}: " if name is None else f"{path}: instance {name_list([name])}: "
    # One line, whatever the path, the name or the cause hold.
    line = " ".join(f"{where}{shorten(cause, 400)}".split())
    return ConfigFileError(line.encode("utf-8", "replace").decode())


def _instances(path: Path, config: object) -> Mapping[str, object]:
    if not isinstance(config, Mapping) or "instances" not in config:
        raise _wrong(path, 'the configuration must be an object with the key "instances"')
    instances = cast("Mapping[str, Any]", config)["instances"]
    if not isinstance(instances, Mapping):
        raise _wrong(path, '"instances" must map names to configurations')
    if not instances:
        raise _wrong(path, '"instances" is empty')
    entries = cast("Mapping[object, object]", instances)
    for name in entries:
        if not isinstance(name, str) or has_lone_surrogate(name):
            raise _wrong(path, '"instances" must have strings as names')
    return cast("Mapping[str, object]", entries)


def _built(path: Path, name: str, entry: object, *, is_code: bool) -> Intent:
    if not isinstance(entry, Mapping):
        kinds = "a configuration object or an Intent" if is_code else "a configuration object"
        raise _wrong(path, f"must be {kinds}", name)
    config = dict(cast("Mapping[str, Any]", entry))
    if "executor" in config and not is_code:
        raise _wrong(path, "executor cannot be given in a data file; use a .py file", name)
    if "schemaFile" in config:
        if "schema" in config:
            raise _wrong(path, "schema and schemaFile exclude each other", name)
        config["schema"] = _schema_file(path, name, config.pop("schemaFile"))
    try:
        return Intent.from_config(config)
    except IntentParseError as error:
        raise _wrong(path, f"{error.code}: {error.message}", name) from None


def _schema_file(path: Path, name: str, value: object) -> Any:
    if not isinstance(value, str) or not value:
        raise _wrong(path, "schemaFile must name a JSON file next to the configuration", name)
    try:
        return _read_json(path.parent / value)
    except ConfigFileError as error:
        raise _wrong(path, f"schemaFile {error}", name) from None


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _wrong(path, error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise _wrong(path, "not UTF-8 text") from None
    except ValueError:
        raise _wrong(path, "not a name that a file can have") from None


def _parsed(path: Path, parse: Callable[[str], object], kind: str) -> object:
    text = _read_text(path)
    try:
        return parse(text)
    except RecursionError:
        raise _wrong(path, "nested too deeply") from None
    except ValueError as error:
        raise _wrong(path, f"not {kind}: {error}") from None


def _read_json(path: Path) -> object:
    return _parsed(path, json.loads, "JSON")


def _read_toml(path: Path) -> object:
    return _parsed(path, tomllib.loads, "TOML")


def _read_python(path: Path) -> object:
    """Run the module; it defines `config`, or `instances` alone."""
    try:
        names = runpy.run_path(str(path), run_name="intent_runtime_config")
    except SyntaxError as error:
        raise _wrong(path, f"line {error.lineno}: {error.msg}") from None
    except IntentParseError as error:
        raise _wrong(path, f"{error.code}: {error.message}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it does, even leaving, is its mistake
        raise _wrong(path, f"running it raised {type(error).__name__}{_said(error)}") from None
    if "config" in names and "instances" in names:
        raise _wrong(path, "defines both config and instances; define one")
    if "config" in names:
        return names["config"]
    if "instances" in names:
        return {"instances": names["instances"]}
    raise _wrong(path, "defines neither config nor instances")


def _said(error: BaseException) -> str:
    try:
        return f": {error}"
    except Exception:  # noqa: BLE001 - a message that cannot be had is no reason for a traceback
        return ""


_READERS: Final[dict[str, Callable[[Path], object]]] = {
    ".py": _read_python,
    ".toml": _read_toml,
    ".json": _read_json,
}
