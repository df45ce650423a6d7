"""Questions with known answers, in the formats they are published in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import orjson

from ademem.core.errors import UsageError
from ademem.core.text import bytes_hex
from ademem.core.value import Value

Reader = Callable[[bytes], Iterator["Haystack"]]

APART = ("adversarial", "abstention")
"""Categories of questions that have no answer: reported, and left out of the whole."""

LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
MONTHS = (
    "january february march april may june july august september october november december".split()
)


class Item(Value):
    id: str
    text: str
    speaker: str = ""
    session: str = ""
    date: str = ""
    """ISO 8601; empty when unknown."""


class Question(Value):
    query: str
    relevant: tuple[str, ...]
    """Ids of the items that answer it, at least one."""
    category: str = ""


class Haystack(Value):
    """The items of one store, and the questions asked of it."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


class Dataset(Value):
    sha256: str
    """Of the file's bytes."""
    format: str
    haystacks: tuple[Haystack, ...]


def read(data: bytes, format: str | None = None) -> Dataset:
    """Parse a dataset; raises UsageError for another file or format."""
    if not format and data.lstrip()[:1] == b"{":  # plain lines begin with an object
        format = "jsonl"
    elif not format:
        format = "longmemeval" if b'"haystack_sessions"' in data else "locomo"
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}", ", ".join(FORMATS))
    try:
        haystacks = tuple(FORMATS[format](data))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"this is no {format} file: {error!r}", "name its format with --format"
        ) from error
    return Dataset(sha256=bytes_hex(data), format=format, haystacks=haystacks)


def plain(data: bytes) -> Iterator[Haystack]:
    """One store a line."""
    for line in data.splitlines():
        if line.strip():
            store = orjson.loads(line)
            items = tuple(
                Item(
                    id=str(memory["id"]),
                    text=_with_caption(memory["text"], memory.get("caption")),
                    speaker=memory.get("speaker") or "",
                    session=memory.get("session") or "",
                    date=memory.get("date") or "",
                )
                for memory in store["memories"]
            )
            asked = (
                (query["query"], query["relevant"], query.get("category") or "")
                for query in store["queries"]
            )
            yield _haystack(str(store["store"]), items, asked)


def locomo(data: bytes) -> Iterator[Haystack]:
    """Each turn of a conversation is an item, each evidence of a question names one."""
    for sample in orjson.loads(data):
        items = tuple(_turns(sample["conversation"]))
        asked = (
            (qa["question"], _evidence(qa.get("evidence") or ()), LOCOMO[qa["category"]])
            for qa in sample["qa"]
        )
        yield _haystack(sample["sample_id"], items, asked)


def longmemeval(data: bytes) -> Iterator[Haystack]:
    """Each question has sessions of its own; relevant are the turns marked as its answer."""
    for entry in orjson.loads(data):
        items: list[Item] = []
        answers: list[str] = []
        for name, date, turns in zip(
            entry["haystack_session_ids"],
            entry["haystack_dates"],
            entry["haystack_sessions"],
            strict=True,
        ):
            for number, turn in enumerate(turns, 1):
                id = f"{len(items)}:{name}:{number}"
                year, month, day, hour, minute = map(int, re.findall(r"\d+", date))
                items.append(
                    Item(
                        id=id,
                        text=turn["content"],
                        speaker=turn["role"],
                        session=name,
                        date=datetime(year, month, day, hour, minute).isoformat(),
                    )
                )
                if turn.get("has_answer"):
                    answers.append(id)
        wanted = set(entry["answer_session_ids"])
        answers = answers or [item.id for item in items if item.session in wanted]
        is_open = entry["question_id"].endswith("_abs")
        category = "abstention" if is_open else entry["question_type"]
        asked = ((entry["question"], answers, category),)
        yield _haystack(entry["question_id"], tuple(items), asked)


def _haystack(name: str, items: tuple[Item, ...], asked: Any) -> Haystack:
    """Evidence that nothing has is left out, and a question with none left as well."""
    ids = {item.id for item in items}
    questions = []
    for query, evidence, category in asked:
        relevant = tuple(dict.fromkeys(id for id in evidence if id in ids))
        if relevant:
            questions.append(Question(query=query, relevant=relevant, category=category))
    return Haystack(name=name, items=items, questions=tuple(questions))


def _evidence(given: Any) -> list[str]:
    """Ids of turns, several of which may stand in one text, some as `D30:05`."""
    return [
        f"D{int(session)}:{int(turn)}"
        for text in given
        for session, turn in re.findall(r"D(\d+):(\d+)", text)
    ]


def _turns(conversation: dict[str, Any]) -> Iterator[Item]:
    number = 1
    while turns := conversation.get(f"session_{number}"):
        # `4:04 pm on 20 January, 2023`.
        spoken = conversation[f"session_{number}_date_time"].replace(" on ", " ")
        hour, minute, half, day, month, year = re.findall(r"\w+", spoken)
        hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
        place = MONTHS.index(month.lower()) + 1
        date = datetime(int(year), place, int(day), hours, int(minute)).isoformat()
        for turn in turns:
            text = _with_caption(turn["text"], turn.get("blip_caption"))
            yield Item(
                id=turn["dia_id"],
                text=text,
                speaker=turn["speaker"],
                session=f"D{number}",
                date=date,
            )
        number += 1


def _with_caption(text: str, caption: str | None) -> str:
    return f"{text} [photo: {caption}]" if caption else text


FORMATS: dict[str, Reader] = {"locomo": locomo, "longmemeval": longmemeval, "jsonl": plain}
