"""What reached the model: one request of the Messages API, read as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolResult:
    text: str
    is_error: bool


@dataclass(frozen=True)
class Request:
    body: dict[str, Any]
    agent: str | None
    """The subagent that asks; None is the main thread."""

    @property
    def text(self) -> str:
        """Everything the model was shown: system prompt and messages."""
        return "\n".join([_text(self.body.get("system")), _text_of_messages(self._messages)])

    @property
    def whole(self) -> str:
        """All of it, what the tools say of themselves included."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def last_prompt(self) -> str:
        prompts = [m for m in self._messages if m["role"] == "user"]
        return _text(prompts[-1]["content"]) if prompts else ""

    @property
    def news(self) -> str:
        """What was added since the model last spoke: prompts, contexts, tool results."""
        return _text_of_messages(self._unanswered)

    @property
    def turn(self) -> str:
        """What was shown since the person's last prompt, but for briefings."""
        typed = [at for at, message in enumerate(self._messages) if _is_typed(message)]
        shown = [
            _text([block])
            for message in self._messages[typed[-1] if typed else 0 :]
            for block in _blocks(message["content"])
        ]
        return "\n".join(text for text in shown if not any(name in text for name in _BRIEFINGS))

    @property
    def results(self) -> list[ToolResult]:
        """Results of the tools the model last asked for, in the order of the calls."""
        return [
            ToolResult(_text(block.get("content")), is_error=bool(block.get("is_error")))
            for message in self._unanswered
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]

    @property
    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def _unanswered(self) -> list[dict[str, Any]]:
        spoken = [i for i, m in enumerate(self._messages) if m["role"] == "assistant"]
        return self._messages[spoken[-1] + 1 :] if spoken else self._messages


_BRIEFINGS = ("SessionStart hook additional context", "SubagentStart hook additional context")


def _is_typed(message: dict[str, Any]) -> bool:
    blocks = _blocks(message["content"])
    texts = [block.get("text", "") for block in blocks if block["type"] == "text"]
    is_prompt = any(not text.lstrip().startswith("<system-reminder>") for text in texts)
    is_answer = any(block["type"] == "tool_result" for block in blocks)
    return message["role"] == "user" and is_prompt and not is_answer


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _text_of_messages(messages: list[dict[str, Any]]) -> str:
    return "\n".join(_text(message["content"]) for message in messages)


def _text(content: Any) -> str:
    """The text of a string or of a list of blocks, tool results included."""
    if not isinstance(content, list):
        return content or ""
    return "\n".join(block.get("text") or _text(block.get("content")) for block in content)
