"""Drafts under review, the verdicts of rules, and the rules about form: text, kind and size."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.clock import UTC, datetime
from ademem.core.memory import (
    MAIN_AGENT,
    MAX_KEY_CHARS,
    MAX_TITLED_BYTES,
    PERSONAL,
    SCOPES,
    TYPES,
    Category,
    Draft,
    Importance,
    Memory,
    Origin,
    Scope,
    Trust,
)
from ademem.core.redaction import redact
from ademem.core.text import (
    clean,
    dedupe_key,
    fold,
    in_one_line,
    preview,
    slug,
    truncate,
    truncate_bytes,
    unique,
    with_article,
)
from ademem.core.value import Value, as_dict, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from ademem.capture.gate.writing import StoreLookup
    from ademem.core.settings import GateSettings

    Verdict: TypeAlias = "Insert | Merge | Revise | Reject"
    Rule = Callable[["Reviewed", "Gate"], "Reviewed | Verdict"]


class Gate(Value):
    lookup: StoreLookup
    settings: GateSettings
    now: datetime


class Reviewed(Draft):
    notes: tuple[str, ...] = ()
    quarantine_reason: str | None = None

    @property
    def by_person(self) -> bool:
        return self.origin.trust is Trust.USER

    @property
    def trusted(self) -> bool:
        return self.origin.trust in (Trust.USER, Trust.AGENT)

    @property
    def dedupe_key(self) -> str:
        return dedupe_key(self.content, self.topic_key)


class _Decided(Value):
    draft: Reviewed
    why: str


class Insert(_Decided):
    pass


class Merge(_Decided):
    into: Memory


class Revise(_Decided):
    memory: Memory


class Reject(_Decided):
    """*why* ends with the next step."""


class RuleEffect(Value):
    rule: str
    outcome: str
    """pass | change | insert | merge | revise | reject."""
    why: str


class Ruling(Value):
    rule: str
    verdict: Verdict
    trail: tuple[tuple[str, Reviewed, Reviewed | Verdict], ...]
    """For each rule: name, draft before, and draft after or verdict."""


STRICT = (Category.CONVENTION, Category.PATTERN, Category.GOTCHA, Category.DECISION)
"""Categories that strict mode promotes on a person's word."""

EPOCH = 1970
CUT = "truncated:"

_OPTIONAL = ("owner", "title", "topic_key", "knowledge_key", "bead", "path", "evidence")
_NAMES = ("topic_key", "knowledge_key", "bead", "path")
_TEXTS = ("content", "category", *_OPTIONAL)
_NAMED = frozenset((*Category, *TYPES))
_MARKER = r"\[(?:private|redacted:[^\]]*)\]"


def normal_form(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    draft = _each_text(draft, clean)
    draft = replace(
        draft,
        **{name: getattr(draft, name) or None for name in _OPTIONAL},
        origin=_each_origin_text(draft.origin, clean),
        created_at=_past_time(draft.created_at, gate.now),
    )
    try:
        scope = Scope.parse(draft.scope)
    except ValueError:
        return Reject(draft=draft, why=_unknown("scope", draft.scope, SCOPES))
    try:
        importance = Importance(draft.importance.strip().lower())
    except ValueError:
        return Reject(draft=draft, why=_unknown("importance", draft.importance, Importance))
    word = draft.category
    if word not in _NAMED:
        word = "_".join(redact(word).text.lower().split())
    return replace(
        draft,
        scope=scope,
        owner=_owner_in(scope, draft),
        importance=importance,
        category=TYPES.get(word, word),
        title=draft.title and " ".join(draft.title.split()),
        tags=_normal_tags((*draft.tags, word) if word in TYPES else draft.tags),
        anchors=tuple(filter(None, map(in_one_line, draft.anchors))),
        **{name: in_one_line(text) for name in _NAMES if (text := getattr(draft, name))},
    )


def _owner_in(scope: Scope, draft: Reviewed) -> str | None:
    if scope is Scope.PROJECT:
        return None
    is_personal = scope is not Scope.AGENT or draft.scope.strip().lower() in PERSONAL
    return draft.owner if draft.owner or is_personal else MAIN_AGENT


def _normal_tags(tags: Iterable[str]) -> tuple[str, ...]:
    # redacted first, because many keys have capitals
    folded = ("-".join(fold(redact(text).text).lstrip("#").split()) for text in tags)
    return unique(filter(None, folded))


def _past_time(created: datetime | None, now: datetime) -> datetime | None:
    if created is None or created.year < EPOCH:  # some programs write year 1 for "unknown"
        return None
    return min(created if created.tzinfo else created.replace(tzinfo=UTC), now)


def redaction(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """Remove secrets before anything is hashed, compared or stored."""
    content = draft.content
    found: list[str] = []

    def without_secrets(text: str) -> str:
        redacted = redact(text)
        found.extend(redacted.found)
        return redacted.text

    cleaned = _each_origin_text(draft.origin, without_secrets)
    draft = replace(_each_text(draft, without_secrets), origin=cleaned)
    if found:
        draft = with_note(draft, f"redacted: {', '.join(unique(found))}")
    if _says_something(draft.content):
        return draft
    if _says_something(content):
        why = "nothing is left to remember; say what was learned, without private parts"
        return Reject(draft=draft, why=why)
    return Reject(draft=draft, why="it has no words; say what was learned")


def known_category(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    try:
        return replace(draft, category=Category(draft.category))
    except ValueError:
        why = f"{_unknown('category', draft.category, Category)}, or one of {', '.join(TYPES)}"
        return Reject(draft=draft, why=why)


def strict_mode(draft: Reviewed, gate: Gate) -> Reviewed:
    if not draft.strict:
        return draft
    if draft.category in STRICT:
        return replace(draft, promoted=draft.promoted or draft.by_person)
    draft = replace(draft, strict=False)
    return with_note(draft, f"strict mode is for {', '.join(STRICT)}; kept as an ordinary write")


def length(draft: Reviewed, gate: Gate) -> Reviewed:
    """Truncate a text that is too long; leave out such a key, as others may begin like it."""
    for name in ("topic_key", "knowledge_key", "bead", "path"):
        size = len(getattr(draft, name) or "")
        if size > MAX_KEY_CHARS:
            draft = replace(draft, **{name: None})
            draft = with_note(draft, f"without {name}: it had {size:,} characters")
    if not draft.title:
        limit = gate.settings.max_chars
        return _cut(draft, truncate(draft.content, limit), f"{len(draft.content):,} characters")
    draft = replace(draft, title=truncate(draft.title, gate.settings.max_chars))
    short = truncate_bytes(draft.content, MAX_TITLED_BYTES).rstrip()
    return _cut(draft, short, f"{len(draft.content.encode()):,} bytes")


def with_note(draft: Reviewed, note: str) -> Reviewed:
    return replace(draft, notes=(*draft.notes, note))


def cut_notes(notes: Iterable[str]) -> list[str]:
    return [note for note in notes if note.startswith(CUT)]


def is_key_from_text(draft: Reviewed) -> bool:
    key = draft.knowledge_key
    return key is not None and key.partition("-")[2] == slug(draft.content)


def _each_text(draft: Reviewed, change: Callable[[str], str]) -> Reviewed:
    fields = draft.__dict__
    texts = {name: change(text) for name in _TEXTS if (text := fields[name]) is not None}
    if draft.knowledge_key and is_key_from_text(draft):
        texts["knowledge_key"] = (
            draft.knowledge_key.partition("-")[0] + "-" + slug(texts["content"])
        )
    return replace(
        draft,
        **texts,
        tags=tuple(map(change, draft.tags)),
        anchors=tuple(map(change, draft.anchors)),
    )


def _cut(draft: Reviewed, content: str, size: str) -> Reviewed:
    if content == draft.content:
        return draft
    return with_note(replace(draft, content=content), f"{CUT} it had {size}")


def _each_origin_text(origin: Origin, change: Callable[[str], str]) -> Origin:
    texts = {name: change(text) for name, text in as_dict(origin).items() if type(text) is str}
    return replace(origin, **texts)


def _says_something(content: str) -> bool:
    rest = regex.sub(_MARKER, "", content) if "[" in content else content
    if any(map(str.isalnum, rest)):
        return True
    import unicodedata

    return any(unicodedata.category(char)[0] in "LNS" for char in rest)


def _unknown(what: str, given: str, allowed: Iterable[str]) -> str:
    shown = preview(redact(clean(given)).text, 40)
    return f"“{shown}” is not {with_article(what)}; use {', '.join(allowed)}"
