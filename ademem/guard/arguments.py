"""Programs that read or write by what their arguments say: scripts, queries, requests."""

from __future__ import annotations

import re

from ademem.guard.programs import SUBSCRIPTED
from ademem.shell.options import gives, is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.shell import Command, Word

_EXPANSION = r"\$\{\w+\}|\$\w+|\$\(\(?[^()]*\)\)?"

_IN_REGEX = r"\\.|\[\^?\]?[^\]\n]*\]"
_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|{_IN_REGEX})*/[IM]*)"
_SED_COMMAND = (
    rf"(?s)(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~]\d+))?\s*)?(?:!\s*)?"
    r"(?:[=dDgGhHlnNpPxzF{}]|[qQ][ \t]*\d*|[btT:][ \t]*[\w.-]*|[aicr][^\n]*"
    rf"|[sy]([^\w\s\\])(?:(?!\1)[^\\\n\[]|{_IN_REGEX})*\1(?:(?!\1)[^\\]|\\.)*\1[gpiIM0-9]*)[\s;]*"
)
_SED_SCRIPT = r"(?s)-[nErsuz]*e(.*)|--expression(?:=(.*))?"
_SED_OPTION = "-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix)"

_AWK_RUNS = r"\bsystem\b|\|&?\s*getline\b|@(?:load|include)\b|@\w+\("
_AWK_UNCLEAR = r"/[^/\"\n]*\"(?:[^/\"\n]*\"[^/\"\n]*\")*[^/\"\n]*/"

_SQL_READS = (
    r"(?is)(?:select|with|values|table|show|explain|describe|desc)\b[^\\]*"
    r"|pragma\s+[\w.]+\s*(?:\([^()=]*\))?"
    r"|\.(?:tables|schema|indexes|databases|dump|headers|mode|timeout|width|nullvalue)\b[^\n]*"
    r"|\\(?:d\w*\+?|l\+?|conninfo|x|timing)(?:\s[^\\`\n]*)?"
)
_SQL_WRITES = (
    r"(?i)\b(?:insert|update|delete|drop|alter|create|truncate|replace|merge|grant|revoke|into"
    r"|attach|detach|vacuum|reindex|copy|call|do|load|lock|set|refresh|nextval|setval|writefile"
    r"|load_extension|pg_terminate_backend|pg_cancel_backend|lo_\w+|dblink\w*)\b|user_version\s*\("
)
_SQL_QUERY = r"(?s)-[A-Za-z]*?[ce](.*)|--(?:co|ex)[a-z]*(?:=(.*))?"

_READING = ("GET", "HEAD", "OPTIONS")
_NO_VALUE: tuple[str, ...] = ()
_STDOUT = ("-", "/dev/null", "/dev/stdout", "/dev/stderr")
_SENDS: dict[str, str] = {
    "api": "-f -F --field --raw-field --input",
    "curl": "-d --data --data-ascii --data-binary --data-raw --data-urlencode -F --form"
    " --form-string --json -T --upload-file -Q --quote -O --remote-name --remote-name-all -J -c"
    " --cookie-jar --output-dir -K --config --trace --trace-ascii --stderr --libcurl --etag-save",
    "wget": "--body-data --body-file --post-data --post-file -P -a -e -m -p -r --execute --mirror"
    " --page-requisites --recursive --save-cookies",
}
"""Options with which a program sends or saves something, whatever their value."""
_HARMLESS: dict[str, dict[str, tuple[str, ...]]] = {
    "api": {"-X": _READING, "--method": _READING},
    "curl": {"-X": _READING, "--request": _READING, "-o": _STDOUT, "--output": _STDOUT}
    | {"-D": _STDOUT, "--dump-header": _STDOUT},
    "wget": {"--method": _READING, "-O": _STDOUT, "--output-document": _STDOUT},
}
"""Options with which it does so unless they have one of these values."""


def sed(command: Command) -> bool:
    """Only options and commands that are known to write to standard output alone."""
    scripts: list[str] = []
    operands: list[str] = []
    left = iter(command.words[1:])
    for word in left:
        script = re.fullmatch(_SED_SCRIPT, word.text)
        if script:
            scripts.append(script[1] or script[2] or _text(next(left, None)))
        elif not is_option(word.text):
            operands.append(_text(word))
        elif not re.fullmatch(_SED_OPTION, word.text):
            return False
    return all(map(_sed_reads, scripts or operands[:1]))


def _sed_reads(script: str) -> bool:
    at, command = 0, re.compile(_SED_COMMAND)
    while found := command.match(script, at):
        at = found.end()
    return at == len(script)


def awk(command: Command) -> bool:
    left = iter(command.words[1:])
    for word in left:
        if not is_option(word.text):
            return _awk_reads(_text(word))
        if word.text in ("-F", "-v"):
            next(left, None)
        elif word.text[:2] not in ("-F", "-v"):
            return False
    return True


def _awk_reads(program: str) -> bool:
    """No redirection, pipe or `system`; strings do not count where they can be told apart."""
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', program)
    printing = bare[bare.find("print") :] if "print" in bare else ""
    redirected = any(
        re.search("[>|]", part[part.find("print") :])
        for part in re.split("[;}]", printing)
        if "print" in part
    )
    unclear = re.search("[>|]", printing) and "/" in printing
    strange = re.search("[>|@]|system", program) and re.search(_AWK_UNCLEAR, program)
    return not (redirected or unclear or strange or re.search(_AWK_RUNS, bare))


def sql(command: Command) -> bool:
    """Queries given by -c or -e or on standard input."""
    queries = [command.stdin.text] if command.stdin else []
    left = iter(command.words[1:])
    for word in left:
        query = re.fullmatch(_SQL_QUERY, word.text)
        if word.text in ("-l", "--list"):
            return True
        if query:
            queries.append(query[1] or query[2] or _text(next(left, None)))
    return _sql_reads(queries)


def sqlite(command: Command) -> bool:
    """Queries given behind the name of the file or on standard input."""
    operands = [_text(word) for word in command.words[1:] if not is_option(word.text)]
    queries = operands[1:] + ([command.stdin.text] if command.stdin else [])
    return _sql_reads(queries) and all(w.text not in ("-cmd", "-init") for w in command.words)


def _sql_reads(queries: list[str]) -> bool:
    parts = [part.strip() for query in queries for part in re.split(r";|\n(?=\s*[.\\])", query)]
    statements = [part for part in parts if part]
    return bool(statements) and all(
        re.fullmatch(_SQL_READS, each) and not re.search(_SQL_WRITES, each) for each in statements
    )


def request(command: Command) -> bool:
    """Nothing sent, and nothing saved but to standard output."""
    harmless = dict.fromkeys(_SENDS[command.name].split(), _NO_VALUE) | _HARMLESS[command.name]
    texts = [word.text for word in command.words[1:]]
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        given = [option for option in harmless if gives(text, option)]
        if given:
            option = min(given, key=lambda each: (each != text, text.find(each[1])))
            attached = text.partition("=" if text.startswith("--") else option[1])[2]
            if (attached or following) not in harmless[option]:
                return False
    return True


def tar(command: Command) -> bool:
    """`t` among the letters of the first argument, and nothing but harmless letters with it."""
    mode, *others = [word.text for word in command.words[1:]] or [""]
    listed = re.fullmatch(r"-?[vzjJfa]*t[vzjJfa]*|--list", mode) is not None
    harmless = r"-[fvzjJC].*|--(?:file|list|wildcards|exclude|directory)\b.*|[^-].*"
    return listed and all(re.fullmatch(harmless, other) for other in others)


def date(command: Command) -> bool:
    operands = [word.text for word in command.words[1:] if not is_option(word.text)]
    return all(text.startswith("+") for text in operands)


def git_config(command: Command) -> bool:
    texts = [word.text for word in command.words[1:]]
    if any(re.match("--(unset|add|replace|rename|remove|edit)|-e$", text) for text in texts):
        return False
    if any(re.match("--(get|list)|-l$", text) for text in texts):
        return True
    operands = [text for text in texts if not is_option(text)]
    return operands[:1] in (["get"], ["list"]) or (len(operands) == 1 and "." in operands[0])


def subscripts(command: Command) -> bool:
    """No command in the subscript of an array: the shell runs it even where it was quoted."""
    texts = (word.text for word in command.words if not word.expands)
    return not any(re.search(r"\[.*(?:\$\(|`)", text, re.S) for text in texts)


def activation(command: Command) -> bool:
    """Sourcing the script that puts a virtual environment on the PATH."""
    return len(command.words) == 2 and command.words[1].text.endswith("bin/activate")


CHECKS: dict[str, Callable[[Command], bool]] = {
    ".": activation,
    "awk": awk,
    "curl": request,
    "date": date,
    "gawk": awk,
    "gh api": request,
    "git config": git_config,
    "mariadb": sql,
    "mawk": awk,
    "mysql": sql,
    "psql": sql,
    "sed": sed,
    "source": activation,
    "sqlite3": sqlite,
    "tar": tar,
    "wget": request,
    **dict.fromkeys(SUBSCRIPTED.split(), subscripts),
}


def _text(word: Word | None) -> str:
    """A script as written, with a number wherever the shell puts in what nobody can tell."""
    if word is None:
        return ""
    return re.sub(_EXPANSION, "1", word.text) if word.expands else word.text
