"""`ademem agents`: the kinds of agents that worked here, and what a person wants each to be."""

from __future__ import annotations

from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import on_project
from ademem.doors.cli.options import argument
from ademem.operations import agents, files
from ademem.store import identities
from ademem.store.identities import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.files.project_brief import Agent
    from ademem.store.identities import Identity
    from ademem.store.runtime import Runtime


@on_project("agents show")
def show_agents(
    memories: Runtime, name: str = argument("NAME", "An agent; none lists them.", "")
) -> None:
    """Show an agent: who it is, what you prefer, its last session."""
    if not name:
        worked = files.list_agents(memories)
        return show.listing("agents", worked, agent_lines, "no agent worked here yet")
    found = agents.get_agent(memories, name)
    return show.report(as_dict(found), _lines(found), fence=True)


@on_project("agents set")
def set_agents(
    memories: Runtime,
    name: str = argument("NAME", "Kind of the agent, as the client names it."),
    field: str = argument("FIELD", f"{', '.join(FIELDS)}."),
    text: str = argument("TEXT", "Words, or a JSON object; none empties it.", ""),
) -> None:
    """Say what an agent is; its brief has persona and preferences."""
    found = agents.set_agent(memories, name, field, text)
    show.report(as_dict(found), _lines(found), fence=True)


def agent_lines(agent: Agent) -> Iterator[str]:
    brief = f"brief at version {agent.version}" if agent.version else "no brief"
    memories = counted(agent.memories, "memory")
    yield f"{agent.name}: {memories}, {brief} (.ade/agents/{agent.folder})"


def _lines(found: Identity) -> Iterator[str]:
    yield found.name
    for field in identities.OBJECTS:
        if said := identities.describe(getattr(found, field)):
            yield f"  {field.replace('_', ' ')}: {said}"
    if found.model_preference:
        yield f"  model preference: {found.model_preference}"
    if found.heartbeat:
        yield f"  last session: {identities.describe(found.heartbeat)}"
