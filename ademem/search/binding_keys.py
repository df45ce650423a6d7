"""Keys of bindings, as a person types them and as a table holds them."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.errors import UsageError
from ademem.core.text import unique
from ademem.core.value import replace
from ademem.guard import acts
from ademem.guard.act_names import ACTS
from ademem.search import mentions
from ademem.search.hint_patterns import MOST_STARS, command_words
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_KEY = 400
MOST_PROGRAMS = 4
"""Programs of a family that are named."""
SHORTEST_LITERAL = 3
"""Letters that the longest word of a literal has at least."""

_KINDS = ("act", "text", "code", "family", "runs")
_OPERATION = r"(?s)(.*\S)\s+on\s+(edit|create)"
_HOLDING = r"(.*?\S)\s+with\s+text:\s*(\S.*)"
_RUNNERS = r"(?:bash|sh|zsh|python3?|node|deno run|ruby|perl|source|\.) "
_SCRIPT = rf"(?:{_RUNNERS})?((?:\./|[\w.-]+/)[\w./-]*\w|[\w-]+\.(?:sh|bash))(?: -.*)?"
_TARGET = r"make ([\w.:/-]+)"
_PACKAGE_SCRIPT = r"(?:npm|pnpm|yarn|bun) run(?:-script)? ([\w.:/-]+)"
_SUFFIX = r"\.[a-z\d]{1,10}(?:\.[a-z\d]{1,10})*"
_WILD = frozenset("*?[{")


class NoKey(UsageError):
    hint = (
        "a path, a folder with a slash at its end, a glob such as `src/**`, a suffix such as"
        " `.svelte`, a command in backticks, act:deploy, text:console.log or code:E4020,"
        " each with ` on edit`, ` on create` or ` with text:WORD` behind it if only that counts"
    )


def parse_at(text: str, root: str = "") -> Binding:
    """Read one key as a person types it; raises NoKey.

    An absolute path below *root*, the folder of the project, is read as one in the project.
    """
    whole = text.strip()
    if not whole:
        raise NoKey("the key of a place is empty")
    if not whole.isprintable():
        raise NoKey(f"{text!a} is no key: it has a line break or a control character")
    if len(whole) > LONGEST_KEY:
        raise NoKey(f"a key has at most {LONGEST_KEY} characters, this one {len(whole)}")
    holding = regex.fullmatch(_HOLDING, whole)
    place, holds = holding.groups() if holding else (whole, "")
    operation = regex.fullmatch(_OPERATION, place)
    key, op = operation.groups() if operation else (place, "any")
    if root and key.startswith(f"{root}/"):
        key = key[len(root) + 1 :]
    found = replace(_parse_key(key), op=op, holds=holds, strength="given", source="flag")
    if _does_many(found) and is_bare(found):
        raise NoKey(f"{key} does many things", f"say which: {' or '.join(narrow(found))}")
    return found


def is_bare(binding: Binding) -> bool:
    """Tell whether a key asks nothing of a call but that it meets the place."""
    return binding.op == "any" and not binding.holds


def _does_many(binding: Binding) -> bool:
    is_bare_program = binding.kind == "program" and not binding.pattern
    return is_bare_program and mentions.has_many_verbs(binding.key)


def narrow(binding: Binding, texts: Sequence[str] = ()) -> list[str]:
    """Return keys that meet less than *binding*; *texts* are what a call may write or type."""
    key = show(replace(binding, op="any", holds=""))
    holding = [f"{key} with text:{text}" for text in (*texts, "WORD")[:2]]
    if binding.kind == "program":
        return [f"{key[:-1]} WORD`", f"{key} on edit", *holding]
    return [f"{key} on create", *holding]


def show(binding: Binding) -> str:
    """Return the key of a binding as `parse_at` reads it."""
    key, pattern = binding.key, binding.pattern
    shown = {
        "path": f"./{key}" if key == "none" or regex.fullmatch(_SUFFIX, key) else key,
        "suffix": key if regex.fullmatch(_SUFFIX, key) else f"*{key}",
        "dir": f"{key}/",
        "glob": pattern,
        "program": f"`{f'{key} {pattern}'.strip()}`",
        "family": f"family:{f'{key} {pattern}'.strip()}",
        "runs": f"runs:{key}",
        "act": f"act:{key}",
        "literal": f"text:{pattern}",
        "code": f"code:{key}",
        "anchor": pattern,
    }.get(binding.kind, key)
    operation = "" if binding.op == "any" else f" on {binding.op}"
    return f"{shown}{operation}{f' with text:{binding.holds}' if binding.holds else ''}"


def tell(binding: Binding, tick: str = "") -> str:
    """Return where a binding meets calls in words: “npm, yarn, bun”, “any deploy”.

    A command stands between two *tick*.
    """
    key, pattern = binding.key, binding.pattern
    told = {
        "program": f"{tick}{f'{key} {pattern}'.strip()}{tick}",
        "act": f"any {key}",
        "literal": f"“{pattern}”",
        "code": f"error {key}",
        "anchor": regex.sub(r"@[\da-f]{16}\Z", "", pattern),
    }.get(binding.kind)
    if binding.kind == "family":
        told = _tell_family(key, pattern)
    elif binding.kind == "runs":
        kind, colon, name = key.rpartition(":")
        told = f"script {name}" if kind == "script" else f"{tick}{kind}{colon and ' '}{name}{tick}"
    told = told or show(replace(binding, op="any", holds=""))
    operation = "" if binding.op == "any" else f" on {binding.op}"
    return f"{told}{operation}{f' with “{binding.holds}”' if binding.holds else ''}"


def _tell_family(name: str, exceptions: str) -> str:
    but = {word.removeprefix("!") for word in exceptions.split()}
    members = unique(each.split()[0] for each in acts.FAMILIES.get(name, name).split(", "))
    meant = [each for each in members if each not in but]
    return ", ".join([*meant[:MOST_PROGRAMS], *(["…"] if len(meant) > MOST_PROGRAMS else ())])


def _parse_key(key: str) -> Binding:
    kind, colon, rest = key.partition(":")
    if colon and kind in _KINDS:
        return _parse_named(kind, rest.strip(), key)
    if colon and kind in ("make", "script"):
        return Binding(kind="runs", key=key)
    if key.startswith("`") and key.endswith("`"):
        command = key.strip("`").strip()
        binding = of_command(command)
        if binding is None:
            raise NoKey(f"`{command}` names no command")
        return binding
    return of_path(key)


def _parse_named(kind: str, rest: str, key: str) -> Binding:
    if not rest:
        raise NoKey(f"{key!r} has nothing behind the colon")
    if kind == "act":
        if rest not in ACTS:
            raise NoKey(f"there is no act {rest!r}", f"acts are {', '.join(ACTS)}")
        return Binding(kind="act", key=rest)
    if kind == "text":
        return of_literal(rest) or _refuse_literal(rest)
    if kind == "code":
        return Binding(kind="code", key=rest.lower())
    if kind == "runs":
        return Binding(kind="runs", key=rest.removeprefix("./"))
    name, _, exceptions = rest.partition(" !")
    if name not in acts.FAMILIES:
        raise NoKey(f"there is no family {name!r}", f"families are {', '.join(acts.FAMILIES)}")
    pattern = f"!{exceptions}" if exceptions else ""
    return Binding(kind="family", key=name, pattern=pattern)


def _refuse_literal(text: str) -> Binding:
    raise NoKey(f"{text!r} has no word of {SHORTEST_LITERAL} letters")


def of_path(path: str) -> Binding:
    """Read a path, a folder, a glob or a suffix; a place outside the project has the state gone."""
    plain = regex.sub(r"/{2,}", "/", path.replace("\\", "/"))
    plain = plain.removeprefix("./") if plain != "./" else plain
    is_outside = regex.match(r"/|~|[A-Za-z]:/", plain) or ".." in plain.split("/")
    state = "gone" if is_outside else None
    if any(sign in plain for sign in "*{?"):
        if plain.count("*") > MOST_STARS:
            raise NoKey(f"{path} has more than {MOST_STARS} stars")
        return replace(_of_glob(plain), state=state)
    if plain.endswith("/"):
        key = plain.rstrip("/")
        if not key.strip("."):
            raise NoKey(f"{path!r} is the whole project", "name a folder in it")
        return Binding(kind="dir", key=key, state=state)
    if regex.fullmatch(_SUFFIX, plain) and not path.startswith("./"):
        return Binding(kind="suffix", key=plain)
    if not plain.strip("./~"):
        raise NoKey(f"{path!r} is the whole project", "name a file or a folder in it")
    return Binding(kind="path", key=plain, state=state)


def _of_glob(glob: str) -> Binding:
    if not glob.strip("*/.?"):
        raise NoKey(f"{glob!r} is every file", "name a folder or a suffix")
    folder = glob.removesuffix("/**").removesuffix("/*") if glob.endswith("/**") else ""
    if folder and not _WILD & set(folder):
        return Binding(kind="dir", key=folder)
    ending = regex.fullmatch(r"(?:\*\*/)?\*(\.[\w.-]+)", glob)
    if ending:
        return Binding(kind="suffix", key=ending[1])
    folders = [part for part in glob.split("/")[:-1] if not _WILD & set(part)]
    return Binding(kind="glob", key=folders[-1] if folders else "", pattern=glob)


def of_command(command: str) -> Binding | None:
    """Read a command as a script of the project, or as a program and its leading words."""
    if named := regex.match(_PACKAGE_SCRIPT, command):
        return Binding(kind="runs", key=f"script:{named[1]}")
    if target := regex.match(_TARGET, command):
        return Binding(kind="runs", key=f"make:{target[1]}")
    script = regex.fullmatch(_SCRIPT, command)
    if script and ".." not in script[1]:
        return Binding(kind="runs", key=script[1].removeprefix("./"))
    words = command_words(command)
    program, _, rest = words.partition(" ")
    return Binding(kind="program", key=program, pattern=rest) if program else None


def of_literal(text: str) -> Binding | None:
    """Return the binding of a text that is written or typed; None if it has no long word."""
    key = literal_key(text)
    return Binding(kind="literal", key=key, pattern=text) if key else None


def literal_key(text: str) -> str:
    """Return the longest word of a literal in lower case, by which it is looked up."""
    longest = max(regex.findall(r"\w+", text), key=len, default="")
    letters = sum(map(str.isalpha, longest))
    return longest.lower() if letters >= SHORTEST_LITERAL else ""
