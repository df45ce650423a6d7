"""Asking an OpenAI-compatible API; the one module that sends anything to where a setting says."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ademem.core.json_text import loads
from ademem.store.ai_calls import Price
from ademem.synthesis.ai.reply import ANSWER_BYTES, RULES, Reply, failed, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.synthesis.ai.reply import Question

CHUNK = 1 << 16
HERE = ("localhost", "127.0.0.1", "::1")
UNKNOWN_SHAPE = (400, 404, 415, 422)
"""What servers answer that know nothing of schemas; asked again without one, they may know how."""


class _Stay(HTTPRedirectHandler):
    """Sent elsewhere, the key would go along."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _TooLong(Exception):
    """It says more than anybody reads, or takes longer than anybody waits."""


def ask(question: Question) -> Reply:
    if wrong := problem(question):
        return failed(wrong)
    deadline = time.monotonic() + question.timeout_s
    for with_schema in (True, False):
        try:
            return _read(_said(question, deadline, with_schema=with_schema))
        except HTTPError as error:
            with error:
                if with_schema and error.code in UNKNOWN_SHAPE:
                    continue
                return failed(f"{error.code} {error.reason}")
        except (TimeoutError, _TooLong):
            return failed("it took too long", "timeout")
        except URLError as error:
            late = isinstance(error.reason, TimeoutError)
            return failed(str(error.reason), "timeout" if late else "failed")
        except (HTTPException, OSError, ValueError, RecursionError) as error:
            return failed(f"{type(error).__name__}: {error}")
    raise AssertionError("the second try ends the loop")


def problem(question: Question) -> str:
    """Why this cannot be asked; a key goes to this machine or through TLS, and nowhere else."""
    try:
        url = urlsplit(question.url)
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # no such host or port can be
        is_address = False
    if not is_address:
        return "ai.url has to be an address such as http://localhost:11434/v1"
    if not question.model:
        return "ai.model has to name one of the models there"
    if url.scheme == "http" and url.hostname not in HERE and _key(question):
        return "ADEMEM_AI_KEY is only sent to an address with https"
    return ""


def _key(question: Question) -> str:
    return question.environment.get("ADEMEM_AI_KEY", "").strip()


def _said(question: Question, deadline: float, *, with_schema: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": question.model,
        "messages": [
            {"role": "system", "content": RULES + json.dumps(question.schema)},
            {"role": "user", "content": question.prompt},
        ],
    }
    if with_schema:
        shape = {"name": question.purpose, "schema": question.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    headers = {"Content-Type": "application/json"}
    if key := _key(question):
        headers["Authorization"] = f"Bearer {key}"
    request = Request(
        f"{question.url.rstrip('/')}/chat/completions",
        json.dumps(body).encode("utf-8", "replace"),
        headers,
    )
    left = deadline - time.monotonic()
    if left <= 0:
        raise _TooLong
    with build_opener(_Stay).open(request, timeout=left) as answer:
        return _object(_bounded(answer, deadline))


def _bounded(answer: Any, deadline: float) -> bytes:
    """The time-out of a socket is one of silence: who drips for ever is cut off here."""
    said = bytearray()
    while chunk := answer.read1(CHUNK):
        said += chunk
        if time.monotonic() > deadline:
            raise _TooLong
        if len(said) > ANSWER_BYTES:
            raise ValueError(f"it said more than {ANSWER_BYTES:,} bytes")
    return bytes(said)


def _object(said: bytes) -> dict[str, Any]:
    value = loads(said.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise ValueError("its answer is no JSON object")
    return value


def _read(said: dict[str, Any]) -> Reply:
    """The first choice; what has another shape is no answer."""
    message: Any = None
    reason = ""
    with suppress(KeyError, IndexError, TypeError):
        choice = said["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
    if not isinstance(message, dict):
        return Reply(outcome="failed", error="its answer has no message", price=_price(said))
    content, refusal = message.get("content"), message.get("refusal")
    if refusal or reason == "content_filter":
        return Reply(outcome="refused", error=str(refusal or reason), price=_price(said))
    return Reply(outcome="ok", text=content if isinstance(content, str) else "", price=_price(said))


def _price(said: dict[str, Any]) -> Price:
    """Some tell the price beside the tokens."""
    model, usage = said.get("model"), said.get("usage")
    told = isinstance(usage, dict) and usage.get("cost") is not None
    return Price(
        model=model if isinstance(model, str) else "",
        tokens_in=int(number(said, "usage", "prompt_tokens")),
        tokens_out=int(number(said, "usage", "completion_tokens")),
        cost_usd=number(said, "usage", "cost") if told else None,
    )
