"""Which project and which session a call belongs to."""

import pytest

from ademem import operations
from ademem.plugins.mcp.access import Caller
from tests.plugins.mcp.conftest import unpack
from tests.world import World

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"


@pytest.fixture
def several(tmp_path):
    """A folder that is no project, with two that are."""
    folder = tmp_path / "work"
    for name in ("left", "right"):
        (folder / name).mkdir(parents=True)
        operations.init(str(folder / name))
    return folder


def found(cwd, root=None, roots=None, **environment):
    caller = Caller(root, environment, str(cwd))
    caller.roots = roots
    projects, how = caller.find()
    return how, [each.name for each in projects]


def test_the_first_source_that_names_a_project_decides(several):
    left, right = str(several / "left"), str(several / "right")

    assert found(several, left, [right], ADEMEM_PROJECT=right) == ("--project", ["left"])
    assert found(left, ADEMEM_PROJECT=right) == ("ADEMEM_PROJECT", ["right"])
    assert found(left, CLAUDE_PROJECT_DIR=right) == ("CLAUDE_PROJECT_DIR", ["right"])
    assert found(left, roots=[right, str(several.parent)]) == ("roots", ["right"])
    assert found(f"{left}/.ade") == ("cwd", ["left"])
    assert found(several) == ("cwd", ["left", "right"])
    assert found(several.parent / "nowhere") == ("cwd", [])


def test_the_home_folder_is_no_project_unless_named(home):
    operations.init(str(home))

    assert found(home) == ("cwd", [])
    assert found("/", str(home)) == ("--project", [home.name.replace("_", "-")])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_one_enrolled_folder_among_those_of_the_client_is_the_project(serve, several, mode):
    from mcp_types import ListRootsResult, Root

    asked = []

    async def roots(context):
        asked.append(1)
        folders = (several / "left", several.parent / "a%20b")
        return ListRootsResult(roots=[Root(uri=f"file://{folder}") for folder in folders])

    async def scenario(client):
        first = unpack(await client.call_tool("memory_status", {}))
        await client.call_tool("memory_status", {})
        return first

    status = serve(scenario, mode=mode, cwd=several, named=False, list_roots_callback=roots)
    assert (status.project, status.how) == ("left", "roots")
    assert len(asked) == 1


def test_of_several_projects_reads_ask_each_and_writes_have_to_name_one(call, several):
    place = {"cwd": several, "named": False}
    refused = call("memory_add", {"content": LESSON}, **place)
    for name in ("left", "right"):
        call("memory_add", {"content": f"{LESSON} {name}", "project": name}, **place)
    hits = call("memory_search", {"query": "mirror releases"}, **place)
    one = call("memory_search", {"query": "mirror releases", "project": "right"}, **place)

    page = call("memory_search", {"query": "mirror releases", "limit": 1}, **place)
    rest = {"query": "mirror releases", "limit": 1, "cursor": page.next_cursor}
    rows = [*page.memories, *call("memory_search", rest, **place).memories]

    assert sorted(row["project"] for row in rows) == ["left", "right"]
    assert (refused.is_error, refused.rule) == (True, "project")
    assert "left" in refused.why
    assert "right" in refused.why
    assert {hit["project"]: hit["text"] for hit in hits.memories} == {
        name: f"{LESSON} {name}" for name in ("left", "right")
    }
    assert (one.project, one.total) == ("right", 1)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("action", "names"), [("accept", ["right"]), ("decline", []), ("accept", ["elsewhere"])]
)
def test_a_person_may_choose_among_several_projects_for_a_write(call, several, mode, action, names):
    from mcp_types import ElicitResult

    asked = []

    async def choose(context, params):
        asked.append(params.requested_schema["properties"]["project"]["enum"])
        return ElicitResult(action=action, content={"project": names[0]} if names else None)

    place = {"cwd": several, "named": False, "mode": mode, "elicitation_callback": choose}
    written = call("memory_add", {"content": LESSON}, **place)
    read = call("memory_search", {"query": "mirror", "candidates": True}, **place)

    assert asked == [["left", "right"]]
    if names == ["right"]:
        assert (written.is_error, written.project) == (False, "right")
        assert [(row["project"], row["by"]) for row in read.memories] == [("right", "agent")]
    else:
        assert (written.rule, read.memories) == ("project", [])


def test_without_a_project_reads_are_empty_and_writes_refused(call, tmp_path):
    (tmp_path / "empty").mkdir()
    place = {"cwd": tmp_path / "empty", "named": False}
    read = call("memory_search", {"query": "x"}, **place)
    written = call("memory_add", {"content": LESSON}, **place)

    assert (read.is_error, read.memories, read.next) == (False, [], "ademem init")
    assert (written.is_error, written.rule, written.next) == (True, "project", "ademem init")


@pytest.mark.parametrize(
    ("meta", "environment", "session"),
    [
        pytest.param({"claudecode/toolUseId": "t1"}, {}, "s7", id="the hook's word"),
        pytest.param({"claudecode/toolUseId": "t1"}, {"x": "old"}, "s7", id="before the client's"),
        pytest.param(
            {"x-codex-turn-metadata": {"session_id": "c1"}}, {"x": "old"}, "c1", id="Codex"
        ),
        pytest.param({"claudecode/toolUseId": "t2"}, {"x": "old"}, "old", id="no hook"),
        pytest.param({}, {}, "mcp-mcp-", id="a session of its own"),
    ],
)
def test_a_write_lands_in_the_session_that_made_it(world, call, meta, environment, session):
    world.fire(
        "pre_tool_use",
        session_id="s7",
        prompt_id="p7",
        agent_id="a7",
        agent_type="Explore",
        tool_name="mcp__ademem__memory_add",
        tool_input={},
        tool_use_id="t1",
    )
    if environment:
        world.environment["CLAUDE_CODE_SESSION_ID"] = environment["x"]
    call("memory_add", {"content": LESSON}, meta=meta)

    row = world.row("select source_session_id, agent_id from unified_memories")
    assert row[0].startswith(session)
    assert row[1] == ("a7" if session == "s7" else None)


def test_the_session_of_a_process_ends_with_it(world, call):
    call("memory_status", {})
    assert world.row("select count(*) from sessions")[0] == 0

    added = call("memory_add", {"content": LESSON})
    row = world.row("select id, ended_at is not null, last_source from sessions")
    assert tuple(row)[1:] == (1, "mcp")
    assert world.row("select source_session_id from unified_memories")[0] == row["id"]
    assert call("memory_timeline", {"id": added.id}).session["id"] == row["id"]


def test_what_a_turn_read_in_the_web_is_of_the_web(world, call):
    turn = {"session_id": "s7", "prompt_id": "p7"}
    world.fire("post_tool_use", **turn, tool_name="WebFetch", tool_input={}, tool_use_id="w")
    tool = {"tool_name": "mcp__ademem__memory_add", "tool_input": {}, "tool_use_id": "t1"}
    world.fire("pre_tool_use", **turn, **tool)
    call("memory_add", {"content": LESSON}, meta={"claudecode/toolUseId": "t1"})

    assert world.row("select trust from unified_memories")[0] == "web"


def test_no_call_ends_with_a_checkpoint_and_the_server_leaves_no_log(serve, world):
    log = world.root / ".ade/ade.db-wal"

    async def scenario(client):
        sizes = []
        for number in range(2):
            await client.call_tool("memory_add", {"content": f"Port {number}80 is for uploads"})
            sizes.append(log.stat().st_size)
        return sizes

    first, second = serve(scenario)

    assert 0 < first < second
    assert not log.exists()


@pytest.mark.parametrize("name", ["memory_search", "mem_search"])
def test_a_search_in_all_projects_names_that_of_each_memory(call, world, tmp_path, name):
    root = tmp_path / "elsewhere"
    root.mkdir()
    other = World(root)
    world.know("Deploys need a lock")
    other.know("Every lock expires at night")
    given = {"query": "lock"}

    one = call(name, given, tools="all")
    both = call(name, given | {"all_projects": True}, tools="all")
    rows = [getattr(each, "results", None) or each.memories for each in (one, both)]
    assert [len(each) for each in rows] == [1, 2]
    found = {row["text"]: row.get("project", "project") for row in rows[1]}
    assert found == {"Deploys need a lock": "project", "Every lock expires at night": "elsewhere"}
    assert other.row("select count(*) from recall_log")[0] == 0
