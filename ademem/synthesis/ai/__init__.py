"""One question to an AI, if there is one: for the worker and for typed commands, never for a hook.

What comes back is data of a model that read what others wrote: who keeps it asks the gate.
"""

from __future__ import annotations

import time

from ademem.core.redaction import redact
from ademem.core.value import replace
from ademem.store import ai_calls
from ademem.synthesis.ai.fit import Misfit, fitted, found_in
from ademem.synthesis.ai.reply import Provider, Question, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ademem.core.settings import AISettings
    from ademem.store.runtime import Runtime

PROMPT_CHARS = 120_000
"""Longest question, in characters: what is more is cut off its end."""


def ask(
    runtime: Runtime, purpose: str, prompt: str, schema: dict[str, Any]
) -> dict[str, Any] | None:
    """An answer that fits the JSON Schema *schema*, redacted and within its bounds.

    None, which every caller has to live with: nobody is to be asked, the day has had its calls, or
    no good answer came in time. *purpose* is a word under which `ademem cost` counts the call.
    """
    settings = runtime.settings.ai
    if not _somebody(runtime):
        return None
    call = ai_calls.begin(
        runtime.store, purpose, settings.provider, runtime.now, daily_calls=settings.daily_calls
    )
    if call is None:
        return None
    question = replace(
        _question(settings, runtime.environment),
        prompt=redact(prompt[: 2 * PROMPT_CHARS]).text[:PROMPT_CHARS],
        schema=schema,
        purpose=purpose,
    )
    began = time.monotonic()
    answer, reply = _checked(_PROVIDERS[settings.provider]().ask(question), schema)
    ms = round((time.monotonic() - began) * 1000)
    ai_calls.end(runtime.store, call, reply.outcome, reply.price, ms=ms, error=reply.error)
    return answer


def is_there(runtime: Runtime) -> bool:
    """Whether `ask` would ask somebody now."""
    left = runtime.settings.ai.daily_calls - ai_calls.today(runtime.store, runtime.now)
    return _somebody(runtime) and left > 0


def problem(settings: AISettings, environment: Mapping[str, str]) -> str:
    """Why the one who is named cannot be asked; empty: as far as can be told unasked, he can."""
    if settings.provider not in _PROVIDERS:
        return ""
    if not settings.daily_calls:
        return f"ai.daily_calls is 0, so {settings.provider} is never asked"
    return _PROVIDERS[settings.provider]().problem(_question(settings, environment))


def _question(settings: AISettings, environment: Mapping[str, str]) -> Question:
    """Nothing yet, to whom the settings say."""
    return Question(
        prompt="",
        schema={},
        purpose="",
        model=settings.model,
        url=settings.url,
        timeout_s=settings.timeout_s,
        environment=environment,
    )


def _somebody(runtime: Runtime) -> bool:
    """Nobody is asked by what was itself started to answer."""
    return runtime.settings.ai.provider in _PROVIDERS and "ADEMEM_ASKED" not in runtime.environment


def _checked(reply: Reply, schema: dict[str, Any]) -> tuple[dict[str, Any] | None, Reply]:
    """The answer as data, if it is one, and how the call ended."""
    if reply.outcome != "ok":
        return None, reply
    try:
        value = reply.value if reply.value is not None else found_in(reply.text)
        return fitted(value, schema, _clean), reply
    except Misfit as misfit:
        return None, replace(reply, outcome="invalid", error=str(misfit))


def _clean(text: str) -> str:
    """Without secrets and without control characters, line breaks and tabs excepted."""
    visible = "".join(char for char in text if char >= " " or char in "\n\t")
    return redact(visible.encode("utf-8", "replace").decode()).text


def _claude() -> Provider:
    from ademem.synthesis.ai import claude

    return Provider(ask=claude.ask, problem=claude.problem)


def _openai() -> Provider:
    from ademem.synthesis.ai import openai

    return Provider(ask=openai.ask, problem=openai.problem)


_PROVIDERS: dict[str, Callable[[], Provider]] = {"claude": _claude, "openai": _openai}
