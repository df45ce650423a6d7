"""Tell what a person typed from what the client or an agent put in its place."""

from __future__ import annotations

from itertools import groupby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PERSONS = frozenset({"user", "human"})
MACHINES = frozenset(
    "system loop_wakeup schedule_wakeup poll_event channel peer task-notification coordinator"
    " auto-continuation plugin observer-activity".split()
)
"""Origins that the client names: `source` of a prompt's event, `origin.kind` of a transcript."""

FEWEST_CAPITALS = 2

_FENCES = ("```", "~~~")
_QUOTED = (">", "    ", "\t")
"""Beginnings of a line that Markdown takes for a quotation or for code."""


def is_machine_text(text: str, origin: str = "") -> bool:
    """True for a message of an agent or a channel, a reminder, a notice or a command's output.

    The client's *origin* decides. Without one, or with one that leaves it open, the form does:
    these texts begin with `<name` or `[CAPITAL WORDS`. So does a person's prompt that begins with
    `<div>` or `[BUG]`, from which nothing is stored.
    """
    if origin in PERSONS or origin in MACHINES:
        return origin in MACHINES
    text = text[:200].lstrip() if text[:1].isspace() else text[:200]
    if text[:1] == "<":
        return text[1:2].isascii() and text[1:2].isalpha()
    if text[:1] != "[":
        return False
    first = text[1:].replace("]", " ").replace(":", " ").partition(" ")[0]
    is_word = first.isascii() and first.isalpha() and first.isupper()
    return is_word and len(first) >= FEWEST_CAPITALS


COLONS = ":\uff1a"
KEYWORDS = frozenset(
    (
        *("remember", "remember this", "remember that", "merke", "merken"),
        *("merke dir", "merk dir", "bitte merken", "denk daran", "denke daran", "denk dran"),
        *("recuerda", "recuerde", "souviens-toi", "souviens toi", "souvenez-vous", "ricorda"),
        *("ricordati", "lembra", "lembre", "lembra-te", "lembre-se", "lembrar"),
        *("onthoud", "onthoud dit", "onthouden"),
        *("zapamiętaj", "zapamietaj", "pamiętaj", "pamietaj"),
        *("запомни", "запомните", "запомнить", "помни", "помните"),
        *("记住", "記住", "请记住", "請記住", "記得", "记得"),
        *("覚えて", "覚えておいて", "覚えておく", "覚えてください", "覚えといて"),
        "覚えておいてください",
        *("기억해", "기억해줘", "기억해 줘", "기억해주세요", "기억해 주세요"),
        "기억하세요",
    )
)
"""The word `remember` before a colon, as orders are given in each language."""
KEYWORD_CHARS = max(map(len, KEYWORDS)) + 8


def read_dictation(line: str) -> str | None:
    """Return what stands behind `remember:` at the beginning of a line; None without it."""
    head = line.lstrip()[:KEYWORD_CHARS]
    at = min((place for colon in COLONS if (place := head.find(colon)) > 0), default=0)
    word = " ".join(head[:at].lower().split())
    if not word.isascii():
        import unicodedata  # some keyboards send letters and accents apart

        word = unicodedata.normalize("NFC", word)
    return line.lstrip()[at + 1 :].strip() if word in KEYWORDS else None


def split_pasted(prompt: str) -> list[tuple[bool, str]]:
    """Split a prompt into parts in order, each with True for what Markdown marks as not one's own.

    These are fences, quoted lines, indented code and elements such as `<log>…</log>`.
    """
    parts = groupby(_marked_lines(prompt), key=lambda marked: marked[0])
    return [(is_pasted, "\n".join(line for _, line in lines)) for is_pasted, lines in parts]


def _marked_lines(prompt: str) -> Iterator[tuple[bool, str]]:
    """Yield the lines as `split_pasted` marks them, without empty ones of the person."""
    closing = ""
    for line in prompt.splitlines():
        if closing:
            is_pasted = True
            closing = "" if closing in line else closing
        else:
            end = _end_of_opened(line)
            is_pasted = end is not None or line.startswith(_QUOTED)
            closing = end or ""
        if is_pasted or line.lstrip():
            yield is_pasted, line


def _end_of_opened(line: str) -> str | None:
    """Return what ends the fence or element that a line opens, empty if the line has it, too."""
    head = line.lstrip()
    if head.startswith(_FENCES):
        return "" if head[:3] in head[3:] else head[:3]
    if name := _element(head):
        return "" if f"</{name}>" in line else f"</{name}>"
    return None


def _element(line: str) -> str:
    """Return the name of the element that a line opens; empty for none."""
    name, end, _ = line[1:].partition(">")
    first = name.split(" ", 1)[0]
    is_name = first[:1].isalpha() and first.replace("-", "").replace("_", "").isalnum()
    return first if line[:1] == "<" and end and is_name else ""
