"""The real command, as a user runs it: what it prints, where, and how it ends."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = str(ROOT / "examples" / "order.schema.json")
NOTE = "Using the offline rules executor (--executor rules).\n"
COMMAND = shutil.which("intent-runtime", path=str(Path(sys.executable).parent))

POSIX = os.name == "posix"
# Every test starts the real command.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMMAND is None, reason="the package is not installed here"),
]


def run(*arguments, stdin=b"", env=None, **options):
    done = subprocess.run(
        [COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **(env or {})},
        **options,
    )
    done.out = done.stdout.decode("utf-8")
    done.err = done.stderr.decode("utf-8", "replace")
    assert "Traceback" not in done.err
    return done


def result(*arguments, **options):
    done = run("parse", *arguments, **options)
    assert (done.returncode, done.err) == (0, NOTE)
    assert done.out.count("\n") == 1
    return json.loads(done.out)


def error(*arguments, **options):
    done = run("parse", *arguments, **options)
    assert (done.returncode, done.err) == (1, NOTE)
    shown = json.loads(done.out)
    assert set(shown) - {"partialResult"} == {"code", "stage", "message", "issues"}
    return shown


def usage_error(*arguments, **options):
    done = run("parse", *arguments, **options)
    assert (done.returncode, done.out) == (2, "")
    assert done.err.startswith("Usage: ")
    return done.err.splitlines()[-1]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_chinese_example_of_the_readme(options):
    shown = result("查询订单 000123", "--schema", SCHEMA, *options)
    assert list(shown) == [
        "input", "normalizedInput", "primaryIntent", "requirements", "intents", "prohibitions", "data",
    ]  # fmt: skip
    assert [item["action"] for item in shown["intents"]] == ["query"]
    assert shown["data"] == {"orderId": "000123"}


def test_an_english_request_with_a_prohibition():
    shown = result("Look up order 000123, but do not change it.", "--schema", SCHEMA)
    assert shown["intents"][0]["action"] == "query"
    assert shown["prohibitions"] == ["do not change it"]
    assert shown["data"] == {"orderId": "000123"}


@pytest.mark.parametrize("text", ["查询订单 000123", "Look up\norder 000123"])
def test_a_dash_reads_standard_input(text):
    shown = result("-", "--schema", SCHEMA, stdin=text.encode())
    assert shown["input"] == text
    assert shown["data"] == {"orderId": "000123"}


def test_naming_the_executor_leaves_standard_error_empty():
    done = run("parse", "查询订单", "--executor", "rules")
    assert (done.returncode, done.err) == (0, "")


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ("", {}),
        (" , ", {}),
        ("orderId", {"orderId": "000123"}),
        ("orderId, email", {"orderId": "000123"}),
    ],
)
def test_fields_select(fields, data):
    assert result("查询订单 000123", "--schema", SCHEMA, "--fields", fields)["data"] == data


def test_an_unknown_field_is_a_recognition_error():
    shown = error("查询订单 000123", "--schema", SCHEMA, "--fields", "nope")
    assert (shown["code"], shown["stage"], shown["issues"]) == ("UNKNOWN_FIELD", "input", [])


def test_a_data_error_shows_issues_and_what_was_understood():
    shown = error("查询订单", "--schema", SCHEMA)
    assert (shown["code"], shown["stage"]) == ("DATA_EXTRACTION_FAILED", "data")
    assert [issue["path"] for issue in shown["issues"]] == ["/data/orderId"]
    assert shown["partialResult"]["data"] == {}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("The order is 000123.", None),
        ("", None),
        ('[{"role": "user", "content": "订单 000123"}]', None),
        ("[]", None),
        ("[1, 2", None),
        ("[draft] not JSON", None),
        ('{"role": "user"}', None),
        ('[{"role": "system", "content": "x"}]', "INPUT_INVALID"),
        ("[1]", "INPUT_INVALID"),
        ("[" * 100_000, None),
    ],
)
def test_context_is_text_or_a_json_list_of_messages(tmp_path, content, code):
    path = tmp_path / "上下文.txt"
    path.write_text(content, "utf-8")
    arguments = ("查询订单 000123", "--context", str(path))
    if code is None:
        assert result(*arguments)["intents"][0]["action"] == "query"
    else:
        assert error(*arguments)["code"] == code


def test_language_is_checked_and_used_for_questions():
    assert result("那个", "--language", "zh-CN")["input"] == "那个"
    shown = error("x", "--language", "English")
    assert (shown["code"], shown["stage"]) == ("CONFIG_INVALID", "config")


@pytest.mark.parametrize("text", ["", " ", "　\n"])
def test_empty_text_is_a_recognition_error(text):
    assert error(text)["code"] == "INPUT_INVALID"
    assert error("-", stdin=text.encode())["code"] == "INPUT_INVALID"


@pytest.mark.parametrize("option", ["--schema", "--context"])
def test_files_that_cannot_be_read_are_wrong_usage(tmp_path, option):
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x00\xff\xfe\x80")
    for path in (tmp_path / "缺失.json", tmp_path, binary):
        assert usage_error("x", option, str(path)).startswith(f"Error: {option}: ")
    assert usage_error("x", option, "").startswith(f"Error: {option}: ")
    if POSIX:
        assert usage_error("x", option, os.fsdecode(b"a\xff")).startswith("Error: ")


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("", 2),
        ("not json", 2),
        ("[" * 200_000, 2),
        ('{"a":' * 200_000, 2),
        ("null", "SCHEMA_UNSUPPORTED"),
        ("[]", "SCHEMA_UNSUPPORTED"),
        ("NaN", "SCHEMA_UNSUPPORTED"),
        ('{"type": "object", "properties": {"a": {"minimum": NaN}}}', "SCHEMA_UNSUPPORTED"),
        ('{"type": "object", "properties": {"a": {"$ref": "#"}}}', "SCHEMA_UNSUPPORTED"),
        ('{"type": "object", "properties": {"a": {"minimum": 1e999}}}', "SCHEMA_UNSUPPORTED"),
        (
            '{"type": "object", "properties": {"a": {"const": ' + "9" * 5000 + "}}}",
            (2, "SCHEMA_UNSUPPORTED"),
        ),
        (
            '{"type": "object", "properties": {"a": ' + '{"items":' * 60 + "{}" + "}" * 60 + "}}",
            "LIMIT_EXCEEDED",
        ),
        (
            '{"type": "object", "properties": {"a": ' + '{"items":' * 900 + "{}" + "}" * 900 + "}}",
            ("LIMIT_EXCEEDED", 2),
        ),
        ('{"type": "object", "properties": {"\\ud800": {}}}', "SCHEMA_UNSUPPORTED"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_schema_that_cannot_be_used_ends_with_a_clear_error(tmp_path, schema, code):
    path = tmp_path / "schema.json"
    path.write_text(schema, "utf-8")
    done = run("parse", "x", "--schema", str(path))
    allowed = code if isinstance(code, tuple) else (code,)
    assert (json.loads(done.out)["code"] if done.returncode == 1 else done.returncode) in allowed
    assert done.err.strip()


def test_a_schema_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "schema.json"
    path.write_bytes(b"\xef\xbb\xbf" + Path(SCHEMA).read_bytes())
    assert result("查询订单 000123", "--schema", str(path))["data"] == {"orderId": "000123"}


@pytest.mark.parametrize("stdin", [b"\xff\xfe order", b"ord\xc3", b"\xed\xa0\x80"])
def test_standard_input_that_is_not_utf8_is_refused(stdin):
    assert error("-", stdin=stdin)["code"] == "INPUT_INVALID"


@pytest.mark.slow
@pytest.mark.skipif(not POSIX, reason="arguments are bytes on POSIX only")
def test_arguments_that_are_not_utf8_are_refused():
    assert error(os.fsdecode(b"order \xff"))["code"] == "INPUT_INVALID"
    shown = error("x", "--schema", SCHEMA, "--fields", os.fsdecode(b"\xff"))
    assert shown["code"] in {"INPUT_INVALID", "UNKNOWN_FIELD"}
    assert error("x", "--language", os.fsdecode(b"\xff"))["code"] == "CONFIG_INVALID"


@pytest.mark.slow
def test_ten_megabytes_of_standard_input_are_over_the_limit():
    assert error("-", stdin="查询订单".encode() * 900_000)["code"] == "LIMIT_EXCEEDED"


@pytest.mark.slow
@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
    ids=str,
)
def test_the_locale_does_not_matter(env):
    text = "查询订单 000123 — “now”"
    for shown in (result(text, env=env), result("-", env=env, stdin=text.encode())):
        assert shown["input"] == text
    assert error("x", "--language", "日本語", env=env)["code"] == "CONFIG_INVALID"


@pytest.mark.skipif(not POSIX, reason="a shell pipe")
@pytest.mark.parametrize("text", ["查询订单 000123", " "])
def test_a_closed_pipe_is_no_reason_to_complain(text):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [COMMAND, "parse", text],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.stderr.decode() in {NOTE, ""}


@pytest.mark.skipif(not POSIX, reason="a POSIX shell")
@pytest.mark.parametrize(
    "redirection",
    [
        "parse x >&-",
        "parse - <&-",
        "parse x 2>&-",
        "parse x >&- 2>&- <&-",
        pytest.param(
            "parse x >/dev/full",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only"),
        ),
    ],
)
def test_streams_that_are_closed_or_full_are_no_reason_for_a_traceback(redirection):
    line = f"{shlex.quote(COMMAND)} {redirection}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, timeout=60, check=False)
    assert done.returncode in {0, 1, 2}
    assert b"Traceback" not in done.stderr


def on_terminal(*arguments, columns=100):
    """Output, and exit status, of the command on a terminal of its own."""
    import pty  # noqa: PLC0415 - POSIX only

    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(
        [COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # Linux: the other end was closed
            pass
        os.close(ours)
        status = process.wait(60)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(parts).decode())
    assert "Traceback" not in plain
    return status, plain.replace("\r\n", "\n")


@pytest.mark.skipif(not POSIX, reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Look up order 000123, but do not change it.",
            ["query", "ready", "prohibitions", "do not change it", "orderId", "“000123” (input)"],
        ),
        (
            "查询订单 000123，不要修改它。",
            ["query", "ready", "prohibitions", "不要修改它", "orderId", "“000123” (input)"],
        ),
        ("[bold]look up[/bold] order 000123 [/]", ["[bold]", "[/]", "000123"]),
    ],
)
def test_on_a_terminal_the_view_is_for_people(text, parts):
    status, shown = on_terminal("parse", text, "--schema", SCHEMA)
    assert status == 0
    assert text in shown
    assert [part for part in parts if part not in shown] == []
    assert NOTE in shown
    assert "normalizedInput" not in shown


@pytest.mark.skipif(not POSIX, reason="pseudo-terminals are POSIX")
def test_on_a_terminal_errors_are_readable_and_json_stays_available():
    status, shown = on_terminal("parse", "查询订单", "--schema", SCHEMA)
    assert status == 1
    assert "DATA_EXTRACTION_FAILED" in shown
    assert "/data/orderId" in shown
    assert "Understood so far:" in shown
    status, shown = on_terminal("parse", "查询订单 000123", "--json", columns=20)
    assert json.loads(shown.removeprefix(NOTE))["input"] == "查询订单 000123"


@pytest.mark.skipif(not POSIX, reason="pseudo-terminals are POSIX")
def test_control_characters_of_the_request_do_not_reach_the_terminal():
    _, shown = on_terminal("parse", "look up order 000123 \x1b]0;owned\x07 now", "--schema", SCHEMA)
    assert "\x07" not in shown
    assert "\x1b" not in shown


def test_help_and_version_are_plain():
    import intent_runtime  # noqa: PLC0415 - for its version only

    assert run("--version").out == f"intent-runtime {intent_runtime.__version__}\n"
    for arguments in (("--help",), ("-h",), ("parse", "--help")):
        done = run(*arguments)
        assert (done.returncode, done.err) == (0, "")
        assert done.out.startswith("Usage: intent-runtime")
    for option in ("--schema", "--fields", "--context", "--language", "--executor", "--json"):
        assert option in done.out
    assert "Exit status" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("parse",),
        ("parse", "a", "b"),
        ("parse", "a", "--nope"),
        ("nope",),
        ("parse", "a", "--executor", "gpt"),
    ],
)
def test_wrong_usage_exits_with_two(arguments):
    done = run(*arguments)
    assert (done.returncode, done.out) == (2, "")
    assert done.err.startswith("Usage: ")
