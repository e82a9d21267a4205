"""Reads a selected schema into leaves: the places a value can be put, in simple terms.

Only schemas whose meaning the rules fully understand become leaves. A field that uses anything
else (`not`, several real alternatives, ...) is reported as not extractable instead of risking a
value that breaks a constraint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, TypeAlias, cast

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.text import HAN, has_han, lowered, name_parts, stem
from intent_runtime.text import is_blank

Schema: TypeAlias = Mapping[str, Any]
Path: TypeAlias = "tuple[str | int, ...]"

_DESCRIPTION_LIMIT: Final = 600
_SHORTEST_GIST: Final = 3
_MAX_NAME_PARTS: Final = 12
_NUMERIC_TYPES: Final = frozenset({"integer", "number"})
_WORD = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’-][^\W_{HAN}]+)*")
_GIST_END = re.compile(
    r"(?<=[a-z\d)'\"])\.\s|\bsuch as\b|\be\.g|\bi\.e|\bfor example\b|\bin the format\b|[(;]"
    r"|\b(?:the )?default|\bif not\b|\boptions?:|例如|比如|默认|。|；"
)
_QUOTED = re.compile(r"['\"‘“`「]([^'\"‘’“”`「」\n]{1,60})['\"’”`」]")
_RATE = re.compile(r"\bper\s\w+|\b[a-z]+/[a-z]\w*(?:\^\d)?")
_ANNOTATIONS: Final = frozenset({"title", "description", "examples", "default", "$comment"})


@dataclass(frozen=True)
class Leaf:
    """One place for a scalar or a list of scalars, with the words that speak of it."""

    path: Path
    schema: Schema
    required: bool
    described: str

    @property
    def name(self) -> str:
        """The property name, or an index for a list member."""
        return str(self.path[-1])

    @property
    def item_schema(self) -> Schema:
        """What the members of a list look like."""
        return effective(as_schema(self.schema.get("items"))) or {}

    @cached_property
    def kind(self) -> str:
        """The one JSON type the value may have besides null, or empty when there are several."""
        return kind_of(self.schema)

    @cached_property
    def choices(self) -> tuple[Any, ...]:
        """The values of `enum` or `const`."""
        return choices_of(self.schema)

    @cached_property
    def gist(self) -> str:
        """The part of the description that says what the value is, before examples and defaults."""
        text = lowered(self.described[:_DESCRIPTION_LIMIT])
        end = _GIST_END.search(text)
        return text[: end.start()] if end and end.start() > _SHORTEST_GIST else text

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """What the description quotes. Never facts: only words to look for in the request."""
        return tuple(dict.fromkeys(_QUOTED.findall(self.described[:_DESCRIPTION_LIMIT])))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of the name, with the Chinese words for them."""
        parts = [
            stem(part) for part in name_parts(self.name)[:_MAX_NAME_PARTS] if not has_han(part)
        ]
        spoken = {*parts, "".join(parts), *label_words("".join(filter(has_han, (self.name,))))}
        return frozenset(spoken) | _translated(frozenset(parts))

    @cached_property
    def description_words(self) -> frozenset[str]:
        """The telling words of what the description says first."""
        stop = vocabulary.words("stop_words")
        unquoted = _RATE.sub(" ", _QUOTED.sub(" ", self.gist))
        found = {stem(word) for word in label_words(unquoted)} - stop
        return frozenset(found) | _translated(frozenset(found))

    @cached_property
    def specific_words(self) -> frozenset[str]:
        """Name words that tell this field from others: not `name`, `number`, `value` ..."""
        return self.name_words - vocabulary.words("generic_name_words")

    def speaks_of(self, *names: str) -> bool:
        """Whether the name holds one of these words."""
        return not self.name_words.isdisjoint(names)


@dataclass(frozen=True)
class Branch:
    """An object node: its members are leaves or further branches."""

    path: Path
    schema: Schema
    required: bool
    members: tuple[Leaf | Branch, ...]


Node: TypeAlias = "Leaf | Branch"


def as_schema(value: object) -> Schema:
    """The schema as a mapping; a boolean or absent one says nothing the rules could use."""
    return cast("Schema", value) if isinstance(value, dict) else {}


def read(path: Path, raw: object, *, required: bool) -> Node | None:
    """The node for a schema, or None when the rules cannot be sure what it accepts."""
    schema = effective(as_schema(raw))
    if schema is None or states_demand(str(schema.get("description", ""))):
        return None
    if kind_of(schema) == "object" and not choices_of(schema):
        return _branch(path, schema, required=required)
    if kind_of(schema) == "array":
        items = effective(as_schema(schema.get("items")))
        if items is None or states_demand(str(items.get("description", ""))):
            return None
    return Leaf(path, schema, required, str(schema.get("description", "")))


def states_demand(description: str) -> bool:
    """Whether a description demands a relation, as `must be after`, that no quote can show."""
    return any(pattern.search(description) for pattern in _demands())


def leaves(node: Node) -> Iterator[Leaf]:
    """All leaves below a node, in the order of the schema."""
    if isinstance(node, Leaf):
        yield node
        return
    for member in node.members:
        yield from leaves(member)


def effective(schema: Schema) -> Schema | None:
    """The schema with a lone real alternative merged in, or None when there are several."""
    if "not" in schema:
        return None
    merged = dict(schema)
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = merged.pop(keyword, None)
        if branches is None:
            continue
        real = [as_schema(branch) for branch in branches if not _is_null(branch)]
        if keyword == "anyOf" and _is_number_or_text(real):
            real = [branch for branch in real if kind_of(branch) != "string"]
        if len(real) != 1 or not real[0]:
            return None
        inner = effective(real[0])
        if inner is None or not _mergeable(merged, inner):
            return None
        merged = {**inner, **merged}
    return merged


def _is_number_or_text(branches: list[Schema]) -> bool:
    """Whether the alternatives are a number and its text, as decimals from Python types are."""
    kinds = sorted(kind_of(branch) for branch in branches)
    texts = [branch for branch in branches if kind_of(branch) == "string"]
    return kinds in (["integer", "string"], ["number", "string"]) and "pattern" in texts[0]


def kind_of(schema: Schema) -> str:
    """The only non-null type a schema allows, by its `type` or its choices, or empty."""
    types = types_of(schema)
    if types == _NUMERIC_TYPES:
        return "number"
    return next(iter(types)) if len(types) == 1 else ""


def types_of(schema: Schema) -> frozenset[str]:
    """The non-null types a schema names; enum and const count when no type is given."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    if isinstance(declared, list):
        return frozenset(cast("list[str]", declared)) - {"null"}
    return frozenset(_type_name(choice) for choice in choices_of(schema))


def choices_of(schema: Schema) -> tuple[Any, ...]:
    """The values of `enum` or `const`, or nothing when any value will do."""
    if "const" in schema:
        return (schema["const"],)
    choices = schema.get("enum")
    return tuple(cast("list[Any]", choices)) if isinstance(choices, list) else ()


def has_description(raw: object) -> bool:
    """Whether a returned node with this schema needs a description check."""
    schema = as_schema(raw)
    description = schema.get("description")
    if isinstance(description, str) and not is_blank(description):
        return True
    return any(
        has_description(branch)
        for keyword in ("anyOf", "oneOf", "allOf")
        for branch in cast("list[object]", schema.get(keyword, []))
        if not _is_null(branch)
    )


def label_words(text: str) -> list[str]:
    """Words as labels: Latin words as they are, Han runs as overlapping pairs of characters."""
    found: list[str] = []
    for run in _WORD.findall(text):
        if "\u3400" <= run[0] <= "\u9fff":
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    return found


@cache
def _demands() -> tuple[re.Pattern[str], ...]:
    patterns = [each for tag in ("en", "zh") for each in vocabulary.ordered("demand_patterns", tag)]
    return tuple(re.compile(each, re.IGNORECASE) for each in patterns)


def _branch(path: Path, schema: Schema, *, required: bool) -> Branch | None:
    names = cast("list[str]", schema.get("required", []))
    members: list[Node] = []
    for name, raw in as_schema(schema.get("properties")).items():
        member = read((*path, name), raw, required=name in names)
        if member is not None:
            members.append(member)
        elif name in names:
            return None
    return Branch(path, schema, required, tuple(members))


def _mergeable(outer: Schema, inner: Schema) -> bool:
    """Only annotations may stand on both sides: two constraints would need an intersection."""
    shared = (outer.keys() & inner.keys()) - _ANNOTATIONS
    return all(outer[key] == inner[key] for key in shared)


def _is_null(branch: object) -> bool:
    schema = as_schema(branch)
    return schema.get("type") == "null" or ("const" in schema and schema["const"] is None)


def _type_name(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, (int, float)) else "other"


def _translated(words: frozenset[str]) -> frozenset[str]:
    """The Chinese words for English label words, so that `orderId` meets `订单`."""
    glossary = vocabulary.groups("glossary", "zh")
    return frozenset(pair for word in words for pair in glossary.get(word, ()))
