"""Two projects that live the same, in one of which the shell asks Python at each event.

Where the shell of the other lets an event through, Python has nothing to say: both are compared
event by event. The transcript grows as the client's does.
"""

import json
import os
import subprocess
from pathlib import Path
from uuid import UUID

from tests.strangers.places import BY_PERSON
from tests.world import World

HOOKS = Path(__file__).parents[2] / "hooks"
ASK = 'trap "exit 0" 0; hook=$1 python=/bin/echo hooks=$2; . "$2/start.sh"'
"""Runs the shell part of a hook; where Python would start, its command line is printed."""
SHELL = ("pre_tool_use", "post_tool_use", "post_tool_batch", "stop")
TOOLS = {"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"}
"""Tools with hooks before and after a call."""


def shell_asks(world, event, payload):
    is_command = event == "pre_tool_use" and b'"tool_name":"Bash"' in payload
    hook = "pre_command" if is_command else event  # as it is registered
    done = subprocess.run(
        ["sh", "-c", ASK, "sh", hook, HOOKS],
        input=payload,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(world.root)},
        check=True,
    )
    assert not done.stderr, done.stderr
    return bool(done.stdout)


class Twins:
    def __init__(self, folder, files=()):
        self.worlds = [World(folder / name / "project") for name in ("shell", "python")]
        for world in self.worlds:
            world.environment["ADEMEM_JOBS_AUTO"] = "true"
            subprocess.run(["git", "init", "-q", world.root], check=True)
            for path, text in dict(files).items():
                self.write(path, text)
        self.turn = self.uuid = 0
        self.last = None
        self.passed, self.asked, self.answers, self.differing = 0, 0, 0, []
        self.open = []

    def write(self, path, text):
        for world in self.worlds:
            (world.root / path).parent.mkdir(parents=True, exist_ok=True)
            (world.root / path).write_text(text)

    def know(self, text, *places):
        for world in self.worlds:
            anchors = tuple(f"@ {place}" for place in places)
            world.know(text, anchors=anchors, origin=BY_PERSON)

    def begin(self):
        """Start the session, with a connection that keeps the database's log as a client's does."""
        self.fire("session_start", source="startup")
        for world in self.worlds:
            world.work()
            self.open.append(world.memories())
        self.fire("stop", last_assistant_message="")

    def prompt(self, text):
        self.turn += 1
        self.fire("user_prompt_submit", prompt=text)
        self.record("user", text)

    def call(self, tool, given, response="ok", *, failed=False):
        """Make a call, and once more where it was denied."""
        for _ in range(2):
            id = f"toolu_{self.fresh()}"
            call = {"tool_name": tool, "tool_input": given, "tool_use_id": id}
            self.record("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": given}])
            said = self.fire("pre_tool_use", **call) if tool in TOOLS else ""
            if '"deny"' not in said:
                break
            self.fire("post_tool_batch", tool_calls=[call])
        if tool in TOOLS and failed:
            self.fire("post_tool_use_failure", error=response, **call)
        elif tool in TOOLS:
            self.fire("post_tool_use", tool_response={"stdout": response}, **call)
        self.fire("post_tool_batch", tool_calls=[call])
        self.record("user", [{"type": "tool_result", "tool_use_id": id, "content": response}])

    def stop(self, message="Done."):
        self.record("assistant", [{"type": "text", "text": message}])
        self.fire("stop", last_assistant_message=message)

    def fire(self, event, **payload):
        """Return what both hear; a difference is noted."""
        for world in self.worlds:
            world.now = max(each.now for each in self.worlds)
        said = [self._fire(world, event, payload) for world in self.worlds]
        roots = [str(world.root) for world in self.worlds]
        plain = [text.replace(root, "/project") for text, root in zip(said, roots, strict=True)]
        self.answers += bool(plain[1])
        if plain[0] != plain[1]:
            self.differing.append((event, payload, *plain))
        return said[1]

    def payload(self, world, payload):
        head = {
            "session_id": "s1",
            "transcript_path": self._transcript(world),
            "cwd": str(world.root),
            "prompt_id": f"turn-{self.turn}",
            "permission_mode": "default",
        }
        text = json.dumps(head | payload, ensure_ascii=False, separators=(",", ":"))
        return text.replace("/project/", f"{world.root}/").encode()

    def _fire(self, world, event, payload):
        raw = self.payload(world, payload)
        if world is self.worlds[0] and event in SHELL:
            if not shell_asks(world, event, raw):
                self.passed += 1
                return ""
            self.asked += 1
        return world.fire(event, raw=raw)

    def record(self, who, content):
        uuid = self.fresh()
        row = {"parentUuid": self.last, "isSidechain": False, "type": who, "uuid": uuid}
        row |= {"message": {"role": who, "content": content}, "promptId": f"turn-{self.turn}"}
        self.last = uuid
        for world in self.worlds:
            with open(self._transcript(world), "a") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")

    def close(self):
        for each in self.open:
            each.close()

    def fresh(self):
        self.uuid += 1
        return str(UUID(int=self.uuid))

    def _transcript(self, world):
        return f"{world.root.parent}/transcript.jsonl"
