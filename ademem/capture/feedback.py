"""What reviewers of a pull request asked for: from `gh` JSON to lessons for the next one."""

from __future__ import annotations

import re

from ademem.core.errors import AdememError
from ademem.core.json_text import loads
from ademem.core.text import bounded, clean
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

MAX_CHARS = 600
MIN_WORDS = 5
TAG_SHARE = 0.25
"""Part of a text in HTML tags from which a machine wrote it."""

_BOTS = r"\[bot\]$|^(?:github-actions|dependabot|renovate|codecov\S*|coderabbit\S*)$"
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
_QUOTE = re.compile(r"^>.*$", re.M)
_IMAGE = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")

_CUES = """
    always never must mustn't should shouldn't prefer\\w* unless instead avoid don't (?:do\\snot)
    please needs?\\sto make\\ssure ensure rather convention\\w* consistent\\w* breaks? breaking
    regression race leaks? unsafe missing forgot\\w* (?:re)?use rename move extract add remove
    replace handle validate test(?:s|ed)? document\\w* we\\s(?:use|keep|try|only|usually)
"""
_ASKS = re.compile(rf"\b(?:{'|'.join(_CUES.split())})\b", re.I)
"""A word of somebody who asks for something."""

_THANKS = """
    lgtm looks?\\s(?:good|great|fine) nice\\b great\\b thanks?\\b thank\\syou ship\\sit done\\b
    fixed\\b good\\s(?:catch|point|idea) addressed resolved agreed?\\b [+]1 approved?\\b
    updated\\sin\\b same\\shere
"""
_PRAISE = re.compile(rf"\W*(?:{'|'.join(_THANKS.split())})", re.I)
"""How a remark begins that asks for nothing."""

_REQUEST = re.compile(r"\b(?:could|can|should) (?:you|we)\b", re.I)


class BadFeedback(AdememError):
    hint = "pipe in `gh pr view NUMBER --json number,url,comments,reviews`, or `gh api …/comments`"


class Comment(Value):
    """One remark of a person."""

    key: str
    """Names it wherever it is read again."""
    text: str
    path: str | None = None
    line: int | None = None
    url: str | None = None


def comments(text: str) -> list[Comment]:
    """What people asked for in the output of `gh`, in its order; raises BadFeedback."""
    try:
        document = loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFeedback(f"the input is no JSON: {error}") from error
    if not isinstance(document, dict | list):
        raise BadFeedback("the input has no comments")
    return [comment for raw in _remarks(document) if (comment := _comment(raw))]


def asked(body: str) -> str:
    """The prose of a remark; empty when it asks for nothing that would hold for the next change."""
    tags = sum(map(len, _TAG.findall(_HIDDEN.sub("", body))))
    if tags > TAG_SHARE * len(body):
        return ""
    prose = _FENCE.sub(" ", _HIDDEN.sub(" ", body))
    prose = _TAG.sub(" ", _IMAGE.sub(r"\1", _QUOTE.sub("", prose)))
    prose = bounded(" ".join(clean(prose).split()), MAX_CHARS)
    wonders = prose.endswith("?") and not _REQUEST.search(prose)
    if len(prose.split()) < MIN_WORDS or _PRAISE.match(prose) or wonders:
        return ""
    return prose if _ASKS.search(prose) else ""


def _remarks(document: dict[str, Any] | list[Any]) -> Iterator[Mapping[str, Any]]:
    """The objects with a body: of a pull request, of a list, of lists of pages."""
    if isinstance(document, list):
        for each in document:
            if isinstance(each, dict | list):
                yield from _remarks(each)
        return
    is_remark = isinstance(document.get("body"), str) and "reviews" not in document
    if is_remark and ("author" in document or "user" in document):
        yield document
    for name in ("comments", "reviews", "reviewThreads", "nodes"):
        inner = document.get(name)
        if isinstance(inner, dict | list):
            yield from _remarks(inner)


def _comment(raw: Mapping[str, Any]) -> Comment | None:
    author = raw.get("author") or raw.get("user")
    text = asked(str(raw["body"]))
    if not text or not isinstance(author, dict) or _is_bot(author):
        return None
    number = raw.get("line") or raw.get("original_line")
    path = raw.get("path")
    return Comment(
        key=str(raw.get("id") or raw.get("url") or f"{author.get('login')}:{raw.get('createdAt')}"),
        text=text,
        path=path if isinstance(path, str) and path else None,
        line=number if type(number) is int else None,
        url=str(raw.get("url") or raw.get("html_url") or "") or None,
    )


def _is_bot(author: Mapping[str, Any]) -> bool:
    kind = author.get("type") or author.get("__typename")
    login = str(author.get("login") or "").lower()
    return bool(author.get("is_bot")) or kind == "Bot" or re.search(_BOTS, login) is not None
