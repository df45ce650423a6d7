"""What is known of each kind of agent: who it is, and what the person wants of it."""

from __future__ import annotations

from ademem.core import json_text
from ademem.core.clock import datetime, stamp
from ademem.core.redaction import redact
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


class Identity(Value):
    """A row of `agent_identities`."""

    name: str
    profile: dict[str, object]
    persona: dict[str, object]
    tool_policy: dict[str, object]
    user_preferences: dict[str, object]
    heartbeat: dict[str, object] | None
    """Its last session: `session_id` and `started_at`."""
    model_preference: str | None
    created_at: str
    updated_at: str


TEXT = "text"
"""Key of a field that a person gave as plain words."""

OBJECTS = ("profile", "persona", "tool_policy", "user_preferences")
TEXTS = ("model_preference",)
FIELDS = (*OBJECTS, *TEXTS)
"""What a person sets."""


def get(store: Store, name: str) -> Identity | None:
    row = store.db.execute(
        "select name, profile_json, persona_json, tool_policy_json, user_preferences_json,"
        " heartbeat_json, model_preference, created_at, updated_at from agent_identities"
        " where project_id = ? and name = ?",
        (store.project_id, redact(name).text),
    ).fetchone()
    return _identity(row) if row else None


def put(store: Store, name: str, field: str, text: str | None, now: datetime) -> None:
    """Set one of FIELDS of an agent that is registered: all but the model are JSON objects."""
    column = field if field in TEXTS else f"{field}_json"
    store.db.execute(
        f"update agent_identities set {column} = ?, updated_at = ?"
        " where project_id = ? and name = ?",
        (text, stamp(now), store.project_id, redact(name).text),
    )


def note_start(store: Store, name: str, session_id: str, now: datetime) -> None:
    """Move the heartbeat of an agent whose session starts."""
    beat = json_text.flat({"session_id": session_id, "started_at": stamp(now)})
    store.db.execute(
        "update agent_identities set heartbeat_json = ?, updated_at = ?"
        " where project_id = ? and name = ?",
        (beat, stamp(now), store.project_id, redact(name).text),
    )


def describe(value: dict[str, object]) -> str:
    """Return a field in words, its plain text first: `Asks for a test first; tone: terse`."""
    others = (f"{key}: {_words(each)}" for key, each in value.items() if key != TEXT)
    return "; ".join((*filter(None, [_words(value.get(TEXT, ""))]), *others))


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    import json  # which only an adopted database needs

    return json.dumps(value, ensure_ascii=False)


def _identity(row: sqlite3.Row) -> Identity:
    values = dict(row)
    heartbeat = values.pop("heartbeat_json")
    values |= {name: _object(values.pop(f"{name}_json")) or {} for name in OBJECTS}
    return Identity(**values, heartbeat=_object(heartbeat))


def _object(text: str | None) -> dict[str, object] | None:
    """Read a JSON object; whatever else an adopted database holds there is kept as its text."""
    try:
        value = json_text.loads(text) if text else None
    except (ValueError, RecursionError):
        value = text
    return value if value is None or isinstance(value, dict) else {TEXT: value}
