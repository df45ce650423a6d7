"""How the cost of reading a text grows with its length: `python -m bench.lengths [CHARS]`.

Every function that a hook gives a text of people, agents or tools is given texts of many shapes at
one, two and four times a length. What more than triples where the text doubles grows faster than
its input, and is marked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from ademem.capture import errors, learned, message_lessons, prompt_lessons, teaching
from ademem.core import untrusted
from ademem.core.redaction import redact
from ademem.core.settings import GuardSettings
from ademem.core.text import clean, opening, preview, slug, whole_words
from ademem.guard import mutation, prompts
from ademem.search.query import keywords

FUNCTIONS: dict[str, Callable[[str], object]] = {
    "redact": redact,
    "clean": clean,
    "preview": lambda text: preview(text, 200),
    "opening": lambda text: opening(text, 200),
    "slug": slug,
    "whole words": lambda text: whole_words(text, len(text) // 2),
    "recalled": untrusted.without_recalled,
    "error": lambda text: errors.lesson("Bash", text, text),
    "fingerprint": errors.fingerprint,
    "LEARNED in a command": lambda text: learned.marked_lessons(
        f"bd comment B-1 'LEARNED: {text}'", read_file=lambda _: None
    ),
    "LEARNED in a file": lambda text: learned.marked_lessons(
        "bd comment B-1 -f a", read_file=lambda _: text
    ),
    "learnings": lambda text: message_lessons.learnings(f"## Learnings\n{text}"),
    "findings": message_lessons.findings,
    "dictated": lambda text: prompt_lessons.dictations(f"remember: {text}"),
    "statements": teaching.may_teach,
    "shell": mutation.judge,
    "prompt": lambda text: prompts.classify(text, plan_mode=False, settings=GuardSettings()),
    "keywords": lambda text: keywords(text, 4),
}

SHAPES = {
    "one letter": "a",
    "blanks": " ",
    "lines": "\n",
    "words": "word ",
    "sentences": "It has to be done. ",
    "quotes": "'\"`",
    "one quote": "it's ",
    "paths": "a/",
    "dots": "a.",
    "digits": "1",
    "hex": "0a1f",
    "hyphens": "-",
    "brackets": "([{<",
    "substitutions": "$(",
    "escapes": "\\",
    "wide": "漢",
    "right to left": "\u202eא",
    "no width": "a\u200b",
    "combining": "e\u0301\u0301",
    "surrogates": "\ud800",
    "NULs": "\0a",
    "emphasis": "**a ",
    "bullets": "- a\n",
    "headings": "# a\n",
    "tags": "<private>",
    "errors": "error: x failed\n",
    "semicolons": "a;",
    "pipes": "a|",
    "assignments": "a=b ",
    "mails": "a@b.c ",
    "addresses": "http://a:",
    "colons": "a: ",
    "markers": "LEARNED: ",
    "passwords": "password is ",
    "negations": "no, not that, use this instead. ",
    "heredocs": "cat <<A\n",
    "sudo": "sudo ",
}

TOO_STEEP = 3.0
LEAST_S = 0.02
"""What takes less is not judged."""


def main() -> None:
    chars = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for name, function in FUNCTIONS.items():
        for shape, piece in SHAPES.items():
            first, second, third = (
                seconds(function, piece * (times * chars // len(piece))) for times in (1, 2, 4)
            )
            steep = third > LEAST_S and third > TOO_STEEP * second
            if steep or third > 0.5:
                mark = "  grows faster than its input" if steep else ""
                print(f"{name:22} {shape:14} {first:7.3f} {second:7.3f} {third:7.3f} s{mark}")


def seconds(function: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    try:
        function(text)
    except ValueError as error:
        print(f"{function}: {error}")
    return time.process_time() - started


if __name__ == "__main__":
    main()
