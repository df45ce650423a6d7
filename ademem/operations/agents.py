"""The kinds of agents that work in a project: what a person wants each to be."""

from __future__ import annotations

from ademem.core import json_text, who
from ademem.core.errors import NotFound, UsageError
from ademem.core.redaction import redact
from ademem.store import briefs, identities
from ademem.store.identities import FIELDS, TEXTS, Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime

MOST_CHARS = 2000
"""Of a field, as text or as JSON."""


def get_agent(runtime: Runtime, name: str) -> Identity:
    """Return what is known of an agent; raises NotFound."""
    found = identities.get(runtime.store, name)
    if found is None:
        hint = "`ademem agents` lists those that worked here, `ademem agents set` adds one"
        raise NotFound(f"no agent {name!r} is known", hint)
    return found


def set_agent(runtime: Runtime, name: str, field: str, text: str) -> Identity:
    """Set a field of an agent, in words or as a JSON object; an empty text empties it.

    Raises UsageError for another field or a longer text, and NotByPerson for whoever is not one, as
    a subagent is briefed with its persona and preferences as the person's word.
    """
    if not name.strip():
        raise UsageError("an agent has a name", "name its kind, as the client calls it")
    if field not in FIELDS:
        raise UsageError(f"an agent has no field {field!r}", f"use one of {', '.join(FIELDS)}")
    if len(text) > MOST_CHARS:
        raise UsageError(f"a field holds {MOST_CHARS} characters", "say it shorter")
    who.require_person(runtime.by, "saying what an agent is")
    value = _to_store(field, redact(text.strip()).text)
    with runtime.store.transaction():
        briefs.register_agent(runtime.store, name, runtime.clock())
        identities.put(runtime.store, name, field, value, runtime.clock())
    return get_agent(runtime, name)


def _to_store(field: str, text: str) -> str | None:
    if field in TEXTS:
        return text or None
    if not text.startswith("{"):
        return json_text.flat({identities.TEXT: text} if text else {})
    try:
        value = json_text.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is no JSON: {error}", "give words, or a whole object") from None
    if not isinstance(value, dict):
        raise UsageError("this is no JSON object", "give words, or a whole object")
    return text
