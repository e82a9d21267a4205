"""Mutation testing: change one thing at a time in a copy of `src`, and see whether a test fails.

    python scripts/mutate.py src/PACKAGE/PART --tests tests/PART tests/test_PART.py

The tests are collected once. Each mutant of a function is a fork of that process in which the
function's code is exchanged and the tests that call it run, quickest first. What runs at import
(constants, defaults, functions called there) is written to the copy instead, and all tests run
anew. A report has one JSON object in a line; `--again REPORT` repeats what survived in it. Needs
`os.fork`; nothing else should change the tests or their environment meanwhile.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import gc
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, NamedTuple

import hypothesis
import pytest

SWAPS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult,
}  # fmt: skip
OPPOSITES: Final = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
REMOVED: Final = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Raise, ast.Continue, ast.Break,
    ast.Delete,
)  # fmt: skip
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
WORD: Final = re.compile(r"[\w./:-]+")
NOT_CODE: Final = re.compile("import |from |if TYPE_CHECKING|__all__|['\"]")
FORK: Final = multiprocessing.get_context("fork")
LONGEST: Final = 60.0
TIMED_OUT, NOT_EXCHANGED = 20, 21
OUTCOMES: Final = {0: "survived", None: "timeout", TIMED_OUT: "timeout", NOT_EXCHANGED: "cold"}


class Mutant(NamedTuple):
    """One node of a module's tree and what takes its place; `owner` is the outermost function."""

    name: str
    kind: str
    file: Path
    tree: ast.Module
    owner: str | None
    place: tuple[ast.AST, str, int | None]
    old: ast.AST
    new: ast.AST | None

    def put(self, node: ast.AST | None) -> None:
        """Set the place in the tree."""
        parent, field, index = self.place
        if index is None:
            setattr(parent, field, node)
        else:
            getattr(parent, field)[index] = node

    @contextlib.contextmanager
    def made(self) -> Iterator[ast.Module]:
        """The changed tree."""
        self.put(self.new)
        try:
            yield ast.fix_missing_locations(self.tree)
        finally:
            self.put(self.old)


def changes(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[str, ast.AST | None]]:
    """The kinds and the replacements of one node."""
    if type(node) in SWAPS:
        yield "operator", SWAPS[type(node)]()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "operator", node.operand
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield "constant", ast.Constant(not value)
        elif isinstance(value, int):
            yield from (("constant", ast.Constant(value + step)) for step in (1, -1))
        elif isinstance(value, str) and WORD.fullmatch(value):
            yield "constant", ast.Constant(value + "X")
    if field in {"test", "ifs"} and not isinstance(parent, ast.Assert):
        # The change of its operator may be the same.
        plain = isinstance(node, ast.Compare) and isinstance(node.ops[0], OPPOSITES)
        inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        if not inverted and not (plain and len(node.ops) == 1):
            yield "condition", ast.UnaryOp(ast.Not(), node)
    if field == "value" and isinstance(parent, ast.Return) and ast.unparse(node) != "None":
        yield "return", ast.Constant(None)
    if isinstance(node, REMOVED) or (isinstance(node, ast.Return) and node.value is None):
        yield "removal", ast.Pass()
    if isinstance(parent, ast.Slice) and field in {"lower", "upper"}:
        yield "slice", None


def walk(node: ast.AST, owner: str | None, scope: str) -> Iterator[tuple[Any, Any, str | None]]:
    """The place, node and outermost function of all that may change: no annotations, no texts."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns"} or isinstance(node, ast.JoinedStr):
            continue
        inner = owner
        if isinstance(node, FUNCTIONS) and field == "body":
            inner = owner or scope.removesuffix(".")
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            is_statement = isinstance(child, ast.stmt)
            if not isinstance(child, ast.AST) or (
                is_statement and NOT_CODE.match(ast.unparse(child))
            ):
                continue
            yield (node, field, index if isinstance(value, list) else None), child, inner
            named = isinstance(child, (*FUNCTIONS, ast.ClassDef))
            yield from walk(child, inner, f"{scope}{child.name}." if named else scope)


def mutants(file: Path, root: Path) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse(file.read_text("utf-8"))
    for place, node, owner in walk(tree, None, ""):
        located: Any = node if hasattr(node, "lineno") else place[0]
        for kind, new in changes(node, *place[:2]):
            if kind == "removal" and owner is None:
                continue
            mutant = Mutant("", kind, file, tree, owner, place, node, new)
            # An operator shows by what it is part of.
            whole = isinstance(place[0], (ast.Compare, ast.BinOp, ast.BoolOp))
            before = ast.unparse(place[0] if whole else located)
            with mutant.made():
                after = ast.unparse(place[0] if whole else new or ast.Constant(None))
            line = f"{file.relative_to(root)}:{located.lineno}:{located.col_offset}"
            yield mutant._replace(name=f"{line}: {before[:90]!r} -> {after[:90]!r}")


def bounded(target: Callable[[], int], seconds: float) -> str:
    """What becomes of a fork: survived, killed, or timeout."""

    def run() -> None:
        code = 1
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            code = int(target())
        finally:
            os._exit(code)

    process = FORK.Process(target=run)
    process.start()
    process.join(seconds)
    code = process.exitcode
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    return OUTCOMES.get(code, "killed")


class Warm:
    """A pytest plugin that runs the tests not once, but once for each mutant."""

    def __init__(self, todo: list[Mutant], tell: Callable[[Mutant, str], None]) -> None:
        self.todo, self.tell = todo, tell
        self.files = {str(mutant.file) for mutant in todo}
        self.called: set[tuple[str, str]] = set()
        self.failure = 0
        self.trace(self.note)

    @staticmethod
    def trace(function: Any) -> None:
        """Follow the calls of all threads."""
        threading.settrace(function)
        sys.settrace(function)

    def note(self, frame: FrameType, _event: str, _arg: object) -> None:
        """Keep which functions are called."""
        if frame.f_code.co_filename in self.files:
            self.called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See a failure."""
        if report.failed:
            self.failure = TIMED_OUT if "Timeout (>" in str(report.longrepr) else 1

    def run(self, items: list[pytest.Item]) -> int:
        """Run tests up to the first that fails."""
        for item in items:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failure:
                break
        return self.failure

    def survey(self, items: list[pytest.Item], answer: Any) -> None:
        """How long each test takes and what it calls."""
        seen: list[tuple[float, set[tuple[str, str]]]] = []
        for item in items:
            self.called = set()
            began = time.monotonic()
            self.trace(self.note)
            self.run([item])
            self.trace(None)
            seen.append((time.monotonic() - began, self.called))
        answer.send((self.failure, seen))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Look at the tests in a fork, then run those that count for each mutant."""
        self.trace(None)
        at_import = self.called
        receiving, sending = FORK.Pipe(duplex=False)
        process = FORK.Process(target=self.survey, args=(session.items, sending))
        process.start()
        failure, seen = receiving.recv()
        process.join()
        if failure:
            raise pytest.UsageError("the tests must pass before anything is changed")
        quickest = sorted(zip(seen, session.items, strict=True), key=lambda pair: pair[0][0])
        for mutant in self.todo:
            name = (str(mutant.file), mutant.owner or "")
            chosen = [(spent, item) for (spent, called), item in quickest if name in called]
            with mutant.made() as tree:
                code = function_code(compile(tree, name[0], "exec"), name[1])
            if code is None or name in at_import:
                self.tell(mutant, "cold")
                continue
            seconds = min(LONGEST, 10 + 3 * sum(spent for spent, _ in chosen))
            self.tell(mutant, bounded(lambda c=code, i=chosen: self.trial(c, i), seconds))
        return True

    def trial(self, code: CodeType, chosen: list[tuple[float, pytest.Item]]) -> int:
        """Exchange a function's code and run the tests that call it."""
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                old = each.__code__
                if (old.co_filename, old.co_qualname) == (code.co_filename, code.co_qualname):
                    if old.co_freevars != code.co_freevars:
                        return NOT_EXCHANGED
                    each.__code__ = code
        for spent, item in chosen:
            item.add_marker(pytest.mark.timeout(3 + 10 * spent))
        return self.run([item for _, item in chosen])


def function_code(code: CodeType, name: str) -> CodeType | None:
    """The code of a function in that of a module."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found = each if each.co_qualname == name else function_code(each, name)
            if found is not None:
                return found
    return None


def run_cold(todo: list[Mutant], options: list[str], tell: Callable[[Mutant, str], None]) -> None:
    """Write each mutant to the copy and run all tests anew, in a process that never saw them."""

    def outcome() -> str:
        return bounded(lambda: pytest.main(options), LONGEST)

    for count, mutant in enumerate(todo):
        good = mutant.file.read_bytes()
        with mutant.made() as tree:
            mutant.file.write_text(ast.unparse(tree), "utf-8")
        # Compiled modules are told apart by their time.
        os.utime(mutant.file, (count, count))
        tell(mutant, outcome())
        mutant.file.write_bytes(good)
    if todo and outcome() != "survived":
        raise RuntimeError("the tests do not pass on the unchanged code")


def run_all(todo: list[Mutant], tests: list[str], report: Path) -> list[dict[str, str]]:
    """One entry for each mutant; the copy of the sources is first on the path."""

    def tell(mutant: Mutant, outcome: str) -> None:
        entry = {"name": mutant.name, "kind": mutant.kind, "outcome": outcome}
        with report.open("a", encoding="utf-8") as lines:
            print(json.dumps(entry), file=lines)

    # Profiles of the tests build on this one: the same examples each time, and no shrinking.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("fixed", database=None, derandomize=True, phases=phases)
    hypothesis.settings.load_profile("fixed")
    # Hypothesis is there before pytest can rewrite it.
    known = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-x", "-p", "no:terminal", "-W", known, "--hypothesis-profile=quick", *tests]
    report.write_text("")
    process = FORK.Process(target=pytest.main, args=(options, [Warm(todo, tell)]))
    process.start()
    process.join()
    results = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    if len(results) != len(todo):
        raise RuntimeError("the tests cannot be collected, or fail before anything is changed")
    told = zip(todo, results, strict=True)
    run_cold([mutant for mutant, entry in told if entry["outcome"] == "cold"], options, tell)
    results = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    results = [entry for entry in results if entry["outcome"] != "cold"]
    report.write_text("".join(json.dumps(entry) + "\n" for entry in results))
    return results


def main() -> int:
    """Make the mutants asked for, run them, and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="+", type=Path, help="files or folders below src")
    parser.add_argument("--tests", nargs="+", required=True, help="as for pytest")
    parser.add_argument("--report", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--again", type=Path, help="only what survived in this report")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "src"
        shutil.copytree("src", root, ignore=shutil.ignore_patterns("__pycache__"))
        sys.path.insert(0, str(root))
        os.environ["PYTHONPATH"] = str(root)
        todo: list[Mutant] = []
        for each in arguments.modules:
            place = root / each.resolve().relative_to(Path("src").resolve())
            for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                todo += mutants(file, root)
        if arguments.again:
            before = map(json.loads, arguments.again.read_text("utf-8").splitlines())
            survived = {entry["name"] for entry in before if entry["outcome"] == "survived"}
            todo = [mutant for mutant in todo if mutant.name in survived]
        todo = todo[:: arguments.every]
        results = run_all(todo, arguments.tests, arguments.report)
    for entry in results:
        if entry["outcome"] == "survived":
            print(entry["name"])
    counts = collections.Counter(entry["outcome"] for entry in results)
    killed = len(results) - counts["survived"]
    print(f"{len(results)} mutants, {killed} killed ({counts['timeout']} of them by time)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
