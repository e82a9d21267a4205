"""Parse a request with a model API.

    python examples/api.py openai MODEL "Look up order 000123" --key-file key.txt
    python examples/api.py openai-compatible qwen3 "查询订单 000123" --base-url http://localhost:11434/v1

The key is the first line of a file; a local server that needs none gets a word instead.
"""

import argparse
import json
import sys
from pathlib import Path

from intent_runtime import Intent, IntentDataError, IntentParseError
from intent_runtime.executors import ModelExecutor, create_api_executor

SCHEMA = json.loads((Path(__file__).parent / "order.schema.json").read_text("utf-8"))


def executor_from_arguments(arguments: argparse.Namespace) -> ModelExecutor:
    """The executor that the command line describes."""
    key = "none"
    if arguments.key_file:
        key = arguments.key_file.read_text("utf-8").splitlines()[0].strip()
    return create_api_executor(
        provider=arguments.provider,
        api_key=key,
        model=arguments.model,
        base_url=arguments.base_url,
        timeout_ms=120_000,
    )


def read_arguments() -> argparse.Namespace:
    """Provider, model, text, and where the key and the server are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("provider")
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--key-file", type=Path)
    parser.add_argument("--base-url")
    return parser.parse_args()


def main() -> None:
    """Print the result, or what is missing, or what went wrong."""
    arguments = read_arguments()
    with Intent(schema=SCHEMA, executor=executor_from_arguments(arguments)) as intent:
        try:
            result = intent.parse_sync(arguments.text)
        except IntentDataError as error:
            for issue in error.issues:
                print(f"{issue.code} {issue.path}: {issue.message}")
            sys.exit(2)
        except IntentParseError as error:
            if error.retry_after is not None:
                print(f"try again in {error.retry_after:.0f} s", file=sys.stderr)
            sys.exit(str(error))
    print(result.to_json())
    if result.usage:
        print(f"tokens: {result.usage.total}", file=sys.stderr)


if __name__ == "__main__":
    main()
