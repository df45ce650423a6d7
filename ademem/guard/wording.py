"""Rules among memories: texts that forbid or require something, and the calls they are about."""

from __future__ import annotations

import re

from ademem.core.text import word_set
from ademem.guard.programs import READERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORBIDDING = (
    r"never|must ?n[o']t|may not|do ?n[o']t|don't|cannot|can't|forbidden|prohibited|not allowed"
    r"|no longer use|instead of|rather than|avoid|stop using|^(?:and |but )?not"
    r"|niemals|nie|nicht|kein|keine|keinen|verboten|statt|anstatt"
    r"|jamais|ne pas|interdit|au lieu de|nunca|jamás|no se debe|prohibido|en lugar de|en vez de"
)
"""Words that forbid what follows them; German, French and Spanish in the lines below."""
CONTRASTING = r"no longer use|instead of|rather than|statt|anstatt|au lieu de|en lugar de|en vez de"
"""Words that forbid what follows them, and recommend what stands before them."""
REQUIRING = (
    r"must|has to|have to|requires?|required|mandatory"
    r"|muss|müssen|darf nur|doit|doivent|debe|deben"
)
"""Not "only": facts have it as often ("check.sh runs only the billing tests")."""
ALWAYS = r"always|first|immer|zuerst|toujours|d'abord|siempre|primero"
"""Words that require something where the text also has one of BEFORE."""
AT = r"to|in|for|with|when|on"
"""Words behind which a text with one of ALWAYS names where the rule holds."""
BEFORE = r"before|prior to|until|unless|bevor|vor|ehe|bis|avant|antes de|antes"
"""Words behind which a text names the act that needs something else first."""

EDITING = (
    r"edit|re-?writ|overwrit|chang|modif|alter|amend|updat|renam|mov|remov|delet|re-?order|re-?number"
    r"|änder|geändert|überschr|umbenenn|lösch|gelöscht|supprim|renomm|cambi|borr|elimin"
)
WRITING = (
    r"touch|writ|add|creat|put|plac|commit|introduc|new|anything|anfass|schreib|touch|écri|toc"
)
"""Beginnings of words by which a ban on changes holds for new files as well."""
MADE = (
    r"generat|built|made|produced|(?:written|created|maintained) by|by hand|hand-|manual|directly"
    r"|generier|erzeug|von hand|génér|à la main|a mano"
)
"""Beginnings of words by which a rule is about files that a program makes."""
ANOTHER = r"new|another|neu|weiter|nouve|autre|nuev|otr"
"""Beginnings of words by which a clause asks for a new file instead."""
INSIDE = frozenset("in under below inside within of from im unter dans sous en bajo".split())

AMBIGUOUS = word_set("""
    base64 break bundle cat comm command continue cut date diff dir dirs du echo env exec exit
    expand export file find fold format gem go groups head help history host id info jobs join just
    kill last less let line ll local locate log look ls lua make man mix more mv nl node patch paste
    ping ps rake read rename return rev seq set shift size sleep sort source split stat strings tar
    task tee test time times top touch tr tree true type unset version wait watch which who yes
""")
"""Programs that are words of English as well: a text names them only in backticks."""
_CHANGING = """
    alembic ansible apt-get bundle chmod chown cmake composer conda cp deno dropdb eas flyway gcloud
    heroku ln lua mariadb mkdir mysql netlify npx perl php pip3 pipenv pipx prisma psql pulumi
    python python3 redis-cli rm rmdir rsync scp sqlite sqlite3 ssh sudo svn twine vercel yarn
"""
PROGRAMS = (frozenset(READERS.split()) | frozenset(_CHANGING.split())) - AMBIGUOUS
"""Programs that a text names by their name alone."""
VERBS = word_set("""
    add apply build bump checkout commit create delete deploy destroy drop exec format init install
    merge migrate move publish pull push rebase release remove rename reset restart restore revert
    rm run stash start stop sync tag test uninstall update upgrade upload
""")
"""Subcommands that a text also names as a verb: committing, `git commit`."""
ENDINGS = ("", *"e s es ed ing ment ments ion ions ation ations".split())
RUNNERS = frozenset("npx bunx pnpm yarn bun uvx pipx poetry pipenv bundle dotenv".split())
"""Programs whose first argument may be another program."""
COMMON = frozenset(
    "app code common config core data docs file files index init lib main module python source src"
    " test tests util utils".split()
)
"""Names of files and folders that say too little about the file."""
STEM_CHARS = 4
"""Shortest name of a file or folder that a text names without its path."""

_CLAUSE = r"(?i)[;:!?,()\n]+|\.(?=\s|$)|\s[-–—]\s|\b(?:but|sondern|mais|sino)\b"
"""Patterns are compiled where a text needs them: all of them take a denial four milliseconds."""
_FORBIDS, _REQUIRES, _ALWAYS, _BEFORE, _AT = (
    rf"(?i)(?<![\w-])(?:{words})(?![\w-])" for words in (FORBIDDING, REQUIRING, ALWAYS, BEFORE, AT)
)
_EDITS, _WRITES, _MADE, _ANOTHER = (
    rf"(?i)(?<!\w)(?:{words})" for words in (EDITING, WRITING, MADE, ANOTHER)
)
_PASSIVE = r"(?i)(?:be|get|in|on|here|for|to)\b|werden\b"
"""The beginning of a clause's rest that does not name what is forbidden."""
_FILE = r"(?i)[\w*-]*\.[a-z]\w{0,5}"
_WORD = r"[\w.@*/~+-]*[\w*/]"


def is_rule(text: str) -> bool:
    return any(True for _ in find_triggers(text))


def find_triggers(text: str) -> Iterator[str]:
    """Yield the parts of a rule that name what is forbidden, or what needs something else."""
    clauses = _split_clauses(text)
    always = any(re.search(_ALWAYS, clause) for clause in clauses)
    for at, clause in enumerate(clauses):
        if found := re.search(_FORBIDS, clause):
            subject, rest = clause[: found.start()].strip(), clause[found.end() :].strip()
            yield clause if not rest or re.match(_PASSIVE, rest) else rest
            if subject and not re.fullmatch(CONTRASTING, found[0], re.IGNORECASE):
                yield subject
            elif at and not subject and not any(map(_is_target, _words(rest))):
                before = _words(clauses[at - 1])  # X is built, never edit it
                yield " ".join(filter(_is_file, before))
        elif found := re.search(_BEFORE, clause) if always else None:
            yield clause[found.end() :].strip()
        elif re.search(_REQUIRES, clause):
            yield clause
        elif always and (found := re.search(_AT, clause)):
            place = clause[found.end() :].strip()
            if any(map(_is_target, _words(place))):
                yield place


def _split_clauses(text: str) -> list[str]:
    return [clause.strip() for clause in re.split(_CLAUSE, text) if clause.strip()]


def names_target(text: str) -> bool:
    return any(_is_target(word) for trigger in find_triggers(text) for word in _words(trigger))


def is_about_path(text: str, path: str) -> bool:
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    parts = {part for part in (*folders.split("/"), stem) if len(part) >= STEM_CHARS}
    lowered = {part.lower() for part in {name} | (parts - COMMON) if part}
    below = f"/{path}/".lower()
    for trigger in find_triggers(text):
        for word in _words(trigger):
            word = word.removeprefix("./").rstrip("/").lower()
            if word in lowered or ("/" in word.strip("/") and f"/{word.strip('/*')}/" in below):
                return True
            is_ending = word.startswith(("*.", ".")) and len(word) > 2
            if is_ending and name.lower().endswith(word.lstrip("*")):
                return True
    return False


def spares_new_file(text: str, path: str) -> bool:
    """Return True if the rule forbids only to change what exists, and *path* does not.

    A ban on changing a folder, or files that a program makes, holds for a new file in it, too.
    """
    folders = f"/{path.lower().rpartition('/')[0]}/"
    bans = 0
    for clause in _split_clauses(text):
        if found := re.search(_FORBIDS, clause):
            banned = clause[found.end() :].strip() or clause
            if not re.search(_EDITS, banned) or re.search(_WRITES, banned):
                return False
            bans += 1
        elif re.search(_REQUIRES, clause) and not re.search(_ANOTHER, clause):
            return False
        words = ["", *(word for word in _words(clause.lower()) if word not in ("the", "our"))]
        for at, word in enumerate(words[1:]):
            names_folder = "/" in word and f"/{word.removeprefix('./').strip('/')}/" in folders
            if names_folder and words[at] not in INSIDE:
                return False
    return bool(bans) and not re.search(_MADE, text)


def is_about_command(text: str, commands: Iterable[Sequence[str]]) -> bool:
    runs = [(argv[0].rpartition("/")[2].lower(), [*map(str.lower, argv[1:])]) for argv in commands]
    runs += [(words[0], words[1:]) for program, words in runs if program in RUNNERS and words]
    for trigger in find_triggers(text):
        words = [word.lower() for word in _words(trigger)]
        programs = [at for at, word in enumerate(words) if word in PROGRAMS]
        for program, arguments in runs:
            if any(words[at] == program and _fits(words, at, arguments) for at in programs):
                return True
            called = () if programs else (*arguments[:2], program)
            verbs = [word for word in called if word in VERBS and word != "run"]  # it runs anything
            spoken = [part for word in words for part in (word, *word.split("-"))]
            if any(_is_form(word, verb) for verb in verbs for word in spoken):
                return True
    return False


def _is_target(word: str) -> bool:
    return word.lower() in PROGRAMS or _is_file(word)


def _is_file(word: str) -> bool:
    return "/" in word.strip("/") or re.fullmatch(_FILE, word) is not None


def _words(text: str) -> list[str]:
    return re.findall(_WORD, text)


def _fits(words: list[str], at: int, arguments: list[str]) -> bool:
    """Compare the word behind the program at *at*, else the verbs before it, with the arguments."""
    behind = words[at + 1 : at + 2]
    if not VERBS.isdisjoint(behind) or behind[:1] == arguments[:1] != []:
        return behind[0] in arguments
    verbs = VERBS.intersection(words[:at]) - {"run"}
    return not verbs or not verbs.isdisjoint(arguments)


def _is_form(word: str, verb: str) -> bool:
    """Compare a word with forms of a verb and its noun: committing, deployment, migrations."""
    stem = verb.removesuffix("e")
    return any(word == f"{base}{ending}" for base in (stem, stem + stem[-1]) for ending in ENDINGS)
