"""Ask an OpenAI-compatible API at the address of `ai.url`; no other module sends data there."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ademem.core.json_text import loads
from ademem.store.maintenance import Price
from ademem.synthesis.ai import ANSWER_BYTES, RULES, Question, Reply, number

CHUNK = 1 << 16
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
SCHEMA_REFUSED = (400, 404, 415, 422)
"""Status codes of servers that do not support schemas; they are asked again without one."""


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def ask(question: Question) -> Reply:
    if wrong := problem(question):
        return Reply(error=wrong)
    deadline = time.monotonic() + question.settings.timeout_s
    for with_schema in (True, False):
        try:
            return _parse(_post(question, deadline, with_schema=with_schema))
        except HTTPError as error:
            with error:
                if with_schema and error.code in SCHEMA_REFUSED:
                    continue
                return Reply(error=f"{error.code} {error.reason}")
        except TimeoutError:
            return Reply(outcome="timeout", error="it took too long")
        except URLError as error:
            late = isinstance(error.reason, TimeoutError)
            return Reply(outcome="timeout" if late else "failed", error=str(error.reason))
        except (HTTPException, OSError, ValueError, RecursionError) as error:
            return Reply(error=f"{type(error).__name__}: {error}")
    raise AssertionError("the second attempt returns")


def problem(question: Question) -> str:
    """A key is sent to this machine or over TLS alone."""
    try:
        url = urlsplit(question.settings.url)
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # an invalid host or port
        is_address = False
    if not is_address:
        return "ai.url has to be an address such as http://localhost:11434/v1"
    if not question.settings.model:
        return "ai.model has to name one of the models there"
    if url.scheme == "http" and url.hostname not in LOCAL_HOSTS and _key(question):
        return "ADEMEM_AI_KEY is only sent to an address with https"
    return ""


def _key(question: Question) -> str:
    return question.environment.get("ADEMEM_AI_KEY", "").strip()


def _post(question: Question, deadline: float, *, with_schema: bool) -> dict[str, Any]:
    """The time-out of a socket ends silence alone; the deadline ends a slow trickle as well."""
    body: dict[str, Any] = {
        "model": question.settings.model,
        "messages": [
            {"role": "system", "content": RULES + json.dumps(question.schema)},
            {"role": "user", "content": question.prompt},
        ],
    }
    if with_schema:
        schema = {"name": question.purpose, "schema": question.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    headers = {"Content-Type": "application/json"}
    if key := _key(question):
        headers["Authorization"] = f"Bearer {key}"
    request = Request(
        f"{question.settings.url.rstrip('/')}/chat/completions",
        json.dumps(body).encode("utf-8", "replace"),
        headers,
    )
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    data = bytearray()
    with build_opener(_NoRedirect).open(request, timeout=left) as response:
        while chunk := response.read1(CHUNK):
            data += chunk
            if time.monotonic() > deadline:
                raise TimeoutError
            if len(data) > ANSWER_BYTES:
                raise ValueError(f"its answer is longer than {ANSWER_BYTES:,} bytes")
    value = loads(data.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise ValueError("its answer is not a JSON object")
    return value


def _parse(answer: dict[str, Any]) -> Reply:
    model, usage = answer.get("model"), answer.get("usage")
    has_cost = isinstance(usage, dict) and usage.get("cost") is not None
    price = Price(
        model=model if isinstance(model, str) else "",
        tokens_in=int(number(answer, "usage", "prompt_tokens")),
        tokens_out=int(number(answer, "usage", "completion_tokens")),
        cost_usd=number(answer, "usage", "cost") if has_cost else None,
    )
    message: Any = None
    reason = ""
    with suppress(KeyError, IndexError, TypeError):
        choice = answer["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
    if not isinstance(message, dict):
        return Reply(error="its answer has no message", price=price)
    content, refusal = message.get("content"), message.get("refusal")
    if refusal or reason == "content_filter":
        return Reply(outcome="refused", error=str(refusal or reason), price=price)
    return Reply(outcome="ok", text=content if isinstance(content, str) else "", price=price)
