"""Find what a person said in two or more sessions: sentences that may hold beyond their task."""

from __future__ import annotations

from ademem.capture.teaching import may_teach
from ademem.core.redaction import redact
from ademem.core.text import dedupe_key, jaccard, words
from ademem.core.value import Value
from ademem.plugins.replay.counting import quote
from ademem.plugins.replay.naming import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.capture.transcript import Prompt
    from ademem.plugins.replay.transcripts import Transcript

SHARED_NAMES = 2
"""Names that two sentences share which say the same."""
ALIKE = 0.5
"""Share of their words from which two sentences say the same; a person decides."""
MOST = 2000
"""Sentences that are compared; later ones are left out."""


class Sentence(Value):
    text: str
    session: str
    transcript: str
    at: str
    words: frozenset[str]
    names: frozenset[str]

    def is_like(self, other: Sentence) -> bool:
        if len(self.names & other.names) >= SHARED_NAMES:
            return True
        return jaccard(self.words, other.words) >= ALIKE


def as_sentence(text: str, session: str = "", transcript: str = "", at: str = "") -> Sentence:
    return Sentence(
        text=text,
        session=session,
        transcript=transcript,
        at=at,
        words=words(text),
        names=names_in(text),
    )


class Repeated(Value):
    """A sentence that was said in several sessions."""

    quote: str = ""
    """The last one, redacted."""
    sentence: str = ""
    """The same in whole, as it would be added; not stored."""
    session: str = ""
    transcript: str = ""
    """Where the last one stands."""
    sessions: int = 0
    first: str = ""
    last: str = ""
    memory_id: str = ""
    """A memory that says it; empty if none does."""


class Repeats:
    def __init__(self) -> None:
        self._sentences: list[Sentence] = []
        self._seen: set[tuple[str, str]] = set()

    def add(self, prompt: Prompt, found: Transcript) -> None:
        if prompt.text.startswith("/") or len(self._sentences) >= MOST:
            return
        sentence = may_teach(prompt.text)
        if sentence is None or (key := (dedupe_key(sentence), found.session)) in self._seen:
            return
        self._seen.add(key)
        self._sentences.append(as_sentence(sentence, found.session, found.path, prompt.at))

    def list_repeated(self, memories: Iterable[tuple[str, str]]) -> list[Repeated]:
        """Return what was said in several sessions, the most often said first.

        *memories* are ids and texts, of which one may say it already.
        """
        groups: list[list[Sentence]] = []
        for each in self._sentences:
            near = (group for group in groups if group[0].is_like(each))
            group = next(near, None)
            if group is None:
                groups.append([each])
            else:
                group.append(each)
        known = [(id, as_sentence(text)) for id, text in memories]
        found = [_as_repeated(group, known) for group in groups if _count_sessions(group) > 1]
        return sorted(found, key=lambda each: (-each.sessions, each.first))


def _count_sessions(group: Iterable[Sentence]) -> int:
    return len({each.session for each in group})


def _as_repeated(group: list[Sentence], known: Iterable[tuple[str, Sentence]]) -> Repeated:
    last = max(group, key=lambda each: each.at)
    of_memory = (id for id, sentence in known if any(each.is_like(sentence) for each in group))
    return Repeated(
        quote=quote(last.text),
        sentence=redact(last.text).text,
        session=last.session,
        transcript=last.transcript,
        sessions=_count_sessions(group),
        first=min(each.at for each in group),
        last=last.at,
        memory_id=next(of_memory, ""),
    )
