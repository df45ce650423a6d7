"""Check the reader's answer against the record that it was given; pure functions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from ademem.core.text import is_cjk, preview
from ademem.core.value import replace
from ademem.synthesis.reader.answer_form import SHOWN_CHARS, Answer, Lesson, Quote, Refusal, Refuted
from ademem.synthesis.reader.session_record import Record, Speaker, Spoken

LEAST_QUOTE_CHARS, LEAST_CJK_CHARS = 8, 4
"""Shorter words stand in any message, unless they are all of it."""
OF_PERSON = frozenset({Speaker.PERSON, Speaker.PASTED})
_PROVES_NOTHING = frozenset({Speaker.TOOL, Speaker.MACHINE})
_KINDS_OF_PERSONS = frozenset({"rule", "preference", "decision"})

Check = Callable[[Lesson, Record], "str | None"]


def misquoted(lesson: Lesson, record: Record) -> str | None:
    return next(filter(None, (_misquote(quote, record) for quote in lesson.quotes)), None)


def _misquote(quote: Quote, record: Record) -> str | None:
    message = record.find(quote.message)
    if message is None:
        return f"the record has no message {quote.message}"
    least = LEAST_CJK_CHARS if is_cjk(quote.text) else LEAST_QUOTE_CHARS
    if len(quote.text) < least and quote.text != message.text:
        return f"the quote of {quote.message} is too short to show anything"
    if _unmarked(quote.text) not in _unmarked(message.text):
        return f"the quote does not stand in {quote.message}"
    return None


def _unmarked(text: str) -> str:
    """Return the text on one line, without the marks and quotes that JSON makes a model change."""
    return " ".join(text.translate(_MARKS).split())


_MARKS = str.maketrans("“”„«»’‘", '"""""\'\'', "*`")


def of_tools_alone(lesson: Lesson, record: Record) -> str | None:
    if any(each.speaker not in _PROVES_NOTHING for each in _quoted(lesson, record)):
        return None
    return "only results of tools and texts of machines are quoted"


def not_of_a_person(lesson: Lesson, record: Record) -> str | None:
    if lesson.kind not in _KINDS_OF_PERSONS:
        return None
    if any(each.speaker in OF_PERSON for each in _quoted(lesson, record)):
        return None
    return f"a {lesson.kind} has to quote the person"


def _quoted(lesson: Lesson, record: Record) -> Iterator[Spoken]:
    return filter(None, (record.find(quote.message) for quote in lesson.quotes))


_DETAIL = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*"  # an option
    r"|[\w.~@*-]*/[\w./@*-]+"  # a path
    r"|\d+(?:[.,:_]\d+)*"  # a number
    r"|[A-Za-z_][\w.]*\w"  # perhaps an identifier
)
_IDENTIFIER = re.compile(r"[^\W\d_]\d|\w_\w|\w\w\.\w|\w\.\w\w|[a-z][A-Z]")
"""A word with a digit, an underscore or a dot inside, or with a hump."""
_CODE = re.compile(r"`([^`]+)`")
_ALTERNATIVES = re.compile(r"[^\W\d_]+/[^\W\d_]+")
"""Such as and/or: two words, and no path."""


def details_in(text: str) -> list[str]:
    """Return numbers, paths, options, identifiers, and all words between backticks."""
    found = [word for code in _CODE.findall(text) for word in code.split()]
    for detail in _DETAIL.findall(_CODE.sub(" ", text)):
        detail = detail.rstrip(".,:-")
        is_word = detail[:1].isalpha() and "/" not in detail
        if _ALTERNATIVES.fullmatch(detail) or (is_word and not _IDENTIFIER.search(detail)):
            continue
        found.append(detail)
    return list(dict.fromkeys(filter(None, found)))


def invented(lesson: Lesson, record: Record) -> str | None:
    texts = (*(each.text for each in record.messages), *(each.text for each in record.known))
    said = "\n".join(texts).casefold()
    for detail in details_in(f"{lesson.text}\n{lesson.why}"):
        word = detail.casefold().strip("\"'(),;:")
        before = r"(?<![\d.,])" if word[:1].isdigit() else r"(?<!\w)"
        after = r"(?!\d|[.,]\d)" if word[-1:].isdigit() else r"(?!\w)"
        if word and not re.search(f"{before}{re.escape(word)}{after}", said):
            return f"{detail} does not stand in the record"
    return None


def several_relations(lesson: Lesson, _record: Record) -> str | None:
    if len(lesson.relations) < 2:
        return None
    return f"it says {' and '.join(name for name, _ in lesson.relations)} at once"


def unknown_memory(lesson: Lesson, record: Record) -> str | None:
    ids = {each.id for each in record.known}
    named = (id.strip("()") for _, id in lesson.relations)
    return next((f"no memory {id} was given" for id in named if id not in ids), None)


CHECKS: tuple[Check, ...] = (
    misquoted,
    of_tools_alone,
    not_of_a_person,
    invented,
    several_relations,
    unknown_memory,
)
"""In order; a refusal has the name of the first check that a lesson fails."""


def check_refuted(refuted: Refuted, record: Record) -> Refusal | None:
    failed = _find_failed_check(refuted, record)
    if failed is None:
        return None
    check, why = failed
    return Refusal(check=check, why=why, subject=_shown(refuted.quote.text))


def _find_failed_check(refuted: Refuted, record: Record) -> tuple[str, str] | None:
    """Return the name of the first check that fails, and why it does."""
    if why := _misquote(refuted.quote, record):
        return "misquoted", why
    message, later = record.find(refuted.quote.message), record.find(refuted.by)
    if later is None:
        return "unknown_message", f"the record has no message {refuted.by}"
    if message and message.speaker in OF_PERSON:
        return "refutes_a_person", "a message of the person is not refuted"
    if message and later.number <= message.number:
        return "refuted_before", f"{refuted.by} is not later"
    return None


def check_answer(answer: Answer, record: Record, exists: Callable[[str], bool]) -> Answer:
    """Return what holds against the *record*, with a refusal for each part that does not.

    *exists* tells whether a path of the project is there. Other files than those and the ones of
    the session are left out of the lessons, and commands that it did not run.
    """
    lessons, refuted, refusals = [], [], [*answer.refusals]
    for lesson in answer.lessons:
        failed = ((check.__name__, check(lesson, record)) for check in CHECKS)
        check, why = next((each for each in failed if each[1]), ("", None))
        if why:
            refusals.append(Refusal(check=check, why=why, subject=_shown(lesson.text)))
        else:
            lessons.append(with_real_places(lesson, record, exists))
    for each in answer.refuted:
        if refusal := check_refuted(each, record):
            refusals.append(refusal)
        else:
            refuted.append(each)
    return Answer(lessons=tuple(lessons), refuted=tuple(refuted), refusals=tuple(refusals))


def with_real_places(lesson: Lesson, record: Record, exists: Callable[[str], bool]) -> Lesson:
    files = (os.path.normpath(path) for path in lesson.files)
    ran = [" ".join(command.split()) for command in record.commands]
    return replace(
        lesson,
        files=tuple(
            path for path in files if _is_inside(path) and (path in record.files or exists(path))
        ),
        commands=tuple(command for command in lesson.commands if _was_run(command, ran)),
        relations=tuple((name, id.strip("()")) for name, id in lesson.relations),
    )


def _is_inside(path: str) -> bool:
    return path != "." and not path.startswith(("..", "/", "~"))


def _was_run(command: str, ran: Iterable[str]) -> bool:
    return any(_runs(command.strip("`$ "), line) for line in ran)


def _runs(command: str, line: str) -> bool:
    """Tell whether a line has the command in it, from one word to another."""
    return re.search(rf"(?<![^\s;&|(]){re.escape(command)}(?![^\s;&|)])", line) is not None


def _shown(text: str) -> str:
    return preview(text, SHOWN_CHARS)
