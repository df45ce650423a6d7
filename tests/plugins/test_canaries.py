"""Keys in every argument of tools and methods, and a personal text through all of them."""

import io
import json
from itertools import cycle, islice
from pathlib import Path

from ademem.core.trust import personal_folder
from ademem.operations import browsing, files
from ademem.plugins.ade.methods import METHODS
from ademem.plugins.engram import exchanging
from ademem.plugins.mcp.tools import choose
from tests.canaries import CANARIES, found_below, sentence
from tests.examples import FULL
from tests.plugins.three import Doors

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "The parser of invoices reads tokens of at most 64 bytes"
OWN = "My canary sings at dawn, whatever the release does"
KEYS = list(CANARIES.values())
TOOLS = choose("all", read_only=False)
STARTING = ("downloadEmbeddingModel", "reindexSkills", "syncKnowledge")
"""Methods that start a process or read the folder, and take no text but paths."""
IDS = ("id", "other", "observation_id", "memory_id_a", "memory_id_b")


class Place(Doors):
    """The doors of a project with two confirmed memories, a session and a pair that waits."""

    def __init__(self, world):
        world.configure("[doors]\nwrites_per_minute = 1000000\n")
        del world.environment["CLAUDE_CODE_SESSION_ID"]
        world.know(LESSON, OTHER)
        super().__init__(world.root, world.environment, tools="all")
        self.known = {"id": world.live()[0].id, "other": world.live()[1].id}

    def operations(self):
        """Yield each operation: its name, the schema of its arguments, and how it is called."""
        for tool in TOOLS:
            yield tool.name, tool.input_schema, lambda name, given: self._mcp(name, **given)
            yield f"ademem.{tool.name}", tool.input_schema, self.rpc
        for method in METHODS:
            if not method.name.endswith(STARTING):
                yield method.name, method.params, self.rpc

    def rpc(self, name, given):
        asked = {"jsonrpc": "2.0", "id": 1, "method": name, "params": given}
        out = io.BytesIO()
        self.server.serve(io.BytesIO(json.dumps(asked).encode() + b"\n"), out)
        return out.getvalue().decode()

    def fill(self, schema):
        """Return valid arguments: all that are texts or required."""
        return {
            name: self.value(name, each)
            for name, each in schema["properties"].items()
            if name in schema.get("required", ()) or takes_text(each)
        }

    def value(self, name, schema):
        if name in IDS:
            return self.known["other" if name in ("other", "memory_id_b") else "id"]
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case "array":
                return [OTHER]
            case "object":
                return {"projectSummary": OTHER, "notes": [OTHER]}
        return {"project": "", "session_id": "e1"}.get(name, OTHER)


def takes_text(schema):
    return schema.get("type") in ("string", "array", "object") and "enum" not in schema


def put(value, text):
    """Replace each text in a value."""
    if isinstance(value, dict):
        return {key: put(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [put(each, text) for each in value]
    return text if isinstance(value, str) else value


def with_canaries(given, schema, key, text):
    """Yield the arguments with a key in each text in turn, in all of them, and in a name."""
    for name, value in given.items():
        if takes_text(schema["properties"][name]):
            yield given | {name: put(value, key)}
            yield given | {name: put(value, text)}
    yield put(given, text)
    yield given | {key: "x"}


def test_no_key_in_an_argument_of_a_tool_or_a_method_is_in_a_file(world):
    keys = cycle((sentence(number, each), "".join(each)) for number, each in enumerate(KEYS))
    with Place(world) as place:
        asked = 0
        for name, schema, call in place.operations():
            given = place.fill(schema)
            for text, key in list(islice(keys, len(KEYS) if FULL else 1)):
                for arguments in with_canaries(given, schema, key, text):
                    call(name, arguments)
                    asked += 1
        stored = world.row("select count(*) from unified_memories")[0]

    assert asked > 500
    assert stored > 10
    assert found_below(world.root.parent) == {}


def test_a_personal_text_is_in_no_file_but_the_persons_own_database(world):
    with Place(world) as place:
        ways = {
            "memory_add": {"content": OWN, "scope": "personal"},
            "mem_save": {"title": "Canary", "content": f"{OWN} indeed", "scope": "personal"},
            "ademem.mem_save": {"title": "Own", "content": f"{OWN}, it does", "scope": "global"},
        }
        calls = {name: (schema, call) for name, schema, call in place.operations()}
        for name, given in ways.items():
            calls[name][1](name, given)
        with world.memories() as memories:
            found = browsing.find(memories, OWN)["memories"]
        own = [each for each in found if each.get("scope") == "personal"]
        assert len(own) == len(ways)
        for name, (schema, call) in calls.items():
            place.known["id"] = own[0]["id"]
            given = place.fill(schema) | ({"scope": "personal"} if is_scoped(schema) else {})
            is_own = is_scoped(schema) or given.keys() & set(IDS)
            call(
                name,
                (put(given, OWN) if is_own else given) | {n: given[n] for n in given if n in IDS},
            )
        with world.memories() as memories:
            files.refresh_files(memories)
            told = json.dumps(list(files.export_memories(memories)))
            told += json.dumps(exchanging.export(memories))

    assert "canary sings" not in told
    own = Path(personal_folder(world.environment))
    holding = [
        path
        for path in world.root.parent.rglob("*")
        if path.is_file() and b"canary sings" in path.read_bytes().lower()
    ]
    assert holding
    assert all(path.parent == own for path in holding), holding


def is_scoped(schema):
    return "personal" in schema["properties"].get("scope", {}).get("enum", ())
