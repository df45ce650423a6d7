"""JSON-RPC 2.0 for programs: from the bytes of a request to the bytes of its answer.

https://www.jsonrpc.org/specification
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from ademem.core import untrusted
from ademem.core.value import Value

PARSE_ERROR, INTERNAL = -32700, -32603
INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32600, -32601, -32602
REFUSED, FAILED = -32010, -32011
"""Codes of our own: the gate or a policy refused; the work failed."""
BATCH = 100

Call = Callable[[str, dict[str, Any]], Any]
"""Runs a method with its parameters; raises RpcError."""


class RpcError(Exception):
    """An error with the facts of a refusal, whose `why` is the message unless one is given."""

    def __init__(self, code: int, facts: dict[str, Any], message: str = "") -> None:
        super().__init__(message or facts["why"])
        self.code, self.facts = code, facts


def answer(body: bytes, call: Call) -> bytes | None:
    """Return the answer to a request or a batch; None where only notifications came."""
    try:
        message = json.loads(body.decode(), parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        return refusal(f"that is not JSON: {error}", PARSE_ERROR)
    if isinstance(message, list) and not 1 <= len(message) <= BATCH:
        return refusal(f"a batch has 1 to {BATCH} requests")
    if not isinstance(message, list):
        reply: object = _reply(message, call)
    else:
        reply = list(filter(None, (_reply(each, call) for each in message)))
    return encode(reply) if reply else None


def encode(value: object) -> bytes:
    """Write compact JSON in which no text can look like a tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return untrusted.escape(text, angle="\\u003c").encode("utf-8", "replace")


def refusal(problem: str, code: int = INVALID_REQUEST) -> bytes:
    return encode(_error(None, _malformed(code, problem)))


def _reply(message: object, call: Call) -> dict[str, Any] | None:
    id = message.get("id") if isinstance(message, dict) else None
    try:
        method, params = _parse(message)
    except RpcError as error:
        return _error(id if _is_id(id) else None, error)
    try:
        reply = {"jsonrpc": "2.0", "id": id, "result": call(method, params)}
    except RpcError as error:
        reply = _error(id, error)
    return reply if isinstance(message, dict) and "id" in message else None


def _parse(message: object) -> tuple[str, dict[str, Any]]:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _malformed(INVALID_REQUEST, 'a request is an object with "jsonrpc": "2.0"')
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise _malformed(INVALID_REQUEST, "`method` is a text")
    if "id" in message and not _is_id(message["id"]):
        raise _malformed(INVALID_REQUEST, "`id` is a text, a number or null")
    if not isinstance(params, dict):
        raise _malformed(INVALID_PARAMS, "`params` is an object; parameters have names here")
    return method, params


def _malformed(code: int, why: str) -> RpcError:
    example = 'a line as {"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": {}}'
    return RpcError(code, {"rule": "argument", "why": why, "next": example})


def _error(id: object, error: RpcError) -> dict[str, Any]:
    body = {"code": error.code, "message": str(error), "data": error.facts}
    return {"jsonrpc": "2.0", "id": id, "error": body}


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _finite(text: str) -> float:
    """Read a number; raise ValueError for `NaN`, and for one that no float holds."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not JSON")
    return value


MESSAGE_BYTES = 4 << 20
"""Longest message that is parsed; a longer one is read to its end and refused."""
HEADER_BYTES = 4096
_PART_BYTES = 1 << 16


class Message(Value):
    body: bytes
    framed: bool
    """It came with a header, and so does the answer."""
    problem: str = ""
    """Reason for which the body was not read."""


class BadHeader(ValueError):
    """The stream cannot be read on, as the length of the message is unknown."""


def read_messages(stream: BinaryIO) -> Iterator[Message]:
    """Yield messages until the end of the stream; raises BadHeader."""
    while line := stream.readline(MESSAGE_BYTES + 1):
        text = line.strip()
        if not text:
            continue
        if text[:1] in b"{[" or b":" not in text[:HEADER_BYTES]:
            yield _read_line(line, stream)
        else:
            yield _read_framed(_read_length(text, stream), stream)


def write_message(stream: BinaryIO, body: bytes, *, framed: bool) -> None:
    header = b"Content-Length: %d\r\n\r\n" % len(body) if framed else b""
    stream.write(header + body + (b"" if framed else b"\n"))
    stream.flush()


def _read_line(line: bytes, stream: BinaryIO) -> Message:
    if line.endswith(b"\n") or len(line) <= MESSAGE_BYTES:
        return Message(body=line, framed=False)
    while line and not line.endswith(b"\n"):
        line = stream.readline(_PART_BYTES)
    return Message(body=b"", framed=False, problem=f"a line of over {MESSAGE_BYTES:,} bytes")


def _read_framed(length: int, stream: BinaryIO) -> Message:
    if length <= MESSAGE_BYTES:
        return Message(body=stream.read(length), framed=True)
    left = length
    while left and (part := stream.read(min(left, _PART_BYTES))):
        left -= len(part)
    return Message(body=b"", framed=True, problem=f"a message of {length:,} bytes")


def _read_length(first: bytes, stream: BinaryIO) -> int:
    length, line = -1, first
    while line:
        name, _, value = line.partition(b":")
        digits = value.strip()
        if name.strip().lower() == b"content-length" and digits.isdigit() and len(digits) <= 20:
            length = int(digits)
        line = stream.readline(HEADER_BYTES).strip()
    if length < 0:
        raise BadHeader("a header without a Content-Length that can be read")
    return length
