"""The child process: validates one value after another until its standard input ends.

Started as `python -I -S -c ...` by `worker.py`, which may kill it at any time. A frame is four
bytes of length (big-endian) and JSON. A request is `{"key", "schema"?, "data", "checked",
"seconds"}`; the schema comes with its first use. Two answers follow: the verdict, then the
listing, so that a listing that takes too long does not cost the verdict.
"""

from __future__ import annotations

import faulthandler
import json
import struct
import sys
from collections import OrderedDict
from typing import IO, Any, Final

from intent_runtime.pointer import resolve
from intent_runtime.schema.native import NativeSchema

_HEADER: Final = struct.Struct(">I")
MAX_SCHEMAS: Final = 16
_GRACE_SECONDS: Final = 1.0


def read_frame(stream: IO[bytes]) -> Any:
    """The next frame, decoded; raises EOFError at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    (length,) = _HEADER.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return json.loads(body)


def write_frame(stream: IO[bytes], message: Any) -> None:
    """Write one frame and flush it."""
    body = json.dumps(message, ensure_ascii=False).encode()
    stream.write(_HEADER.pack(len(body)) + body)
    stream.flush()


class SchemaShelf:
    """The most recently used schemas; both ends keep the same order, so both know what is there."""

    def __init__(self) -> None:
        self._schemas: OrderedDict[int, NativeSchema | None] = OrderedDict()

    def knows(self, key: int) -> bool:
        """Whether `key` is there; it counts as used."""
        if key in self._schemas:
            self._schemas.move_to_end(key)
            return True
        return False

    def put(self, key: int, schema: NativeSchema | None) -> None:
        """Keep a schema (at the parent's end: only its key)."""
        self._schemas[key] = schema
        while len(self._schemas) > MAX_SCHEMAS:
            self._schemas.popitem(last=False)

    def get(self, key: int) -> NativeSchema:
        """A schema that is there."""
        schema = self._schemas[key]
        assert schema is not None
        return schema


def main() -> None:
    """Serve until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    shelf = SchemaShelf()
    while True:
        try:
            request = read_frame(requests)
        except EOFError:
            return
        # A match in progress does not notice that the parent is gone; this ends it all the same.
        faulthandler.dump_traceback_later(request["seconds"] + _GRACE_SECONDS, exit=True)
        key = request["key"]
        if not shelf.knows(key):
            shelf.put(key, NativeSchema(request["schema"]))
        native = shelf.get(key)
        data = request["data"]
        valid = native.is_valid(data)
        places = (resolve(data, path) for path in request["checked"])
        checked = {place[0] for place in places if place is not None}
        paths, count = native.missing_checks(data, checked)
        write_frame(answers, {"valid": valid, "undescribed": paths, "count": count})
        mismatches, exhausted = ((), False) if valid else native.mismatches(data)
        write_frame(answers, {"mismatches": mismatches, "exhausted": exhausted})
        faulthandler.cancel_dump_traceback_later()
