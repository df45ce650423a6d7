"""Continuity at a compaction: the last words before it stay in the log of the day."""

from __future__ import annotations

from contextlib import suppress

from ademem.capture import transcript
from ademem.capture.transcript import Message, Prompt
from ademem.core.redaction import redact
from ademem.files.markdown import one_line
from ademem.store import sessions
from ademem.store.runtime import Runtime
from ademem.sync import daily

TEXT_CHARS = 180
"""Of the person's latest text, and of the agent's."""


def append_checkpoint(session_id: str, runtime: Runtime) -> None:
    """Write what was said last before a session's last compaction into the log of its day, once.

    A prompt is left out where `capture.prompts` is off.
    """
    session = sessions.get(runtime.store, session_id)
    if session is None or not session.compacted_at:
        return
    said: dict[type[object], str] = {}
    with suppress(OSError):
        for event in transcript.events(session.transcript, since=session.own_since):
            if isinstance(event, Prompt | Message) and event.at <= session.compacted_at:
                said[type(event)] = one_line(redact(event.text).text, TEXT_CHARS)
    if not runtime.settings.capture.prompts:
        said.pop(Prompt, None)
    parts = ((Prompt, "person"), (Message, "agent"))
    texts = [f"{name}: {said[kind]}" for kind, name in parts if said.get(kind)]
    if texts:
        text = f"compacted; {' / '.join(texts)}"
        daily.append_lines(runtime.project, [(session.compacted_at, text)])
