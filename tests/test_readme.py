"""What the READMEs show is what happens: their Python blocks, results, and commands."""

import ast
import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = ["README.md", "README.zh-CN.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = shutil.which("intent-runtime", path=str(Path(sys.executable).parent))


def blocks(readme, language):
    text = (ROOT / readme).read_text("utf-8")
    return [body for name, body in FENCE.findall(text) if name == language]


def promised(block):
    """The `# ...` after each print, in order; None where there is none."""
    calls = [
        node
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith("print(")
    ]
    lines = block.splitlines()
    for call in sorted(calls, key=lambda node: node.lineno):
        comment = lines[call.end_lineno - 1].encode()[call.end_col_offset :].decode().strip()
        yield comment.removeprefix("# ") if comment.startswith("# ") else None


CASES = [
    pytest.param(block, id=f"{readme} block {index}")
    for readme in READMES
    for index, block in enumerate(blocks(readme, "python"), 1)
]


@pytest.mark.parametrize("block", CASES)
def test_a_python_block_prints_what_its_comments_promise(block, monkeypatch):
    monkeypatch.chdir(ROOT)
    expected = list(promised(block))
    assert expected
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "<README>", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own
    shown = printed.getvalue().splitlines()
    assert len(shown) == len(expected)
    for line, wanted in zip(shown, expected, strict=True):
        assert wanted is None or line == wanted


def commands(readme):
    for block in blocks(readme, "sh"):
        for line in block.splitlines():
            if line.startswith("intent-runtime parse "):
                yield line


LINES = [
    pytest.param(line, id=f"{readme} {index}")
    for readme in READMES
    for index, line in enumerate(commands(readme), 1)
]


@pytest.mark.skipif(COMMAND is None, reason="the package is not installed here")
@pytest.mark.parametrize("line", LINES)
def test_a_parse_command_gives_a_result(line):
    command, _, comment = line.partition("  # ")
    done = subprocess.run(
        [COMMAND, *shlex.split(command)[1:]],
        cwd=ROOT, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["input"] in command
    assert result["intents"]
    if "order.schema.json" in command:
        assert result["data"] == {"orderId": "000123"}
    if comment:
        assert comment in done.stdout.decode()


@pytest.mark.parametrize("readme", READMES)
def test_linked_files_are_there_and_make_targets_exist(readme):
    text = (ROOT / readme).read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []
    targets = set(re.findall(r"\bmake ([a-z][a-z-]+)", text))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_both_readmes_show_the_same_commands_and_as_many_blocks():
    assert LINES
    assert CASES
    english, chinese = READMES
    assert list(commands(english)) == list(commands(chinese))
    assert len(blocks(english, "python")) == len(blocks(chinese, "python"))
