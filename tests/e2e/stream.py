"""A scripted answer in the Messages API's own shape, whole or as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from .script import Reply

Json = dict[str, Any]


def message(reply: Reply, model: str) -> Json:
    """The answer as the API gives it to a client that does not stream."""
    return {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(reply),
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.used, "output_tokens": 20},
    }


def events(whole: Json) -> bytes:
    """The same answer as the stream's events, one delta a block."""
    return b"".join(
        f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode() for data in _events(whole)
    )


def _blocks(reply: Reply) -> list[Json]:
    text = [{"type": "text", "text": reply.text}] if reply.text or not reply.calls else []
    calls = [
        {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": call.name, "input": call.input}
        for call in reply.calls
    ]
    return text + calls


def _events(whole: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        empty, delta = _start_and_delta(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def _start_and_delta(block: Json) -> tuple[Json, Json]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    arguments = json.dumps(block["input"])
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": arguments}
