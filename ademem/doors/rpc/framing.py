"""Messages on a stream: one line each, or a `Content-Length` header and that many bytes.

The first byte tells which, and the answer has the form of the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ademem.core.value import Value

MESSAGE_BYTES = 4 << 20
"""Longest message that is parsed; a longer one is read to its end and refused."""
HEADER_BYTES = 4096
"""Longest line of a header."""
_PART_BYTES = 1 << 16
_LENGTH = b"content-length"


class Message(Value):
    """The bytes of a request."""

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
            yield _line(line, stream)
        else:
            yield _framed(_length(text, stream), stream)


def write_message(stream: BinaryIO, body: bytes, *, framed: bool) -> None:
    header = b"Content-Length: %d\r\n\r\n" % len(body) if framed else b""
    stream.write(header + body + (b"" if framed else b"\n"))
    stream.flush()


def _line(line: bytes, stream: BinaryIO) -> Message:
    if line.endswith(b"\n") or len(line) <= MESSAGE_BYTES:
        return Message(body=line, framed=False)
    while line and not line.endswith(b"\n"):
        line = stream.readline(_PART_BYTES)
    return Message(body=b"", framed=False, problem=f"a line of over {MESSAGE_BYTES:,} bytes")


def _framed(length: int, stream: BinaryIO) -> Message:
    if length <= MESSAGE_BYTES:
        return Message(body=stream.read(length), framed=True)
    left = length
    while left and (part := stream.read(min(left, _PART_BYTES))):
        left -= len(part)
    return Message(body=b"", framed=True, problem=f"a message of {length:,} bytes")


def _length(first: bytes, stream: BinaryIO) -> int:
    """Read the header to its empty line and return the length that it names."""
    length, line = -1, first
    while line:
        name, _, value = line.partition(b":")
        if name.strip().lower() == _LENGTH and value.strip().isdigit():
            length = int(value)
        line = stream.readline(HEADER_BYTES).strip()
    if length < 0:
        raise BadHeader("a header without a Content-Length")
    return length
