"""A session that a person held, and a client on PATH that answers by the digest of a record."""

from __future__ import annotations

import hashlib
import json
import os
import sys

import pytest

from ademem.store import evidence, sessions
from ademem.synthesis.reader.reading import record_session
from tests import persons
from tests.capture.talk import Talk

DOUBLE = """
import hashlib, json, os, sys
record = sys.stdin.buffer.read()
given = {"options": sys.argv[1:], "record": record.decode(), "folder": os.listdir()}
with open(f"{FOLDER}/asked", "a") as file:
    file.write(json.dumps(given) + chr(10))
try:
    with open(f"{FOLDER}/{hashlib.sha256(record).hexdigest()}.json") as file:
        answer = json.load(file)
except OSError:
    sys.exit("no answer to this record")
print(json.dumps({
    "type": "result", "subtype": "success", "is_error": False, "result": "",
    "structured_output": answer, "total_cost_usd": 0.0015,
    "usage": {"input_tokens": 7000, "output_tokens": 300}, "modelUsage": {"haiku": {}},
}))
"""
ON = '[learn]\nreader = "on"\nask = false\n'
"""Nothing is heard while the prompts are typed: what the reader finds is what it read."""


class Held:
    """One project whose sessions are read, and what its client was asked."""

    def __init__(self, world, folder):
        self.world = world
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        program = self.bin / "claude"
        head = f"#!{sys.executable} -I\nFOLDER = {str(folder)!r}"
        program.write_text(f"{head}\n{DOUBLE}", encoding="utf-8")
        program.chmod(0o755)
        world.environment["PATH"] = f"{self.bin}{os.pathsep}/usr/bin"
        world.environment.pop("CI", None)
        world.configure(ON)

    def hold(self, talk, *, session="s1", by=persons.PERSON, begin=True):
        """Hold a session: hooks see what is typed, and the client writes it down."""
        path = talk.write(self.world.root.parent / f"{session}.jsonl")
        head = {"session_id": session, "transcript_path": str(path)}
        if begin:
            self.world.fire("session_start", source="startup", **head)
        for row in talk.rows:
            if prompt_id := row.get("promptId"):
                prompt = row["message"]["content"]
                self.world.fire(
                    "user_prompt_submit", prompt=prompt, prompt_id=prompt_id, by=by, **head
                )
        self.world.fire("session_end", reason="prompt_input_exit", **head)

    def record(self, session="s1"):
        with self.world.memories() as memories:
            return record_session(sessions.get(memories.store, session), memories)

    def answers(self, *lessons, refuted=(), session="s1"):
        """Let the client answer the record of a session so."""
        digest = hashlib.sha256(self.record(session).text.encode()).hexdigest()
        answer = {"lessons": lessons, "refuted": refuted}
        (self.folder / f"{digest}.json").write_text(json.dumps(answer), encoding="utf-8")

    def asked(self):
        note = self.folder / "asked"
        return [json.loads(line) for line in note.read_text().splitlines()] if note.exists() else []

    def found(self):
        """What is live and was not there before the reader, by its text."""
        return {each.content: each for each in self.world.live() if each.source_type == "reader"}

    def evidence(self, memory):
        with self.world.memories() as memories:
            return [each.kind for each in evidence.list_of(memories.store, memory.id)]

    def refusals(self):
        query = "select decision from decision_log where source_type = 'reader' order by id"
        return [row[0] for row in self.world.rows(query)]

    def calls(self):
        return [dict(row) for row in self.world.rows("select * from ai_calls order by id")]


@pytest.fixture
def held(world, tmp_path):
    return Held(world, tmp_path.parent / f"{tmp_path.name}-client")


def talk(*prompts, session="s1"):
    """Prompts of a person, each with a short answer."""
    made = Talk(session)
    for at, prompt in enumerate(prompts, 1):
        made.types(prompt, promptId=f"p{at}").says("I see.")
    return made
