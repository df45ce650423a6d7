"""Path patterns and commands of memories: their meaning, their keys, their regular expressions."""

from __future__ import annotations

from ademem.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Piece = tuple[str, str]
    """Its kind (`text`, `*`, `?`, a set `[`, or `nothing`), and its form in SQLite's GLOB."""

FOLDERS = "**/"
LONGEST_GLOB = 1000
"""Characters of a pattern beyond which it is no pattern."""
MOST_STARS = 12
"""Stars in one alternative; matching more can take forever."""
MOST_CHOICES = 16
"""Patterns that the braces and the `**/` of one pattern may stand for; more are left out."""

LONGEST_COMMAND = 200
"""Characters of a command in a text; longer ones are listings."""
MOST_WORDS = 8
READ_CHARS = 20_000
"""Of what is about to run, how much is looked at."""

_BACKTICKED = r"(?<!`)`(?:\$ )?([^`\n]+)`(?!`)"
_PROGRAM = r"[\w.+/~-]+"
_WORD = r"[\w./:=@%+,~-]+"
_BETWEEN = str.maketrans(dict.fromkeys("\t\n\r;|&()<>{}`$\"'=", " "))


def expand_glob(pattern: str) -> list[str]:
    """The globs, as `fnmatch` reads them, of which a path in the project has to match one.

    `**/` may stand for no folder, `{a,b}` for either, a name without a folder for one in any
    folder, and what may be a folder for all that is in it.
    """
    pattern = pattern.strip().removeprefix("./").lstrip("/")
    if not pattern or len(pattern) > LONGEST_GLOB:
        return []
    plain = [glob for choice in _choices(pattern) for glob in _optional(choice)][:MOST_CHOICES]
    globs = [other for glob in plain for other in _equivalents(glob)]
    return [glob for glob in dict.fromkeys(globs) if glob.count("*") <= MOST_STARS]


def as_glob(pattern: str) -> str | None:
    """SQLite's GLOB for what `fnmatch` reads in *pattern*; None when that matches nothing."""
    pieces = list(_pieces(pattern))
    if any(kind == "nothing" for kind, _ in pieces):
        return None
    return "".join("[[]" if piece == ("text", "[") else piece[1] for piece in pieces)


def glob_key(pattern: str) -> str:
    """One of the `path_keys` of each path that *pattern* matches: the rarest that can be told."""
    pieces = list(_pieces(pattern))
    wild = [at for at, (kind, _) in enumerate(pieces) if kind != "text"]
    if not wild:
        return pattern
    texts = [text for _, text in pieces]
    head, tail = "".join(texts[: wild[0]]), "".join(texts[wild[-1] + 1 :])
    if "/" in tail:
        return "*/" + tail[tail.rindex("/") + 1 :]
    if "/" in head:
        return head[: head.rindex("/") + 1]
    return "*" + tail[tail.index(".") :] if "." in tail else "*"


def path_keys(path: str) -> list[str]:
    name = path[path.rfind("/") + 1 :]
    folders = [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]
    suffixes = ["*" + name[at:] for at, sign in enumerate(name) if sign == "."]
    return [path, f"*/{name}", *folders, *suffixes, "*"]


def glob_regex(glob: str) -> str:
    """A basic regular expression, as `grep` reads it, for all that a GLOB of ours matches."""
    written, at = "", 0
    while at < len(glob):
        if glob[at] == "[":
            at = glob.index("]", at + 2 + (glob[at + 1] == "^"))
        wild = glob[at] in "*?]"
        written += ".*" if wild and not written.endswith(".*") else "" if wild else escape(glob[at])
        at += 1
    return written


def escape(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join("\\" + sign if sign in "\\.[]*^$" else sign for sign in text)


def _choices(pattern: str) -> list[str]:
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) < MOST_CHOICES:
        pattern = waiting.pop()
        end = pattern.find("}")
        start = pattern.rfind("{", 0, end) if end >= 0 else -1
        items = pattern[start + 1 : end].split(",")
        if start < 0 or len(items) == 1:
            done.append(pattern)
        else:
            waiting += [pattern[:start] + item + pattern[end + 1 :] for item in reversed(items)]
    return done


def _optional(pattern: str) -> list[str]:
    """The pattern with and without each `**/` that begins a part of it."""
    head, found, tail = pattern.partition(FOLDERS)
    if not found:
        return [pattern]
    tails = _optional(tail)[:MOST_CHOICES]
    without = [head + each for each in tails] if head in ("",) or head.endswith("/") else []
    return [head + FOLDERS + each for each in tails] + without


def _equivalents(glob: str) -> list[str]:
    if glob.endswith("/"):
        return _equivalents(glob + "*")
    anywhere = [glob] if "/" in glob or glob.startswith("*") else [glob, f"*/{glob}"]
    last = glob[glob.rfind("/") + 1 :]
    inside = [f"{each}/*" for each in anywhere] if not set("*?[") & set(last) else []
    return [*anywhere, *inside]


def _pieces(pattern: str) -> Iterator[Piece]:
    import re

    for found in re.finditer(r"(?s)\[((?:!.|[^!])[^]]*)\]|.", pattern):
        if found[1]:
            yield _set(found[1])
        else:
            yield (found[0], found[0]) if found[0] in "*?" else ("text", found[0])


def _set(body: str) -> Piece:
    """One of `[…]`; SQLite gives `]`, `-` and `^` another meaning than `fnmatch` in some places."""
    inverted, body = body.startswith("!"), body.removeprefix("!")
    singles, ranges = _members(body)
    special = singles & set("]-^")
    written = "]" * ("]" in special) + "".join(sorted(singles - special)) + "".join(ranges)
    last = "^-" if written or inverted else "-^"  # a `^` at the beginning would invert the set
    written += "".join(sign for sign in last if sign in special)
    if inverted:
        return ("[", f"[^{written}]") if written else ("?", "?")
    if not written:
        return "nothing", ""
    return ("text", "^") if written == "^" else ("[", f"[{written}]")


def _members(body: str) -> tuple[set[str], list[str]]:
    """The signs of a set, and its ranges, none of which holds a special sign."""
    singles: set[str] = set()
    ranges: list[str] = []
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] != "-" or at + 2 >= len(body):
            singles.add(body[at])
            at += 1
            continue
        low, high = ord(body[at]), ord(body[at + 2])
        for special in (*map(ord, "-]^"), high + 1):  # in the order of their codes
            if low <= special <= high:
                singles.add(chr(special))
            if low < min(special, high + 1):
                end = min(special, high + 1) - 1
                ranges.append(f"{chr(low)}-{chr(end)}")
            low = max(low, special + 1)
        at += 3
    return singles, ranges


class NoSuchCommand(UsageError):
    hint = 'a program and its first words, such as "git push"'


def find_commands(text: str) -> list[str]:
    """The commands that stand in backticks in a text; one word alone is more likely a name."""
    import re  # which a hook need not load

    candidates = [found for found in re.findall(_BACKTICKED, text) if len(found) <= LONGEST_COMMAND]
    return [
        line for found in candidates if " " in found.strip() and (line := command_words(found, 2))
    ]


def check_command(command: str) -> str:
    if not command_words(command):
        raise NoSuchCommand(f"{command!r} names no command")
    return command


def command_words(command: str, least: int = 1) -> str:
    """The words that tell the command, wrappers off, separated by a blank; empty: it is none.

    What only stands for something (`<branch>`, `"$file"`, `…`) and all after it is left out.
    """
    import re

    given: list[str] = []
    for word in command.split():
        if not re.fullmatch(_WORD, word):
            break
        given.append(word)
    if len(given) < least or not re.fullmatch(_PROGRAM, given[0]):
        return ""
    from ademem.guard import shell

    script = shell.parse(" ".join(given))
    argv = next(shell.argvs(script), ()) if script else ()
    return " ".join([_name(argv[0]), *argv[1:MOST_WORDS]]) if argv else ""


def possible_programs(command: str) -> set[str]:
    """All words of a shell command that may be its programs; cheap, and more than there are."""
    return {_name(word) for word in command[:READ_CHARS].translate(_BETWEEN).split()}


def parse_commands(command: str) -> list[tuple[str, ...]]:
    from ademem.guard import shell

    script = shell.parse(command[:READ_CHARS])
    return [(_name(argv[0]), *argv[1:]) for argv in shell.argvs(script)] if script else []


def is_run_by(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Return True if *argv* is the program with these arguments, in order, among others."""
    rest = iter(argv[1:])
    return words[0] == argv[0] and all(word in rest for word in words[1:])


def command_regex(words: str) -> str:
    """A basic regular expression for all command lines that run the command, and more."""
    return ".*".join(map(escape, words.split()))


def _name(program: str) -> str:
    return program[program.rfind("/") + 1 :]
