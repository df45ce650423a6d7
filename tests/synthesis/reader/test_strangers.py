"""Ten sessions of an author who had seen no code, played again: what is kept, and what wrongly."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path

from tests.capture.talk import Talk

SESSIONS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "strangers/sessions.jsonl").read_text().splitlines()
]
LESSONS = [lesson for case in SESSIONS for lesson in case["keep"]]
FORMS = {"pasted": "```\n{}\n```", "machine": "<task-notification>{}</task-notification>"}


class Stage:
    """A session that is played again row by row: the client's transcript, and its hooks."""

    def __init__(self, world, case):
        self.world, self.case = world, case
        self.talk = Talk(f"s{case['session']}")
        self.results = {row["id"]: row for row in case["rows"] if row["row"] == "result"}
        self.path = world.root.parent / f"{self.talk.session}.jsonl"
        self.turn = self.last = ""

    def fire(self, event, **payload):
        turn = {"session_id": self.talk.session, "prompt_id": self.turn}
        self.world.fire(event, transcript_path=str(self.path), **turn, **payload)

    def play(self):
        self.fire("session_start", source="startup")
        for at, row in enumerate(self.case["rows"]):
            if row["row"] == "call":
                self.call(row)
            elif row["row"] == "claude":
                self.talk.says(row["text"])
                self.last = row["text"]
            elif row["row"] != "result":
                self.type(FORMS.get(row["row"], "{}").format(row["text"]), f"p{at}")
        self.fire("stop", last_assistant_message=self.last)
        self.talk.write(self.path)
        self.fire("session_end", reason="prompt_input_exit")

    def type(self, text, prompt_id):
        if self.turn:
            self.fire("stop", last_assistant_message=self.last)
        self.turn = prompt_id
        self.talk.types(text, promptId=prompt_id)
        self.fire("user_prompt_submit", prompt=text)

    def call(self, row):
        came = self.results[row["id"]]
        self.talk.does(row["tool"], came["text"], failed=not came["ok"], **row["input"])
        call = {"tool_name": row["tool"], "tool_input": row["input"], "tool_use_id": row["id"]}
        self.fire("pre_tool_use", **call)
        if came["ok"]:
            self.fire("post_tool_use", **call, tool_response={"stdout": came["text"]})
        else:
            self.fire("post_tool_use_failure", **call, error=f"Exit code 1\n{came['text']}")


def lessons_in(text):
    """The lessons of an author that a text may hold, by their telling words."""
    return [
        lesson["quote"]
        for lesson in LESSONS
        if any(needle.casefold() in text.casefold() for needle in lesson["needles"])
    ]


def play_all(world, after):
    """What is remembered then, but for episodes."""
    for case in SESSIONS:
        stage = Stage(world, case)
        stage.play()
        after(stage)
    return [memory for memory in world.live() if memory.category != "episode"]


def count(memories):
    kept = {lesson for memory in memories for lesson in lessons_in(memory.content)}
    others = [memory for memory in memories if not lessons_in(memory.content)]
    return len(kept), len(others)


def answer_from(held, lessons_of):
    """Let the double answer the record that it was asked, and read the session again."""

    def read(stage):
        held.world.work()
        asked = held.asked()[-1]["record"]
        answer = {"lessons": lessons_of(stage, held.record(stage.talk.session)), "refuted": []}
        digest = hashlib.sha256(asked.encode()).hexdigest()
        (held.folder / f"{digest}.json").write_text(json.dumps(answer), encoding="utf-8")
        held.world.now += timedelta(minutes=5)
        held.world.work()

    return read


def lesson(record, quote, kind):
    found = [each.id for each in record.messages if fold(quote) in fold(each.text)]
    evidence = [{"m": (found or ["m1"])[0], "quote": quote}]
    return {"text": quote, "kind": kind, "scope": "project", "evidence": evidence}


def fold(text):
    return " ".join(text.split()).casefold()


def test_without_the_reader(world):
    world.environment["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    found = play_all(world, lambda _stage: world.work())
    kept, others = count(found)

    assert {memory.status for memory in found} == {"candidate"}
    assert kept >= 7
    assert others <= 16


def test_with_a_reader_that_finds_each_lesson_and_what_is_none(held):
    def answer(stage, record):
        right = [lesson(record, each["quote"], each["kind"]) for each in stage.case["keep"]]
        return right + [lesson(record, needle, "fact") for needle in stage.case["not"]]

    found = play_all(held.world, answer_from(held, answer))
    kept, others = count(found)
    stages = {memory.content: memory.stage for memory in found}

    assert {memory.status for memory in found} == {"candidate"}
    assert kept >= 18
    assert others <= 19  # a few words of a message are a quote of it
    assert stages["so the two changes stay together"] == "candidate", "said by Claude alone"
    supported = [memory for memory in found if memory.stage == "supported"]
    assert count(supported) == (8, 0), "a few words that state nothing are no word of a person"
