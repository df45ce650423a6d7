"""Ask an AI one question, from the worker and typed commands; hooks never do.

An answer comes from a model that read untrusted text: it passes the write gate before it is stored.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ademem.core.redaction import redact
from ademem.core.settings import AISettings
from ademem.core.value import replace
from ademem.store import ai_calls
from ademem.store.runtime import Runtime
from ademem.synthesis.ai.answer import (
    InvalidAnswer,
    Provider,
    Question,
    find_object,
    validate,
)

PROVIDERS = ("claude", "openai")
PROMPT_CHARS = 120_000
"""Longest question; the rest is cut off."""


def ask(
    runtime: Runtime, purpose: str, prompt: str, schema: dict[str, Any]
) -> dict[str, Any] | None:
    """Return an answer that fits the JSON Schema *schema*, redacted and within its bounds.

    None without a provider, after the day's last call, and for every failure; `ademem status cost`
    lists the call under *purpose*.
    """
    settings = runtime.settings.ai
    if not _has_provider(runtime):
        return None
    call = ai_calls.begin(
        runtime.store, purpose, settings.provider, runtime.now, daily_calls=settings.daily_calls
    )
    if call is None:
        return None
    question = replace(
        _empty_question(settings, runtime.environment),
        prompt=redact(prompt[: 2 * PROMPT_CHARS]).text[:PROMPT_CHARS],
        schema=schema,
        purpose=purpose,
    )
    began = time.monotonic()
    reply = _provider(settings.provider).ask(question)
    answer = None
    if reply.outcome == "ok":
        try:
            data = reply.value if reply.value is not None else find_object(reply.text)
            answer = validate(data, schema, _clean)
        except InvalidAnswer as error:
            reply = replace(reply, outcome="invalid", error=str(error))
    ms = round((time.monotonic() - began) * 1000)
    ai_calls.end(runtime.store, call, reply.outcome, reply.price, ms=ms, error=reply.error)
    return answer


def is_available(runtime: Runtime) -> bool:
    left = runtime.settings.ai.daily_calls - ai_calls.today(runtime.store, runtime.now)
    return _has_provider(runtime) and left > 0


def problem(settings: AISettings, environment: Mapping[str, str]) -> str:
    """Say why the provider cannot be asked, as far as that shows without a call; else empty."""
    if settings.provider not in PROVIDERS:
        return ""
    if not settings.daily_calls:
        return f"ai.daily_calls is 0, so {settings.provider} is never asked"
    return _provider(settings.provider).problem(_empty_question(settings, environment))


def _empty_question(settings: AISettings, environment: Mapping[str, str]) -> Question:
    return Question(
        prompt="",
        schema={},
        purpose="",
        model=settings.model,
        url=settings.url,
        timeout_s=settings.timeout_s,
        environment=environment,
    )


def _has_provider(runtime: Runtime) -> bool:
    """An AI that ademem started asks no other one: ADEMEM_ASKED marks its processes."""
    return runtime.settings.ai.provider in PROVIDERS and "ADEMEM_ASKED" not in runtime.environment


def _clean(text: str) -> str:
    visible = "".join(char for char in text if char >= " " or char in "\n\t")
    return redact(visible.encode("utf-8", "replace").decode()).text


def _provider(name: str) -> Provider:
    if name == "claude":
        from ademem.synthesis.ai import claude

        return Provider(ask=claude.ask, problem=claude.problem)
    from ademem.synthesis.ai import openai

    return Provider(ask=openai.ask, problem=openai.problem)
