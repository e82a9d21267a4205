"""Schemas as Pydantic writes them, brought into the Draft-7 subset: no references, no OpenAPI.

What is unknown here stays, for the snapshot to refuse with its place.
"""

from __future__ import annotations

from typing import Any, Final

from intent_runtime.pointer import Key
from intent_runtime.typed.refusals import refused, refused_cycle
from intent_runtime.typed.spellings import TUPLE_REASON

# A schema with this key has no equal; the value says why.
REFUSAL: Final = "x-unsupported"

_Path = tuple[Key, ...]

_DEFINITIONS: Final = ("$defs", "definitions")
_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples"})
_DROPPED: Final = frozenset(
    {
        "discriminator",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentMediaType",
        "contentEncoding",
        "xml",
        "externalDocs",
        "example",
    }
)
_ONE: Final = frozenset({"items", "additionalProperties", "not"})
_SEVERAL: Final = frozenset({"anyOf", "oneOf", "allOf"})
# Any text will do for these.
_FREE_FORMATS: Final = frozenset({"password", "path"})
_DISK_FORMATS: Final = frozenset({"file-path", "directory-path"})
_ANY_ADDRESS: Final = "ipvanyaddress"


def inline(document: dict[str, Any]) -> dict[str, Any]:
    """The schema without `$ref`; raises `UnsupportedTypeError`.

    A definition used twice is one shared object in the outcome, so that its size stays that of
    `document`; what shares it too often ends at the limits of the snapshot.
    """
    return _Inliner(document).root()


class _Inliner:
    def __init__(self, document: dict[str, Any]) -> None:
        self._root = {key: value for key, value in document.items() if key not in _DEFINITIONS}
        self._definitions = {
            f"#/{home}/{name}": schema
            for home in _DEFINITIONS
            for name, schema in document.get(home, {}).items()
        }
        self._done: dict[str, Any] = {}
        self._open: list[str] = []

    def root(self) -> dict[str, Any]:
        return self._schema(self._root, ())

    def _schema(self, node: Any, path: _Path) -> Any:
        if not isinstance(node, dict):
            return node
        if REFUSAL in node:
            raise refused(path, str(node[REFUSAL]))
        if "prefixItems" in node:
            raise refused(path, TUPLE_REASON)
        inner = {
            key: self._member(key, value, (*path, key))
            for key, value in node.items()
            if key not in _DROPPED and key != "$ref"
        }
        inner = _with_known_format(inner, path)
        return self._joined(node["$ref"], inner, path) if "$ref" in node else inner

    def _member(self, key: str, value: Any, path: _Path) -> Any:
        if key in _ONE:
            return self._schema(value, path)
        if key in _SEVERAL and isinstance(value, list):
            return [self._schema(branch, (*path, index)) for index, branch in enumerate(value)]
        if key == "properties" and isinstance(value, dict):
            return {name: self._schema(child, (*path, name)) for name, child in value.items()}
        return value

    def _joined(self, reference: Any, siblings: dict[str, Any], path: _Path) -> Any:
        """The target of a reference; what stands next to it goes before the target's own."""
        target = self._target(reference, path)
        if not siblings:
            return target
        if not isinstance(target, dict) or siblings.keys() - _ANNOTATIONS:
            own = target if not isinstance(target, dict) else _without(target, siblings)
            return {**siblings, "allOf": [*siblings.get("allOf", ()), own]}
        return {**target, **siblings}

    def _target(self, reference: Any, path: _Path) -> Any:
        if reference not in self._definitions:
            raise refused(path, f'a "$ref" to {reference} is not supported')
        if reference in self._open:
            chain = [*self._open[self._open.index(reference) :], reference]
            raise refused_cycle(path, (link.rpartition("/")[2] for link in chain))
        if reference not in self._done:
            self._open.append(reference)
            self._done[reference] = self._schema(self._definitions[reference], path)
            self._open.pop()
        return self._done[reference]


def _without(target: dict[str, Any], siblings: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in target.items()
        if key not in _ANNOTATIONS or key not in siblings
    }


def _with_known_format(schema: dict[str, Any], path: _Path) -> dict[str, Any]:
    """The schema with a format of Pydantic's own replaced by what says the same."""
    name = schema.get("format")
    if not isinstance(name, str):
        return schema
    rest = {key: value for key, value in schema.items() if key != "format"}
    if name in _FREE_FORMATS:
        return rest
    if name in _DISK_FORMATS:
        raise refused(path, "a path that must exist on disk has no equal; use Path")
    if name == _ANY_ADDRESS:
        return {**rest, "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
    if len(name) == len("uuid4") and name.startswith("uuid") and name[-1].isdigit():
        return {**schema, "format": "uuid", "pattern": f"^.{{14}}{name[-1]}.{{4}}[89abAB]"}
    return schema
