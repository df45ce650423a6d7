"""Read the stretch of a transcript around a call or a prompt, when somebody opens it."""

from __future__ import annotations

import os
from collections import deque

from ademem.capture import transcript
from ademem.capture.teaching import may_teach
from ademem.capture.transcript import Call, Interruption, MachineText, Message, Prompt, Result
from ademem.core import client
from ademem.core.errors import NotFound, suppress
from ademem.core.redaction import redact
from ademem.core.text import preview
from ademem.core.value import Value
from ademem.plugins.replay.counting import describe
from ademem.plugins.replay.transcripts import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.capture.transcript import Event

AROUND = 5
"""Rows before and after."""
TEXT_CHARS = 600


class Line(Value):
    kind: str
    """You | Claude | call | result | interrupted | client."""
    text: str
    """Redacted, and cut."""
    at: str
    is_meant: bool = False


def check_place(path: str, environment: Mapping[str, str]) -> str:
    """Return the path of a transcript; raise NotFound for any other file."""
    folder = os.path.realpath(os.path.join(client.config_dir(environment), "projects"))
    real = os.path.realpath(path)
    if not real.startswith(folder + os.sep) or not real.endswith(SUFFIX):
        raise NotFound("this is no transcript of the client")
    return real


def read_around(
    path: str, environment: Mapping[str, str], *, call: str = "", at: str = ""
) -> list[Line]:
    """Return the rows around a call by its id, or around what was typed at a time.

    Raises NotFound where the transcript or the row is gone.
    """
    place = check_place(path, environment)
    for each in (place, *transcript.subagent_transcripts(place)):
        if found := _find(each, call, at):
            return found
    raise NotFound("the transcript is gone, or has no such row any more")


def _find(path: str, call: str, at: str) -> list[Line]:
    before: deque[Line] = deque(maxlen=AROUND)
    try:
        events = iter(transcript.events(path))
        for event in events:
            if _is_meant(event, call, at):
                return [*before, _as_line(event, is_meant=True), *_take(events)]
            before.append(_as_line(event))
    except OSError:
        return []
    return []


def _take(events: Iterator[Event]) -> Iterable[Line]:
    for _, event in zip(range(AROUND), events, strict=False):
        yield _as_line(event)


def _is_meant(event: Event, call: str, at: str) -> bool:
    if call:
        return isinstance(event, Call) and event.id == call
    return isinstance(event, Prompt) and event.at == at


def _as_line(event: Event, *, is_meant: bool = False) -> Line:
    match event:
        case Prompt(text=text):
            kind = "You"
        case Message(text=text):
            kind = "Claude"
        case Call():
            kind, text = "call", describe(event)
        case Result(text=text):
            kind = "failed" if event.failed else "result"
        case MachineText(text=text):
            kind = "client"
        case Interruption():
            kind, text = "interrupted", ""
    return Line(kind=kind, text=_show(text), at=event.at, is_meant=is_meant)


def _show(text: str) -> str:
    return preview(redact(text).text, TEXT_CHARS)


def read_sentence(path: str, environment: Mapping[str, str], at: str) -> str:
    """Return the sentence of the prompt of a time that may be added; raises NotFound."""
    place = check_place(path, environment)
    with suppress(OSError):
        for event in transcript.events(place):
            if isinstance(event, Prompt) and event.at == at and (found := may_teach(event.text)):
                return redact(found).text
    raise NotFound("the transcript is gone, or has no such prompt any more")
