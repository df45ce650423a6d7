"""Lessons from the comments and failed checks of a pull request, read from the JSON of `gh`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ademem.capture import gate
from ademem.capture.record import category_of
from ademem.core.errors import UsageError
from ademem.core.json_text import loads
from ademem.core.memory import Category, Draft, Origin, Trust
from ademem.core.text import clean, sha256_hex, truncate
from ademem.core.value import Value
from ademem.store import jobs, ledger, memories, memory_queries, transitions
from ademem.store.runtime import Runtime
from ademem.store.transitions import Act

MAX_CHARS = 600
MIN_WORDS = 5
TAG_SHARE = 0.25
"""Share of HTML tags from which a text counts as generated."""

_BOTS = r"\[bot\]$|^(?:github-actions|dependabot|renovate|codecov\S*|coderabbit\S*)$"
FAILED = frozenset({"FAILURE", "ERROR", "TIMED_OUT"})
"""Conclusions of check runs and states of commit statuses, as GitHub's API names them."""
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

_THANKS = """
    lgtm looks?\\s(?:good|great|fine) nice\\b great\\b thanks?\\b thank\\syou ship\\sit done\\b
    fixed\\b good\\s(?:catch|point|idea) addressed resolved agreed?\\b [+]1 approved?\\b
    updated\\sin\\b same\\shere
"""
_PRAISE = re.compile(rf"\W*(?:{'|'.join(_THANKS.split())})", re.I)

_REQUEST = re.compile(r"\b(?:could|can|should) (?:you|we)\b", re.I)


class BadFeedback(UsageError):
    hint = (
        "pipe in `gh pr view NUMBER --json number,url,comments,reviews,statusCheckRollup`,"
        " or `gh api …/comments`"
    )


class Comment(Value):
    key: str
    """Identifies the comment when it is read again."""
    text: str
    path: str | None = None
    url: str | None = None
    category: str = ""
    """Empty: by its words."""


def parse_comments(text: str) -> list[Comment]:
    try:
        document = loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFeedback(f"the input is not JSON: {error}") from error
    if not isinstance(document, dict | list):
        raise BadFeedback("the input has no comments")
    comments = map(_read_comment, _find_comments(document))
    return [*filter(None, comments), *_find_failed_checks(document)]


def _find_failed_checks(document: Any) -> Iterator[Comment]:
    """Yield the failed checks of a pull request, one a name, without those of bots."""
    checks = document.get("statusCheckRollup") if isinstance(document, dict) else None
    rows = checks if isinstance(checks, list) else []
    for row in (each for each in rows if isinstance(each, dict)):
        name = str(_first_of(row, "name", "context") or "")
        owner = re.split(r"[/ ]", name.lower())[0]
        is_failed = _first_of(row, "conclusion", "state") in FAILED
        if name and is_failed and not re.search(_BOTS, owner):
            yield _read_check(name, row, document)


def _read_check(name: str, row: Mapping[str, Any], document: Mapping[str, Any]) -> Comment:
    where = _first_of(document, "number", "url") or "?"
    workflow = f" of the workflow `{row['workflowName']}`" if row.get("workflowName") else ""
    title = f": {document['title']}" if document.get("title") else ""
    text = f"The check `{name}`{workflow} failed on pull request {where}{title}"
    return Comment(
        key=f"check:{document.get('url') or where}:{name}",
        text=truncate(" ".join(clean(text).split()), MAX_CHARS),
        url=str(_first_of(row, "detailsUrl", "targetUrl") or "") or None,
        category=Category.GOTCHA,
    )


def _read_comment(raw: Mapping[str, Any]) -> Comment | None:
    """Return a person's comment that requests something."""
    author = _first_of(raw, "author", "user")
    request = extract_request(str(raw["body"]))
    if not request or not isinstance(author, dict) or _is_bot(author):
        return None
    path = raw.get("path")
    key = _first_of(raw, "id", "url") or f"{author.get('login')}:{raw.get('createdAt')}"
    return Comment(
        key=str(key),
        text=request,
        path=path if isinstance(path, str) and path else None,
        url=str(_first_of(raw, "url", "html_url") or "") or None,
    )


def _first_of(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of these fields that is not empty, as interfaces of GitHub differ."""
    return next(filter(None, map(row.get, names)), None)


def _is_bot(author: Mapping[str, Any]) -> bool:
    login = str(author.get("login") or "")
    kind = _first_of(author, "type", "__typename")
    return bool(author.get("is_bot")) or kind == "Bot" or bool(re.search(_BOTS, login.lower()))


def extract_request(body: str) -> str:
    """Return the prose of a comment; empty if it requests nothing for later changes."""
    tags = sum(map(len, _TAG.findall(_HIDDEN.sub("", body))))
    if tags > TAG_SHARE * len(body):
        return ""
    prose = _FENCE.sub(" ", _HIDDEN.sub(" ", body))
    prose = _TAG.sub(" ", _IMAGE.sub(r"\1", _QUOTE.sub("", prose)))
    prose = truncate(" ".join(clean(prose).split()), MAX_CHARS)
    wonders = prose.endswith("?") and not _REQUEST.search(prose)
    if len(prose.split()) < MIN_WORDS or _PRAISE.match(prose) or wonders:
        return ""
    return prose if _ASKS.search(prose) else ""


def _find_comments(document: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects with a body: of a pull request, of a list, of lists of pages."""
    inner = document if isinstance(document, list) else []
    if isinstance(document, dict):
        is_remark = isinstance(document.get("body"), str) and "reviews" not in document
        if is_remark and ("author" in document or "user" in document):
            yield document
        inner = [document.get(name) for name in ("comments", "reviews", "reviewThreads", "nodes")]
    for each in inner:
        yield from _find_comments(each)


SOURCE = "pr_feedback"


class FeedbackReport(Value):
    """Ids of the memories, and the number of comments that were known."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    known: int = 0


def capture_comments(text: str, runtime: Runtime) -> FeedbackReport:
    found: dict[str, list[str]] = {"added": [], "edited": [], "merged": [], "refused": []}
    remarks = parse_comments(text)
    with runtime.store.transaction():
        for remark in remarks:
            outcome = _write_comment(remark, runtime)
            if outcome:
                found[outcome[0]].append(outcome[1])
        if found["added"] or found["merged"]:
            jobs.queue(runtime.store, "procedures", "project", runtime.now)
    captured = sum(map(len, found.values()))
    named = {name: tuple(values) for name, values in found.items()}
    return FeedbackReport(known=len(remarks) - captured, **named)


def _write_comment(remark: Comment, runtime: Runtime) -> tuple[str, str] | None:
    store, now = runtime.store, runtime.now
    if not ledger.claim(store, SOURCE, f"{remark.key}:{sha256_hex(remark.text)}", now):
        return None
    if not ledger.claim(store, SOURCE, remark.key, now):
        return _edit_memory(remark, runtime)
    draft = Draft(
        content=remark.text,
        category=remark.category or category_of(remark.text, Category.CONVENTION),
        path=remark.path,
        origin=Origin(
            trust=Trust.TOOL,
            source_type=SOURCE,
            source_id=remark.url or remark.key,
            branch=runtime.branch,
        ),
    )
    written = gate.write(draft, store, runtime.settings.gate, now)
    if written.memory is None:
        return "refused", f"{written.rule}: {written.reason}"
    ledger.credit(store, SOURCE, remark.key, written.memory.id)
    return ("merged" if written.deduped else "added"), written.memory.id


def _edit_memory(remark: Comment, runtime: Runtime) -> tuple[str, str] | None:
    """Edit the memory of a comment that was edited, unless a person changed it."""
    store = runtime.store
    if remark.category:  # a check, whose text has the title of the pull request
        return None
    current = memory_queries.by_id(store, ledger.memory_of(store, SOURCE, remark.key))
    if not current or not current.live:
        return None
    if any(each["actor"] == Trust.USER for each in memories.revisions(store, current.id)):
        return None
    act = Act(store=store, now=runtime.now, actor=Trust.TOOL)
    transitions.edit(current.id, act, runtime.settings.gate, content=remark.text)
    return "edited", current.id
