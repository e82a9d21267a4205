"""What the READMEs and the documentation show is what happens.

Python blocks of a page run in order in one namespace and print what their comments promise; JSON
is judged by the package; commands run, or are checked as far as they can be.
"""

import ast
import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from intent_runtime import ERROR_CODES, Intent, IntentResult
from intent_runtime.bridge import BridgeReply
from intent_runtime.errors import DATA_ISSUE_CATEGORIES, ErrorStage
from intent_runtime.executors.api import registry
from intent_runtime.mcp.config import load_configuration
from support.provider_server import ProviderServer
from support.provider_wires import WIRES, rules_behind

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent
COMMAND = shutil.which("intent-runtime", path=str(BIN))
GUIDES = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.md"))
PAGES = [
    "README.md",
    "README.zh-CN.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))),
]
PAGES = [page for page in PAGES if (ROOT / page).exists() and "_build" not in page]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# A server that a page takes to be at hand; here it is the loopback server.
LOCAL_SERVER = "http://localhost:11434/v1"


def blocks(page, *languages):
    found = FENCE.findall((ROOT / page).read_text("utf-8"))
    return [body for name, body in found if name in languages]


def cases(*languages):
    return [
        pytest.param(page, body, id=f"{page} {index}")
        for page in PAGES
        for index, body in enumerate(blocks(page, *languages), 1)
    ]


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


@pytest.fixture
def providers(monkeypatch):
    """The model APIs, played by one loopback server whose model is RulesExecutor."""
    with ProviderServer() as server:
        server.play(rules_behind)
        for wire in WIRES:
            row = registry._PROVIDERS[wire.name]
            if row.base_url is not None:
                local = row._replace(base_url=server.url + wire.path)
                monkeypatch.setitem(registry._PROVIDERS, wire.name, local)
        yield server


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_python_of_a_page_prints_what_its_comments_promise(page, monkeypatch, providers):
    monkeypatch.chdir(ROOT)
    for name in ("OPENAI_API_KEY", "XAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-documentation")
    namespace = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        source = block.replace(LOCAL_SERVER, providers.url + "/v1")
        expected = list(promised(source))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, page, "exec"), namespace)  # noqa: S102 - our own
        shown = printed.getvalue().splitlines()
        assert len(shown) == len(expected), f"{block}\nprinted {shown}"
        for line, wanted in zip(shown, expected, strict=True):
            assert wanted is None or line == wanted


def is_error(value):
    return (
        value["code"] in ERROR_CODES
        and value["stage"] in get_args(ErrorStage)
        and isinstance(value["message"], str)
        and all(
            DATA_ISSUE_CATEGORIES[issue["code"]] == issue["category"] for issue in value["issues"]
        )
    )


def is_client_config(value):
    (servers,) = value.values()
    return all(
        server.get("command") == "intent-runtime-mcp" or server["url"].endswith("/mcp")
        for server in servers.values()
    )


def judge_json(value, tmp_path):
    """Whether the package (or the shape of a host's configuration) accepts an example."""
    keys = set(value)
    if "kind" in keys:
        return BridgeReply.from_dict(value).to_dict() == value
    if "normalizedInput" in keys and "intents" in keys:
        return msgspec.convert(value, IntentResult).to_dict() == value
    if {"code", "stage"} <= keys:
        return is_error(value)
    if keys <= {"mcpServers", "servers", "context_servers"}:
        return is_client_config(value)
    if keys == {"instances"}:
        return has_instances(json.dumps(value), tmp_path / "intents.json")
    if "properties" in keys:
        return Intent(schema=value) is not None
    return False


def has_instances(text, path):
    shutil.copy(ROOT / "examples" / "order.schema.json", path.parent)
    path.write_text(text, "utf-8")
    return bool(load_configuration(path).instances)


@pytest.mark.parametrize(("page", "block"), cases("json"))
def test_a_json_example_is_what_the_package_takes_or_gives(page, block, tmp_path):
    assert judge_json(json.loads(block), tmp_path)


@pytest.mark.parametrize(("page", "block"), cases("toml"))
def test_a_toml_example_is_a_configuration_of_the_service(page, block, tmp_path):
    if page.endswith("compatibility.md") or "[mcp_servers" in block:
        (server,) = tomllib.loads(block)["mcp_servers"].values()
        assert server["command"] == "intent-runtime-mcp"
    else:
        assert has_instances(block, tmp_path / "intents.toml")


def commands(page):
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line


LINES = [
    pytest.param(page, line, id=f"{page} {index}")
    for page in PAGES
    for index, line in enumerate(commands(page), 1)
]
EXTRAS = set(PROJECT["project"]["optional-dependencies"])


def check_parse(line):
    command, _, comment = line.partition("  # ")
    done = subprocess.run(
        [COMMAND, *shlex.split(command)[1:]],
        cwd=ROOT, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["input"] in command
    assert result["intents"]
    if "order.schema.json" in command:
        assert result["data"] == {"orderId": "000123"}
    assert comment in done.stdout.decode()


def check_options(command, words):
    """Every option of the line is one that the command's help tells."""
    shown = subprocess.run(
        [BIN / command, "--help"], capture_output=True, encoding="utf-8", timeout=60, check=True
    ).stdout
    told = [word.split("=")[0] for word in words if word.startswith("--")]
    assert [option for option in told if option not in shown] == []


@pytest.mark.skipif(COMMAND is None, reason="the package is not installed here")
@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_runs_or_is_one_that_exists(page, line):
    words = shlex.split(line, comments=True)
    if words[:2] == ["intent-runtime", "parse"]:
        check_parse(line)
    elif words[0] in ("intent-runtime", "intent-runtime-mcp"):
        check_options(words[0], words)
    elif words[:2] == ["pip", "install"]:
        extras = re.findall(r"intent-runtime\[([\w,]+)\]", line)
        assert "intent-runtime" in line
        assert {extra for group in extras for extra in group.split(",")} <= EXTRAS
    elif words[0] == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        targets = [word for word in words[1:] if "=" not in word]
        assert [target for target in targets if f"\n{target}:" not in makefile] == []
    elif words[:3] in (["claude", "mcp", "add"], ["codex", "mcp", "add"], ["gemini", "mcp", "add"]):
        if "intent-runtime-mcp" in words:
            check_options("intent-runtime-mcp", words[words.index("intent-runtime-mcp") :])
        else:
            assert words[-1].endswith("/mcp")
    elif words[0] == "python":
        assert (ROOT / words[1]).exists()
    else:
        assert words[0] in ("git", "cd"), f"{line}: nobody checks this command"


@pytest.mark.parametrize("page", PAGES)
def test_linked_files_are_there_and_make_targets_exist(page):
    text = (ROOT / page).read_text("utf-8")
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    base = (ROOT / page).parent
    assert [link for link in links if not (base / link).exists()] == []
    targets = set(re.findall(r"`make ([a-z][a-z-]+)", text))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


TWINS = [
    ("README.md", "README.zh-CN.md"),
    *((f"docs/{name}", f"docs/zh/{name}") for name in GUIDES),
]


@pytest.mark.parametrize(("english", "chinese"), TWINS)
def test_both_languages_show_the_same_commands_and_as_many_blocks(english, chinese):
    def told(page):
        return [shlex.split(line, comments=True) for line in commands(page)]

    assert told(english) == told(chinese)
    for language in ("python", "json", "toml"):
        assert len(blocks(english, language)) == len(blocks(chinese, language))


@pytest.mark.parametrize(("english", "chinese"), TWINS)
def test_both_languages_have_the_same_headings_and_tables(english, chinese):
    def skeleton(page):
        text = FENCE.sub("", (ROOT / page).read_text("utf-8"))
        levels = [match.group(1) for match in re.finditer(r"^(#+) ", text, re.MULTILINE)]
        return levels, sum(line.startswith("|") for line in text.splitlines())

    assert skeleton(english) == skeleton(chinese)
