"""Programs that read or write by what their arguments say: scripts, queries, requests."""

from __future__ import annotations

import re

from ademem.guard import queries as queries_
from ademem.guard.programs import SUBSCRIPTED
from ademem.guard.shell.options import gives, is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.guard.shell import Command, Word

_EXPANSION = r"\$\{\w+\}|\$\w+|\$\(\(?[^()]*\)\)?"

_IN_REGEX = r"\\.|\[\^?\]?[^\]\n]*\]"
_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|{_IN_REGEX})*/[IM]*)"
_SED_COMMAND = (
    rf"(?s)(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~]\d+))?\s*)?(?:!\s*)?"
    r"(?:[=dDgGhHlnNpPxzF{}]|[qQ][ \t]*\d*|[btT:][ \t]*[\w.-]*|[aicr][^\n]*"
    rf"|[sy]([^\w\s\\])(?:(?!\1)[^\\\n\[]|{_IN_REGEX})*\1(?:(?!\1)[^\\]|\\.)*\1[gpiIM0-9]*)[\s;]*"
)
_SED_SCRIPT = r"(?s)-[nErsuz]*e(.*)|--expression(?:=(.*))?"
_SED_OPTION = (
    "-[nErsuz]+|--(?:debug|quiet|silent|regexp-extended|separate|unbuffered|null-data|posix)"
)

_AWK_RUNS = r"\bsystem\b|\|&?\s*getline\b|@(?:load|include)\b|@\w+\("
_AWK_UNCLEAR = r"/[^/\"\n]*\"(?:[^/\"\n]*\"[^/\"\n]*\")*[^/\"\n]*/"

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
_DATA = "-d --data --data-ascii --data-binary --data-raw --data-urlencode".split()
_IN_ADDRESS = r"-[fgiIkLsSv]*G[fgiIkLsSv]*|--get"
"""With it, data is only a part of the address."""
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
    return _all_read(queries)


def sqlite(command: Command) -> bool:
    """Queries given behind the name of the file or on standard input."""
    operands = [_text(word) for word in command.words[1:] if not is_option(word.text)]
    queries = operands[1:] + ([command.stdin.text] if command.stdin else [])
    return _all_read(queries) and all(w.text not in ("-cmd", "-init") for w in command.words)


def _all_read(queries: list[str]) -> bool:
    given = [query for query in queries if query.strip(" \n;")]
    return bool(given) and all(map(queries_.sql, given))


def request(command: Command) -> bool:
    """Nothing sent, and nothing saved but to standard output."""
    texts = [word.text for word in command.words[1:]]
    if command.name == "api" and "graphql" in texts:
        return _graphql(command)
    harmless = dict.fromkeys(_SENDS[command.name].split(), _NO_VALUE) | _HARMLESS[command.name]
    if command.name == "curl" and any(re.fullmatch(_IN_ADDRESS, text) for text in texts):
        harmless = {option: harmless[option] for option in harmless if option not in _DATA}
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        given = [option for option in harmless if gives(text, option)]
        if given:
            option = min(given, key=lambda each: (each != text, text.find(each[1])))
            attached = text.partition("=" if text.startswith("--") else option[1])[2]
            if (attached or following) not in harmless[option]:
                return False
    return True


def _graphql(command: Command) -> bool:
    """Fields are variables; the one that is named `query` says what is done."""
    texts = [_text(word) for word in command.words[1:]]
    documents = [text.partition("=")[2] for text in texts if text.startswith("query=")]
    sent = any(gives(text, option) for text in texts for option in ("-X", "--input", "--method"))
    return not sent and len(documents) == 1 and queries_.graphql(documents[0])


def perl(command: Command) -> bool:
    """A filter of lines by a script that runs nothing; a file named `rm x|` would be run."""
    options, script, *files = [*map(_text, command.words[1:]), "", ""]
    return (
        re.fullmatch(r"-[alnw]*[np][alnw]*e", options) is not None
        and queries_.perl(script)
        and not any(re.search(r"[|<>]", file) or is_option(file) for file in files)
    )


def less(command: Command) -> bool:
    """What follows a plus sign is typed into it at once, and could be a command of the shell."""
    typed = (word.text for word in command.words[1:] if word.text.startswith("+"))
    return all(re.fullmatch(r"\+\+?(?:\d+|[GF]|[/?][^\n]*)", text) for text in typed)


def sysctl(command: Command) -> bool:
    texts = (word.text for word in command.words[1:])
    return all(re.fullmatch(r"-[aAbeNnx]+|--(?:all|names|values)|\w[\w./-]*", it) for it in texts)


def tar(command: Command) -> bool:
    """`t`, or `x` with `O`, and nothing but harmless letters with it."""
    mode, *others = [word.text for word in command.words[1:]] or [""]
    printed = "O" in mode or not {"-O", "--to-stdout"}.isdisjoint(others)
    only_reads = re.fullmatch(r"-?[vzjJfa]*t[vzjJfa]*|--list", mode) or (
        re.fullmatch(r"-?[vzjJfaO]*x[vzjJfaO]*|--extract", mode) and printed
    )
    harmless = r"-O|--to-stdout|-[fvzjJC].*|--(?:file|list|wildcards|exclude|directory)\b.*|[^-].*"
    return bool(only_reads) and all(re.fullmatch(harmless, other) for other in others)


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
    "less": less,
    "mariadb": sql,
    "mawk": awk,
    "mysql": sql,
    "perl": perl,
    "psql": sql,
    "sed": sed,
    "source": activation,
    "sqlite3": sqlite,
    "sysctl": sysctl,
    "tar": tar,
    "wget": request,
    **dict.fromkeys(SUBSCRIPTED.split(), subscripts),
}


def _text(word: Word | None) -> str:
    """A script as written, with a number wherever the shell puts in what nobody can tell."""
    if word is None:
        return ""
    return re.sub(_EXPANSION, "1", word.text) if word.expands else word.text
