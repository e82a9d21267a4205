"""The data candidate (contract section 8.3), all but what native validation adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import msgspec

from intent_runtime.candidate.findings import Finding, Findings, LimitExcess
from intent_runtime.candidate.places import Places
from intent_runtime.candidate.quotes import Quotes
from intent_runtime.candidate.shapes import closed_object, keys, one_of, required_text
from intent_runtime.errors import DATA_ISSUE_CATEGORIES, IntentIssue
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import Location, Trail, escape, parse, render_trail
from intent_runtime.schema.native import Report
from intent_runtime.schema.selection import Projection
from intent_runtime.schema.weights import Shape
from intent_runtime.text import name_list, preview
from intent_runtime.values import Evidence, IntentLimits

_ROOT_KEYS: Final = keys("data", "evidence", "descriptionChecks", "fieldResults", "issues")
_LISTS: Final = tuple(_ROOT_KEYS)[1:]
_EVIDENCE_KEYS: Final = keys("path", "mode", "sources")
_CHECK_KEYS: Final = keys("path", "verdict", "explanation", "sources")
_RESULT_KEYS: Final = keys("path", "status", "explanation")
_ISSUE_KEYS: Final = keys("code", "category", "path", "message")
_ISSUE_TEXTS: Final = ("code", "category", "message")

_MODES: Final = ("exact", "semantic")
_STATUSES: Final = ("extracted", "not_provided", "not_applicable", "issue")
_VERDICTS: Final = ("satisfied", "violated", "undetermined")
# The issue that a check with this verdict makes.
_VERDICT_ISSUES: Final = {
    "violated": "DATA_CONSTRAINT_VIOLATED",
    "undetermined": "DATA_DESCRIPTION_UNDETERMINED",
}


class Material(msgspec.Struct, frozen=True):
    """What a data candidate is checked against."""

    sources: dict[str, str]
    projection: Projection
    root_described: bool


class DataReview:
    """One candidate's review; native validation may add to it before it is judged."""

    def __init__(self, candidate: JsonObject, material: Material) -> None:
        self._candidate = candidate
        self._material = material
        self._quotes = Quotes(material.sources)
        self._issue_paths: list[str | None] = []
        self._covered: set[Location | None] = set()
        self.findings = Findings()
        self.checked: dict[str, Location] = {}
        self._root_checked = False
        self.issues: tuple[IntentIssue, ...] = ()
        data = candidate.get("data")
        self.data: JsonObject = data if isinstance(data, dict) else {}
        self.shape = Shape(0, 0, 0)

    @property
    def has_data(self) -> bool:
        """Whether `data` is an object, so that native validation is due."""
        return isinstance(self._candidate.get("data"), dict)

    @classmethod
    def of(
        cls, candidate: JsonObject, material: Material, limits: IntentLimits
    ) -> DataReview | LimitExcess:
        """Review everything but the native validation; bounds come before entries."""
        review = cls(candidate, material)
        excess = review._envelope(limits)
        if excess is not None:
            return excess
        review._evidence()
        review._leaves()
        review._checks()
        review._issues()
        review._field_results()
        return review

    def _list(self, key: str) -> list[Json]:
        value = self._candidate.get(key)
        return value if isinstance(value, list) else []

    def _envelope(self, limits: IntentLimits) -> LimitExcess | None:
        findings = self.findings
        findings.extend(closed_object(self._candidate, "", _ROOT_KEYS))
        for key in _ROOT_KEYS:
            value = self._candidate.get(key)
            kind, shown = (list, "[...]") if key in _LISTS else (dict, "{...}")
            if key in self._candidate and not isinstance(value, kind):
                rule = "must be an array" if kind is list else "must be an object"
                findings.add(f"/{key}", rule, found=preview(value), allowed=shown)
        if not findings.count:
            excess = self._bounds(limits)
            if excess is not None:
                return excess
        foreign = [name for name in self.data if name not in self._material.projection.fields]
        known = name_list(tuple(self._material.projection.fields)) if foreign else ""
        for name in foreign:
            findings.add(f"/data/{escape(name)}", "is not a selected field", allowed=known)
        return None

    def _bounds(self, limits: IntentLimits) -> LimitExcess | None:
        for key in ("evidence", "descriptionChecks"):
            if len(self._list(key)) > limits.max_evidence_entries:
                return LimitExcess(
                    f"{key} holds more entries than maxEvidenceEntries "
                    f"({limits.max_evidence_entries})."
                )
        made = sum(
            1
            for check in self._list("descriptionChecks")
            if isinstance(check, dict) and check.get("verdict") in ("violated", "undetermined")
        )
        if len(self._list("issues")) + made > limits.max_issue_count:
            return LimitExcess(
                f"There are more issues than maxIssueCount ({limits.max_issue_count})."
            )
        return None

    def _entries(self, key: str, expected: dict[str, None]) -> Iterator[tuple[JsonObject, str]]:
        """The entries of a list that are objects, with their paths."""
        for index, entry in enumerate(self._list(key)):
            path = f"/{key}/{index}"
            if not isinstance(entry, dict) or entry.keys() != expected.keys():
                self.findings.extend(closed_object(entry, path, expected))
            if isinstance(entry, dict):
                yield entry, path

    def _evidence(self) -> None:
        places = Places(self.data, root_allowed=False)
        findings = self.findings
        for entry, path in self._entries("evidence", _EVIDENCE_KEYS):
            findings.extend(one_of(entry, path, "mode", _MODES))
            findings.extend(self._quotes.check(entry, path))
            place = places.find(entry)
            if place is None:
                findings.extend(places.explain(entry, path))
                continue
            location, value = place
            self._covered.add(location)
            if entry.get("mode") == "exact" and not _is_exact(value, entry):
                findings.add(
                    f"{path}/mode",
                    "exact needs a string equal to one of its quotes",
                    found=f"value {preview(value)}",
                    allowed='"semantic", or a quote equal to the string',
                )

    def _leaves(self) -> None:
        """Every leaf and every empty container has evidence; counts the shape on the way."""
        nodes, objects, size = 1, 1, 0
        stack: list[tuple[dict[str, Json] | list[Json], Trail]] = [(self.data, None)]
        covered = self._covered
        while stack:
            container, trail = stack.pop()
            members: Any = (
                container.items() if isinstance(container, dict) else enumerate(container)
            )
            nodes += len(container)
            for key, value in members:
                if isinstance(value, (dict, list)):
                    objects += isinstance(value, dict)
                    if value:
                        stack.append((value, (trail, key)))
                        continue
                elif isinstance(value, str):
                    size += len(value) if value.isascii() else 4 * len(value)
                if (id(container), key) not in covered:
                    self.findings.add(
                        "/data" if self.findings.full else "/data" + render_trail((trail, key)),
                        "needs an evidence entry",
                        found=preview(value),
                        allowed="an entry in evidence with this path",
                    )
        self.shape = Shape(nodes, objects, size)

    def _checks(self) -> None:
        places = Places(self.data, root_allowed=True)
        findings = self.findings
        made: list[IntentIssue] = []
        for entry, path in self._entries("descriptionChecks", _CHECK_KEYS):
            findings.extend(one_of(entry, path, "verdict", _VERDICTS))
            findings.extend(required_text(entry, path, "explanation"))
            findings.extend(self._quotes.check(entry, path))
            place = places.find(entry)
            if place is None:
                findings.extend(places.explain(entry, path))
                continue
            pointer = str(entry["path"])
            if place[0] is None:
                self._root_checked = True
            else:
                self.checked[pointer[len("/data") :]] = place[0]
            code = _VERDICT_ISSUES.get(str(entry.get("verdict")))
            if code is not None:
                self._issue_paths.append(pointer)
                explanation = str(entry.get("explanation"))
                made.append(IntentIssue(code, "definition", pointer, explanation))
        self.issues = tuple(made)

    def _issues(self) -> None:
        findings = self.findings
        listed: list[IntentIssue] = []
        for entry, path in self._entries("issues", _ISSUE_KEYS):
            findings.extend(one_of(entry, path, "code", tuple(DATA_ISSUE_CATEGORIES)))
            findings.extend(_category(entry, path))
            findings.extend(required_text(entry, path, "message"))
            if "path" not in entry:
                continue
            pointer = entry["path"]
            if not self._names_selection(pointer):
                findings.add(
                    f"{path}/path",
                    "must be null, /data, or a path into a selected field",
                    found=preview(pointer),
                    allowed="null, /data, /data/<selected field>, or below one",
                )
                continue
            place = cast("str | None", pointer)
            self._issue_paths.append(place)
            code, category, message = (str(entry.get(key)) for key in _ISSUE_TEXTS)
            listed.append(IntentIssue(code, category, place, message))
        self.issues += tuple(listed)

    def _names_selection(self, pointer: Json) -> bool:
        if pointer is None or pointer == "/data":
            return True
        tokens = parse(pointer) if isinstance(pointer, str) else None
        return bool(
            tokens
            and len(tokens) > 1
            and tokens[0] == "data"
            and tokens[1] in self._material.projection.fields
        )

    def _field_results(self) -> None:
        findings = self.findings
        names = {f"/data/{escape(name)}": name for name in self._material.projection.fields}
        seen: set[str] = set()
        known = name_list(tuple(names))
        for entry, path in self._entries("fieldResults", _RESULT_KEYS):
            findings.extend(one_of(entry, path, "status", _STATUSES))
            findings.extend(required_text(entry, path, "explanation"))
            pointer = entry.get("path")
            if isinstance(pointer, str) and pointer in names and pointer not in seen:
                seen.add(pointer)
                self._conclusion(entry.get("status"), path, pointer, names[pointer])
            elif "path" in entry:
                findings.add(
                    f"{path}/path",
                    "must be the path of a selected field, each once",
                    found=preview(pointer),
                    allowed=known,
                )
        missing = [pointer for pointer in names if pointer not in seen]
        for pointer in missing if "fieldResults" in self._candidate else ():
            findings.add(
                "/fieldResults",
                "needs exactly one entry for each selected field",
                found=f"none for {pointer}",
                allowed="one with this path",
            )

    def _conclusion(self, status: Json, path: str, pointer: str, name: str) -> None:
        """Whether a status agrees with the data and the issues."""
        present = name in self.data
        if status == "extracted" and present:
            return
        found, allowed = preview(status), ""
        if status == "extracted":
            rule = "extracted needs the field in data"
            found, allowed = "the field is not in data", "the value in data, or another status"
        elif status == "issue":
            if self._has_issue(pointer):
                return
            rule = "issue needs a matching issue or a check that makes one"
            allowed = "an entry in issues whose path is null, /data, this field or below it"
        elif status not in ("not_provided", "not_applicable"):
            return
        elif present:
            rule = "an omitted field must not stand in data"
            allowed = '"extracted", or no value in data'
        elif name in self._material.projection.required:
            rule = "a required field without a value must be reported as issue"
            allowed = '"issue" with an entry in issues'
        else:
            return
        self.findings.add(f"{path}/status", rule, found=found, allowed=allowed)

    def _has_issue(self, pointer: str) -> bool:
        below = pointer + "/"
        return any(
            path is None or path in ("/data", pointer) or path.startswith(below)
            for path in self._issue_paths
        )

    def add_missing_checks(self, report: Report) -> None:
        """Add the description checks that are due and missing."""
        if self._material.root_described and not self._root_checked:
            self._undescribed("/data")
        for path in report.undescribed:
            self._undescribed(path)
        self.findings.count += report.undescribed_count - len(report.undescribed)

    def _undescribed(self, path: str) -> None:
        self.findings.add(
            path,
            "is described and needs a description check",
            allowed="an entry in descriptionChecks with this path",
        )

    def add_mismatches(self, report: Report) -> None:
        """Add what does not fit the schema."""
        for mismatch in report.mismatches:
            self.findings.add(
                mismatch.path, mismatch.rule, found=mismatch.found, allowed=mismatch.allowed
            )
        if not self.findings.count:
            self.findings.add("/data", "must be valid under selectedSchema")

    def verified_evidence(self) -> tuple[Evidence, ...]:
        """The evidence entries of a candidate without findings."""
        return msgspec.convert(self._list("evidence"), tuple[Evidence, ...])


def _category(entry: JsonObject, path: str) -> Iterable[Finding]:
    """The one category that an issue's code may carry."""
    code, category = entry.get("code"), entry.get("category")
    expected = DATA_ISSUE_CATEGORIES.get(code) if isinstance(code, str) else None
    good = category == expected if expected else isinstance(category, str)
    if good or "category" not in entry:
        return ()
    rule = "must be the category of the issue's code"
    allowed = expected or "the category of the code"
    return (Finding(f"{path}/category", rule, found=preview(category), allowed=allowed),)


def _is_exact(value: Json, entry: JsonObject) -> bool:
    """Whether a value is a string equal to at least one of its quotes."""
    sources = entry.get("sources")
    if isinstance(value, str) and isinstance(sources, list):
        for source in sources:
            if isinstance(source, dict) and source.get("quote") == value:
                return True
    return False
