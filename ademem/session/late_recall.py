"""Beside PostToolUse: recall for a prompt whose search took longer than its hook may.

The text reaches a later request of the turn. A turn that has ended is left alone, as it would begin
again for it.
"""

from __future__ import annotations

from ademem.session import linked_files, shell_notes, user_prompt_submit
from ademem.session.turn_tracking import key_of
from ademem.store import injections, logs, sessions, turns
from ademem.store.injections import place_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime

WAIT_S = 2.0
"""Longest wait for a process that has the model; to load it takes about a second."""


def handle(payload: Payload, runtime: Runtime) -> str | None:
    key = key_of(payload, runtime)
    if key.agent_id or not shell_notes.take_late(runtime.project, key):
        return None
    prompt = sessions.find_prompt(runtime.store, key.session_id, key.prompt_id)
    ranked = _rank(prompt, payload.cwd, runtime) if prompt else None
    if not ranked:
        return None
    loaded = linked_files.loaded_ids(runtime)
    hits, left_out = user_prompt_submit.choose(ranked, key, loaded, runtime)
    turn = turns.get(runtime.store, key)
    if not hits or turn is None or turns.has_ended(runtime.store, key):
        return None
    from ademem.core import untrusted
    from ademem.session import hint_events

    memories = [memory for memory, _ in hits]
    entries = hint_events.format_entries(memories, runtime.store, untrusted.SHORT_CHARS)
    text = "\n".join(user_prompt_submit.describe(entries))
    with runtime.store.transaction():
        shown = [logs.Shown(memory_id=memory.id, score=score) for memory, score in hits]
        logs.log_shown(runtime.store, "prompt", shown, runtime.now, key=key)
        placed = [*place_entries(memories, entries, "recalled"), *left_out]
        keep = all(memory.shown_scope != "personal" for memory in memories)
        injections.record(runtime, "user_prompt_submit", text, key, placed, keep_text=keep)
    return text


def _rank(prompt: str, cwd: str, runtime: Runtime) -> list[user_prompt_submit.Ranked] | None:
    """Ask the process with the model, or load it here."""
    found = user_prompt_submit.rank_by_meaning(prompt, cwd, runtime, WAIT_S)
    if found is not None:
        return found
    from ademem.search import embedding

    embedder = embedding.load_pair(runtime.settings.embed, runtime.environment)
    return user_prompt_submit.rank(prompt, cwd, runtime, embedder) if embedder else None
