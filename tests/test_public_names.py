"""The public face: every name has a docstring and stands in the reference."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PACKAGES = {
    "intent_runtime": "intent_runtime",
    "intent_runtime.bridge": "bridge",
    "intent_runtime.executors": "executors",
    "intent_runtime.mcp": "mcp",
    "intent_runtime.testing": "testing",
}
# Shown where they are defined, not a second time.
ELSEWHERE = {"intent_runtime.executors": {"ModelExecutor"}}


def public_names(package):
    names = import_module(package).__all__
    return [name for name in names if not name.startswith("_")]


NAMES = [
    pytest.param(package, name, id=f"{package}.{name}")
    for package in PACKAGES
    for name in public_names(package)
]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_public_name_is_documented_with_all_its_members(package, name):
    value = getattr(import_module(package), name)
    if not callable(value):
        return
    assert inspect.getdoc(value)
    assert "Struct" not in (value.__doc__ or "")
    for member, inner in vars(value).items() if inspect.isclass(value) else ():
        if not member.startswith("_") and (inspect.isroutine(inner) or isinstance(inner, property)):
            assert inspect.getdoc(getattr(value, member)), member


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_shows_every_public_name(package):
    page = (REFERENCE / f"{PACKAGES[package]}.md").read_text("utf-8")
    shown = set(re.findall(r"auto(?:class|function|exception|data):: (\w+)", page))
    expected = set(public_names(package)) - ELSEWHERE.get(package, set())
    assert shown == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_names_load_on_demand_and_others_are_missing(package):
    module = import_module(package)
    with pytest.raises(AttributeError):
        _ = module.no_such_name
    assert set(public_names(package)) <= {*dir(module), *getattr(module, "__all__", ())}
