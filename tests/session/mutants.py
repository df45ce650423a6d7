"""Payloads as no client sends them: recorded ones, changed and damaged by chance."""

import copy
import json
import random

from tests.session.payloads import NAMES, RECORDED

VALUES = [
    *(None, True, False, 0, -1, 10**30, -0.0, 1e308, float("nan"), float("-inf")),
    *({}, [], [[]], {"": ""}, [None, {"command": 1}], {"command": ["ls"]}),
    *("", " ", "-", "-1", "..", "/", "\n", "\x00", "\ud800", "\udfff\ud800", "\u2028", "\u202e"),
    *("null", "{}", "%s%n", "$(id)", "'; drop table turns; --", "../../etc/passwd", "/dev/zero"),
    *("é", "ß" * 40, "e" + "\u0301" * 40, "👩\u200d👩\u200d👧" * 20, "記憶" * 30, "\ufeff", "ﷺ"),
    *("x" * 300, "a/" * 3000, " " * 5000, "<" * 2000, '"' * 500, "\\" * 501, "`" * 99),
    *("remember:", "remember: " + "x " * 3000, "<task-notification>", "</ademem-memory>"),
    *(
        'bd comment "',
        "bd comment 1 'LEARNED: $(",
        "LEARNED:" * 400,
        "git commit -m 'FACT: é\ud800'",
    ),
    *(
        "## Learnings\n" + "- a b c d e f g h\n" * 50,
        "rm -rf build",
        "cat <<A <<B\nA\n",
        "((" * 200,
    ),
]
"""What may stand where the client puts something sensible."""

SPICE = [
    "\x00",
    "\x1b[2J",
    "\ud83d",
    "\udc00",
    "\r",
    "\u2028",
    "\u200d",
    "\U000e0041",
    "ı",
    "\\",
    '"',
]
"""Characters for the middle of a text."""


LONG = 100_000


def dropped(keys, chance):
    keys.pop(chance.choice(sorted(keys)), None)


def replaced(keys, chance):
    keys[chance.choice(sorted(keys))] = chance.choice(VALUES)


def renamed(keys, chance):
    name = chance.choice(sorted(keys))
    keys[chance.choice([name.upper(), name + " ", "", name[::-1]])] = keys.pop(name)


def spiced(keys, chance):
    texts = sorted(name for name, value in keys.items() if isinstance(value, str))
    if texts:
        name = chance.choice(texts)
        at = chance.randint(0, len(keys[name]))
        keys[name] = keys[name][:at] + chance.choice(SPICE) * chance.randint(1, 3) + keys[name][at:]


def grown(keys, chance):
    name = chance.choice(sorted(keys))
    keys[name] = (str(keys[name]) * chance.choice([2, 50, 400]))[:LONG]


def nested(keys, chance):
    name = chance.choice(sorted(keys))
    for _ in range(chance.choice([1, 3, 100])):
        keys[name] = chance.choice([[keys[name]], {name: keys[name]}])


def misnamed(keys, chance):
    keys["hook_event_name"] = chance.choice([*sorted(NAMES.values()), "Unknown", "pretooluse"])


def mingled(keys, chance):
    keys |= copy.deepcopy(chance.choice(RECORDED[chance.choice(sorted(RECORDED))]))


CHANGES = [dropped, replaced, replaced, renamed, spiced, spiced, grown, nested, misnamed, mingled]
"""What happens to the keys, on the top or one level down."""


def cut(raw, chance):
    return raw[: chance.randint(0, len(raw))]


def flipped(raw, chance):
    at = chance.randrange(len(raw))
    return raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]


def invaded(raw, chance):
    at = chance.randint(0, len(raw))
    return raw[:at] + chance.choice([b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b'"']) + raw[at:]


def doubled(raw, chance):
    """A key twice; what comes later counts."""
    key = chance.choice([b"session_id", b"tool_input", b"prompt", b"cwd"])
    return raw.replace(b"{", b'{"' + key + b'": -1, ', 1)


def repeated(raw, chance):
    return raw * 2


def buried(raw, chance):
    return b'{"tool_response":' + b"[" * 2000 + b"]" * chance.choice([0, 2000]) + b"," + raw[1:]


DAMAGES = [cut, flipped, flipped, invaded, doubled, doubled, repeated, buried]
"""What happens to the bytes, once in three times."""


def mutants(seed, count):
    """Hooks and what they are to read; the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        hook = chance.choice(sorted(RECORDED))
        keys = copy.deepcopy(chance.choice(RECORDED[hook]))
        for _ in range(chance.randint(1, 3)):
            inner = [value for value in keys.values() if isinstance(value, dict) and value]
            chance.choice(CHANGES)(chance.choice([keys, keys, *inner]), chance)
        text = json.dumps(keys, ensure_ascii=chance.random() < 0.5)
        raw = text.encode("utf-8", "surrogatepass")
        yield hook, chance.choice(DAMAGES)(raw, chance) if chance.random() < 1 / 3 else raw
