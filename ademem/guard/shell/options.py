"""What counts as an option among the words of a command."""

from __future__ import annotations


def is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isascii() and name.isidentifier()


def gives(word: str, option: str) -> bool:
    """Whether *word* sets *option*: alone, with a value, abbreviated, or in a cluster: `-xzf`."""
    if len(option) == 2:
        return word == option or option[1] in _cluster(word)
    name = word.partition("=")[0]
    return name == option or (name.startswith("--") and len(name) > 2 and option.startswith(name))


def _cluster(word: str) -> str:
    """The letters that stand behind one dash, up to the first sign that is none."""
    letters = word[1:] if word[:1] == "-" and word[:2] != "--" else ""
    end = next(
        (i for i, each in enumerate(letters) if not (each.isascii() and each.isalnum())), None
    )
    return letters[:end]


def takes_next(word: str, valued: list[str]) -> bool:
    """Whether the word after *word* is its value, given the options that have one."""
    if word.startswith("--") or word in valued:
        return word in valued
    at = next((i for i in range(1, len(word)) if f"-{word[i]}" in valued), None)
    return at is not None and at == len(word) - 1
