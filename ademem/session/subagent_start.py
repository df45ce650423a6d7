"""SubagentStart: begin a turn for the subagent, with a briefing."""

from __future__ import annotations

from ademem.core import client
from ademem.core.client import Payload, TurnKey
from ademem.core.repository import branch
from ademem.files import project_brief
from ademem.search import reader_lists
from ademem.session import briefing
from ademem.session.briefing import make_reader
from ademem.session.turn_tracking import set_flag
from ademem.store import briefs, identities, injections, logs, turns
from ademem.store.runtime import Runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.files.project_brief import FileSource


def handle(payload: Payload, runtime: Runtime) -> str:
    """Return the briefing for this type of agent; its turn has the class of the main turn.

    After a compaction of its conversation SessionStart asks for the briefing again.
    """

    def source(path: str) -> FileSource:
        from ademem.sync.provenance import provenance_of  # only for a file that was edited

        return provenance_of(runtime).of_brief(path)

    store = runtime.store
    is_new = payload.source != "compact"
    key = TurnKey(session_id=payload.session_id, agent_id=payload.agent_id)
    main = turns.get(store, TurnKey(session_id=payload.session_id, prompt_id=payload.prompt_id))
    here = branch(runtime.project.root)
    reader = make_reader(payload, runtime, here, agent=payload.agent_type or None)
    own = identity = None
    if payload.agent_type:
        folder = project_brief.agent_folder(payload.agent_type)
        own = project_brief.agent_brief(store, runtime.project, folder, source)
        identity = identities.get(store, payload.agent_type)
    brief = briefing.agent(reader, program(runtime.environment), own, identity)
    with store.transaction():
        if turns.get(store, key) if is_new else not logs.note_compaction(store, key, runtime.now):
            return ""  # another installation of the hook handled it
        if is_new and payload.agent_type:
            briefs.register_agent(store, payload.agent_type, runtime.now)
            identities.note_start(store, payload.agent_type, payload.session_id, runtime.now)
        if is_new and main:
            turns.begin(store, key, main.turn_class, main.why, main.hint, runtime.now)
        shown = [logs.Shown(memory_id=memory.id) for memory in brief.shown]
        logs.log_shown(store, "agent", shown, runtime.now, key=key)
        event = "subagent_start" if is_new else "session_start"
        injections.record(runtime, event, brief.text, key, brief.placed)
    if is_new:
        set_flag(key, runtime)
    else:
        reader_lists.remove(runtime.project, key)
    return client.context("SubagentStart" if is_new else "SessionStart", brief.text)
