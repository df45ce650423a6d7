"""Small datasets in each format, made up here."""

from __future__ import annotations

import hashlib
import json
from typing import Any

TURNS = (
    ("D1:1", "Ada", "The harbour museum opens again in spring"),
    ("D1:2", "Bob", "My sister adopted a grey parrot last week"),
    ("D1:3", "Ada", "I burned the lentil soup twice"),
)


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def locomo(**sample: Any) -> bytes:
    turns = [{"dia_id": id, "speaker": who, "text": text} for id, who, text in TURNS]
    turns[1]["blip_caption"] = "a bird on a perch"
    asked = [
        {"question": "Who adopted a parrot?", "evidence": ["D1:2"], "category": 4},
        {"question": "Two things?", "evidence": ["D1:1; D1:03", "D", "D9:9"], "category": 1},
        {"question": "Which evidence?", "evidence": ["D7:1"], "category": 2},
        {"question": "Which ship sank?", "evidence": ["D1:1"], "category": 5},
    ]
    talk = {"session_1": turns, "session_1_date_time": "12:04 am on 20 January, 2023"}
    return as_bytes([{"sample_id": "c1", "conversation": talk, "qa": asked} | sample])


def longmemeval(**entry: Any) -> bytes:
    sessions = [
        [{"role": "user", "content": "I keep bees"}, {"role": "assistant", "content": "Lovely"}],
        [
            {"role": "user", "content": "My hive is called Aurora", "has_answer": True},
            {"role": "assistant", "content": "A fine name"},
        ],
    ]
    made = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What is my hive called?",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 14:00"],
        "haystack_sessions": sessions,
        "answer_session_ids": ["s2"],
    }
    return as_bytes([made | entry])


def plain(*queries: dict[str, Any]) -> bytes:
    memories = [
        {"id": id, "text": text, "speaker": who, "session": "D1", "date": "2023-01-20T00:04:00"}
        for id, who, text in TURNS
    ]
    return as_bytes({"store": "talk", "memories": memories, "queries": queries})


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
