"""Paths, commands and names that a text mentions, each with what the text says about it.

The text is read clause by clause. A mention is forbidden behind a negation, and recommended where
the text says to use it, to put things there, or that something is made with it or out of it.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.caching import lru_cache
from ademem.core.text import is_cjk, word_set
from ademem.core.text import words as split_words
from ademem.core.value import Value, of
from ademem.guard.acts import COMMANDS, FAMILIES
from ademem.guard.programs import CHANGING_VERBS, IRREVERSIBLE_VERBS, READERS, SUBCOMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_CHARS = 8000
"""Characters of a text that are read."""
LONGEST = 200
"""Characters of one mention; longer ones are listings."""

MOST_WORDS = 10
"""Words from which a text in backticks is no literal, but what stands between two of them."""

FORBIDDEN, NEUTRAL, RECOMMENDED = -1, 0, 1

PATH, FOLDER, GLOB, SUFFIX, COMMAND, PROGRAM, NAME, LITERAL, CODE, WORD = (
    "path folder glob suffix command program name literal code word".split()
)

_EXTENSIONS = """
    astro bash bat bib c cc cfg cjs clj cmake conf cpp cs css csv cu dart dat db dbml ejs erb ex
    exs fish ftl gd glsl go gql gradle graphql groovy h hbs hcl hpp hs htm html hx ini ipynb java
    jl js json json5 jsonl jsx kt kts less lock lua md mdx mjs mk ml mod mts nim nix patch php pl
    plist po pot prisma properties proto ps1 pug py pyi pyx r rake rb rego rs rst sass scala scss
    sh sol sql sqlite sqlite3 styl sum svelte svg swift tcl tex tf tfvars thrift tmpl toml ts tsv
    tsx twig txt v vb vhdl vim vue wgsl xml xsd yaml yml zig zsh
"""
EXTENSIONS = word_set(_EXTENSIONS)
"""Endings that make a word the name of a file where no index of the files is at hand."""

_NEGATING = word_set("""
    no not nor t never none nothing neither cannot nobody
    disable disables disabled deny denies denied forbid forbids forbidden
    refuse refuses refused reject rejects rejected
    nicht kein keine keinen nie ne pas jamais nunca não nem non mai
    не нет ни никогда ない せん
""")
_REJECTING = _NEGATING | word_set("avoid instead rather statt anstatt anstelle lieu lugar vez stop")
_UNTIL = word_set("without unless until before ohne bevor sans avant sin sem senza antes")
"""Words behind which stands, after a negation, what has to be done first."""
_MUST = word_set("must should shall soll sollen muss müssen doit debe deve")
_MODAL = _MUST | word_set("may darf dürfen peut puede pode")
"""Words with which a negation forbids what stands before them."""
_FORBIDDEN_BEHIND = word_set("forbidden cannot mustn't shouldn't")
_WHEN = word_set("when whenever while if after once wenn nach falls quand après cuando después se")
"""Words behind which an order says when it holds."""
_ALWAYS = word_set("always immer toujours siempre sempre")
_ORDERING = _MODAL | _UNTIL | _WHEN | _ALWAYS | word_set("every each jede")
_BINDING = _MUST | _ALWAYS | word_set("never mustn't shouldn't don't nie niemals jamais nunca")
_MAY_BIND = _BINDING | _REJECTING
"""One of them is in each text in ASCII that binds, unless it has an apostrophe."""
_CLAUSE_ENDS = frozenset(".;:!—–-(")
_THAN = word_set("over than")
USING = word_set("""
    use run prefer call take verwende verwenden benutze benutzen nutze nutzen nimm nehmen
    utilise utiliser utilisez usa usar usamos usen gebruik
""")
"""Verbs that recommend the program behind them."""
RUNNING = frozenset(("run", "call"))
_TRAILING = word_set("verwenden benutzen nutzen nehmen einsetzen gebruiken")
"""The same at the end of a clause."""
_BEFORE_VERB = word_set("""
    always please must should shall we you just then and only to here instead immer bitte hier
    toujours ici siempre aquí sempre
""")
"""Words behind which such a verb is an order, as it is at the beginning of a clause."""
_BY = word_set("by with via through using mit durch avec par con com über")
_OUT_OF = word_set("from aus")
READING = word_set("see read refer check consult follow siehe voir ver consulta consulte")
_PLACING = word_set("""
    add create save go goes belong belongs live lives put place placed move gehört gehören kommt
    kommen va vont van vai ficam
""")
_INTO = word_set("in into under to inside below beneath unter nach dans sous en em sotto")
_STEERING = _UNTIL | _THAN | _WHEN | USING | _PLACING
_ARTICLES = word_set("the a an our your its this der die das dem den le la les el los las o os as")
_FOLDERS = word_set("""
    folder folders directory directories dir ordner verzeichnis dossier répertoire carpeta
    directorio pasta diretório cartella map папка папке каталог каталоге
""")
_CJK_FOLDERS = ("目录", "文件夹", "フォルダ", "ディレクトリ", "폴더", "디렉")
_FILES = word_set("file files dateien fichiers archivos ficheiros arquivos bestanden файлы файлах")
_UNDER = word_set("under below beneath inside within unter sous bajo sob sotto onder")
_ENDING_NEGATION = word_set("nicht nie niemals niet nooit")

# Patterns are compiled where they are used: of a short text few are, and all take a millisecond.
_CJK_NOT = "不|没|沒|勿|别|別|禁|ない|ません|ずに|ず、|않|말|안 |못"
_CJK_USE = "使|用|사용"
_CJK_RUN = (
    r"([\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]"
    r"|[\u2e80-\u3000\u3003-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc]+)"
)
_CJK_ENDS = frozenset("。、，；：！？")

_TOKEN = r"[^\s`]*`([^`\n]+)`[^\s`]*|\S+"
_QUOTES = ">\"'“”‘’»*"
_EDGES = '.,:;!?()[]{}<>«»*_`"“”‘'
_NO_EDGES = dict.fromkeys(map(ord, _EDGES), " ")
_OPENING = {")": "(", "]": "[", "}": "{"}
_CLOSING = ")]}>\"'“”‘’»*_"
_ENDS = frozenset(",;:.!?…")
_DASHES = frozenset(("—", "–", "-", "->", "=>", "→"))

_URL = r"\w+://|www\.|[\w.+-]+@[\w-]+\.\w"
_GLOB = r"(?=.*\*)(?:\.?/)?[\w.@+{},*?\[\]!-]*(?:/[\w.@+{},*?\[\]!-]*)*"
_PATH = r"(?:~|\.{1,2})?/?[\w.@+\[\]()$-]+(?:/[\w.@+\[\]()$-]+)*/?"
_LINES = r"(?<=\w):\d+(?:[-:]\d+)?$|#L\d+(?:-L\d+)?$"
"""Numbers of lines behind a path."""
_SUFFIX = r"\.[a-z][a-z0-9]{0,9}(?:\.[a-z][a-z0-9]{0,9})?"
_FILE_NAME = r"[\w.@+\[\]()-]*[\w\])]\.(\w{1,10})"
_ERROR_CODE = (
    r"[A-Z]{1,6}-?\d{3,6}|ERR_[A-Z\d_]{3,}|E[A-Z]{4,14}"
    r"|(?:[A-Z][a-z]+){1,6}(?:Error|Exception|Warning)"
)
_NAME = (
    r"(?P<call>[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*)\(.*\)|"
    r"(?P<dotted>[A-Za-z_$][\w$]+(?:(?:\.|::|->)[A-Za-z_$][\w$]+)+)|"
    r"(?P<snake>_*[A-Za-z][A-Za-z\d]*(?:_[A-Za-z\d]+)+_*|__?[A-Za-z]\w+)|"
    r"(?P<camel>_?(?:[a-z]+\d*|[A-Z][a-z\d]+|[A-Z]+(?=[A-Z][a-z]))(?:[A-Z][a-z\d]*)+)"
)
_OPTION = r"--?[A-Za-z][\w-]*(?:=\S*)?"
_LONG_OPTION = r"--[a-z][a-z-]*[a-z]"
_PROGRAM = r"(?:[\w.~-]*/)*[a-z][a-z\d_.+-]*"
_SCRIPT = r"(?:[\w.~-]+/)*[\w.-]+\.(?:sh|bash|zsh|ps1|bat|py|js|ts|rb|pl)|\./[\w./-]+"
_SIGNS_OF_CODE = r"[(){};=<>\[\]]"
_PLAIN_WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*|[\d.,]+"

MEMBERS = {
    name: tuple(command.strip().partition(" ")[0] for command in commands.split(","))
    for name, commands in FAMILIES.items()
}
"""The programs of each family, by which a text names them."""
REPLACEABLE = frozenset(program for programs in MEMBERS.values() for program in programs)
_VERBS: dict[str, set[str]] = {}
for _commands in COMMANDS.values():
    for _command in _commands.split(", "):
        _program, _, _rest = _command.partition(" ")
        _VERBS.setdefault(_program, set()).add(_rest.partition(" ")[0])
_LEADING = _VERBS.keys() | {group.partition(" ")[0] for group in SUBCOMMANDS}
"""Words before the verbs of programs with subcommands."""
FILE_WRITERS = frozenset("cp ln mv rm rmdir shred tee touch truncate".split())
"""Programs that say nothing without the file that they change."""
PROGRAMS = (
    REPLACEABLE | _VERBS.keys() | word_set(" ".join(READERS)) | word_set(" ".join(SUBCOMMANDS))
)
_MANY_VERBS = frozenset(command.partition(" ")[0] for command in SUBCOMMANDS)


class Mention(Value):
    kind: str
    text: str
    stance: int = NEUTRAL
    is_marked: bool = False
    """It stands in backticks."""
    is_run: bool = False
    """A verb says to run it."""


def has_many_verbs(program: str) -> bool:
    """Tell whether a program without a subcommand says nothing, as `git` does."""
    return program in _MANY_VERBS


def find_mentions(text: str, *, plain_words: bool = False) -> list[Mention]:
    """Return what a text mentions, in its order; words that name nothing only if *plain_words*."""
    found: list[Mention] = []
    for line in _readable(text).split("\n"):
        stance = NEUTRAL
        is_introduced = False
        for clause, is_introduction in _clauses(line):
            mentions, stance = _read_clause(clause, stance, plain_words)
            if is_introduced and len(clause) == len(mentions) == 1:  # "to build: `make all`"
                mentions = [_with(each, each.stance or RECOMMENDED, True) for each in mentions]
            found += mentions
            stance, is_introduced = stance if is_introduction else NEUTRAL, is_introduction
    return found


class _Token:
    """A word, or what stands in backticks, with what it is wherever it stands."""

    __slots__ = (
        *("raw", "is_marked", "is_plain", "word", "cjk", "rejects", "steers"),
        *("may_lead", "announces", "tells_place", "names_nothing", "named", "alone"),
    )

    def __init__(self, raw: str, is_marked: bool) -> None:
        self.raw = raw
        """As written, without the signs around it."""
        self.is_marked = is_marked
        self.is_plain = not is_marked and raw.isascii() and raw.isalpha() and raw.islower()
        """It can be nothing but a word: most of a text is."""
        self.word = word = "" if is_marked else raw.lower()
        self.cjk = word if is_cjk(word) else ""
        self.rejects = _rejects(word)
        self.steers = self.rejects or word in _STEERING
        """It says something of what stands beside it."""
        is_program = self.is_plain or (not is_marked and regex.fullmatch(_PROGRAM, raw) is not None)
        self.may_lead = is_program and (raw in PROGRAMS or raw in _LEADING)
        """A command may begin with it."""
        self.announces = _announced_by(word)
        self.tells_place = bool(self.announces) or word in _UNDER
        """It says that a word beside it is a place."""
        is_other = self.may_lead or self.steers or raw in REPLACEABLE
        self.names_nothing = self.is_plain and not is_other
        self.named = raw if self.is_plain and len(raw) <= LONGEST else _named_by(raw)
        self.alone = self._read("", is_under=False)
        """What it mentions between any other words than those that tell of a place."""

    def _read(self, announced: str, *, is_under: bool) -> Mention | None:
        if self.named is None:
            return None
        if self.is_plain and not announced and not is_under:
            return Mention(kind=WORD, text=self.raw) if len(self.raw) > 1 else None
        return (_marked if self.is_marked else _plain)(self.named, announced, is_under)

    def mention(self, announced: str, *, is_under: bool) -> Mention | None:
        """Return what it mentions before a word that *announces* it, and behind "under"."""
        is_placed = announced or is_under
        return self._read(announced, is_under=is_under) if is_placed else self.alone


def _announced_by(word: str) -> str:
    """Return FOLDER or SUFFIX for a word behind the name of one: "the src folder", "*.py files"."""
    if word in _FOLDERS or word.startswith(_CJK_FOLDERS):
        return FOLDER
    return SUFFIX if word in _FILES or word.startswith("-") else ""


def _named_by(raw: str) -> str | None:
    """Return what may be a name, without numbers of lines; None for what is none."""
    if len(raw) > LONGEST or not raw.isprintable() or regex.match(_URL, raw):
        return None
    return regex.sub(_LINES, "", raw)


def _readable(text: str) -> str:
    text = text[:READ_CHARS].replace("```", "\n")
    text = regex.sub(r"``+", "`", text) if "``" in text else text
    if text.isascii():
        return text
    parts = text.split("`")
    return "`".join(
        part if at % 2 and at < len(parts) - 1 else regex.sub(_CJK_RUN, r" \1 ", part)
        for at, part in enumerate(parts)
    )


def _clauses(line: str) -> Iterator[tuple[list[_Token], bool]]:
    """Yield the clauses of a line, each with True if a colon ends it."""
    clause: list[_Token] = []
    for whole, marked in _split_words(line):
        if whole in _DASHES:
            yield clause, False
            clause = []
            continue
        token, ends = _read_token(whole, marked)
        if token.raw:
            clause.append(token)
        if ends:
            yield clause, whole.endswith(":")
            clause = []
    yield clause, False


def _split_words(line: str) -> Iterator[tuple[str, str | None]]:
    """Yield the words of a line, and of each what stands in backticks."""
    if "`" not in line:
        return ((word, None) for word in line.split())
    return ((found[0], found[1]) for found in regex.finditer(_TOKEN, line))


@lru_cache(maxsize=2048)
def _read_token(whole: str, marked: str | None) -> tuple[_Token, bool]:
    """Return the token, and whether it ends a clause; texts of one kind share most words."""
    if marked is not None:
        token = _Token(marked.strip().removeprefix("$ "), True)
        return token, not _ENDS.isdisjoint(whole.rpartition("`")[2])
    ends = whole.rstrip(_CLOSING + "`")[-1:] in _ENDS or not _CJK_ENDS.isdisjoint(whole)
    return _Token(_bare(whole), False), ends


def _bare(word: str) -> str:
    """Strip quotes, brackets and the signs at the end of a clause, but no `*` of a glob."""
    word = word.rstrip("".join(_ENDS))
    if "*" in word and ("/" in word or word.startswith("*.")):
        return word.strip("\"'“”‘’«»()<>")
    opening = word.lstrip("([{<«" + _QUOTES)
    if opening.endswith(("()", "(...)")):
        return opening
    closing = opening.rstrip(_QUOTES)
    while closing and closing.count(_OPENING.get(closing[-1], closing[-1])) < closing.count(
        closing[-1]
    ):
        closing = closing[:-1]
    return closing.rstrip("".join(_ENDS) + _QUOTES)


class _Clause:
    """A clause as far as it is read: what its words say of the mention that comes next."""

    def __init__(self, tokens: list[_Token], introduced: int) -> None:
        self.tokens = tokens
        self.mentions: list[Mention] = []
        self.stance = introduced
        self.is_open = False
        """A negation has not met what it forbids."""
        self.is_run = False
        self.placing_at = -9
        self.has_words = False
        """Words that name nothing were passed over."""
        self.forbidden_before = 0
        """Number of mentions that stand before a negation which forbids them: "npm must not"."""
        self.forbids_before = False

    def read_word(self, at: int) -> bool:
        """Apply a word that says something of what it stands beside; False for any other."""
        word = self.tokens[at].word
        if self.tokens[at].rejects:
            self._reject(word, at)
        elif word in _UNTIL:
            self.stance = RECOMMENDED if self.stance == FORBIDDEN else NEUTRAL
        elif word in _THAN and self.stance == RECOMMENDED:
            self.stance = FORBIDDEN
        elif word in _WHEN:
            self.stance = min(self.stance, NEUTRAL)
        elif word in USING and _is_order(self.tokens, at):
            self._use(word)
        elif word in _PLACING:
            self.placing_at = at
        else:
            return False
        return True

    def _reject(self, word: str, at: int) -> None:
        self.stance, self.is_open = FORBIDDEN, True
        if word in _FORBIDDEN_BEHIND or _word_at(self.tokens, at - 1) in _MODAL:
            self.forbidden_before = len(self.mentions)
            self.forbids_before = bool(self.mentions) or self.has_words

    def _use(self, verb: str) -> None:
        self.is_run = verb in RUNNING
        if not (self.is_open and self.stance == FORBIDDEN):
            self.stance = RECOMMENDED

    def add(self, mention: Mention, at: int, end: int) -> None:
        """Add a mention of the tokens from *at* to *end*, with what is said of it."""
        stance = self.stance
        if stance == NEUTRAL and _word_at(self.tokens, end) in _ENDING_NEGATION:
            stance = FORBIDDEN
        elif stance == NEUTRAL:
            stance = _stance_by_preposition(self.tokens, at, mention, self.placing_at)
        self.mentions.append(_with(mention, stance, self.is_run))
        self.is_open &= mention.kind == WORD and mention.text not in REPLACEABLE

    def list_mentions(self) -> list[Mention]:
        mentions = self.mentions
        behind = mentions[self.forbidden_before :]
        if self.forbids_before and all(each.kind == WORD for each in behind):
            mentions = [_with(each, each.stance or FORBIDDEN, each.is_run) for each in mentions]
        return _read_ends(self.tokens, mentions)


def _read_clause(
    tokens: list[_Token], introduced: int, plain_words: bool
) -> tuple[list[Mention], int]:
    """Return the mentions of a clause, and what it recommends to the one behind its colon."""
    clause = _Clause(tokens, introduced)
    reads_all = plain_words or any(token.tells_place for token in tokens)
    at = 0
    while at < len(tokens):
        if tokens[at].names_nothing and not reads_all:
            clause.has_words |= tokens[at].alone is not None
            at += 1
            continue
        mention, used = _plain_command(tokens, at) if tokens[at].may_lead else (None, 1)
        if mention is None and not (tokens[at].steers and clause.read_word(at)):
            mention = _mention_at(tokens, at)
        if mention is not None:
            clause.add(mention, at, at + used)
        at += used
    return clause.list_mentions(), max(clause.stance, NEUTRAL)


def _word_at(clause: list[_Token], at: int) -> str:
    """Return the word at a position; empty beyond either end, and for what stands in backticks."""
    return clause[at].word if 0 <= at < len(clause) else ""


def gives_order(text: str) -> bool:
    """Tell whether a text forbids something, or says when something is to be done."""
    words = (_bare(word).lower() for word in text.split())
    return any(word in _ORDERING or _rejects(word) for word in words)


@lru_cache(maxsize=256)
def binds(text: str) -> bool:
    """Tell whether a text forbids something, or says what must be or always is to be done."""
    lowered = text.lower()
    is_plain = lowered.isascii() and "'" not in lowered
    if is_plain and _MAY_BIND.isdisjoint(lowered.translate(_NO_EDGES).split()):
        return False
    is_first = True
    before = ""
    for raw in lowered.split():
        word = raw.strip(_EDGES)
        if word in _BINDING or (before in ("do", "please") and word == "not"):
            return True
        if is_first and (word in _REJECTING or ("'" in word and _rejects(word))):
            return True
        if not word.isascii() and is_cjk(word) and regex.search(_CJK_NOT, word):
            return True
        is_first = not word or raw[-1] in _CLAUSE_ENDS
        before = word
    return False


def _is_order(clause: list[_Token], at: int) -> bool:
    return not at or clause[at - 1].word in _BEFORE_VERB or clause[at - 1].rejects


def turns_sense(word: str) -> bool:
    """Tell of a word that negates or limits what stands beside it, and of a number."""
    return _rejects(word) or word in _UNTIL or any(map(str.isdigit, word))


def _rejects(word: str) -> bool:
    """Tell whether a word negates: "don't" does, `--no-verify` and "no-op" are names."""
    if word.isalpha() and word.isascii():
        return word.lower() in _REJECTING
    is_name = "-" in word or "_" in word or "/" in word
    return not is_name and not split_words(word).isdisjoint(_REJECTING)


def _stance_by_preposition(clause: list[_Token], at: int, mention: Mention, placing_at: int) -> int:
    if mention.kind not in (COMMAND, PROGRAM, PATH, FOLDER, GLOB):
        return NEUTRAL
    last, word = _words_before(clause, at)
    if mention.kind in (COMMAND, PROGRAM):
        return RECOMMENDED if word in _BY else NEUTRAL
    is_text = mention.text.endswith((".md", ".rst", ".txt")) or mention.kind == FOLDER
    is_source = word in _OUT_OF or (last, word) == ("out", "of")
    is_read = is_text and not READING.isdisjoint((last, word))
    is_filled = word in _INTO and 0 < at - placing_at <= 6
    return RECOMMENDED if any((is_source, is_read, is_filled)) else NEUTRAL


def _words_before(clause: list[_Token], at: int) -> tuple[str, str]:
    """Return the two words before a mention and its articles."""
    before = at - 1
    while _word_at(clause, before) in _ARTICLES:
        before -= 1
    return _word_at(clause, before - 1), _word_at(clause, before)


def _read_ends(clause: list[_Token], mentions: list[Mention]) -> list[Mention]:
    """Apply verbs at the end of a clause, and what is said in a script without blanks."""
    stance = _stance_at_end(clause) if mentions else NEUTRAL
    if stance == NEUTRAL:
        return mentions
    programs = (COMMAND, PROGRAM, NAME, LITERAL)
    return [
        _with(each, stance, each.is_run)
        if each.stance == NEUTRAL and (stance == FORBIDDEN or each.kind in programs)
        else each
        for each in mentions
    ]


def _stance_at_end(clause: list[_Token]) -> int:
    if clause[-1].word in _TRAILING:
        return RECOMMENDED
    cjk = "".join([token.cjk for token in clause])
    if cjk and regex.search(_CJK_NOT, cjk + "、"):
        return FORBIDDEN
    return RECOMMENDED if cjk and regex.search(_CJK_USE, cjk) else NEUTRAL


def _with(mention: Mention, stance: int, is_run: bool) -> Mention:
    if mention.stance == stance and mention.is_run == is_run:
        return mention
    return of(Mention, mention.__dict__ | {"stance": stance, "is_run": is_run})


def _mention_at(clause: list[_Token], at: int) -> Mention | None:
    announced = clause[at + 1].announces if at + 1 < len(clause) else ""
    return clause[at].mention(announced, is_under=_word_at(clause, at - 1) in _UNDER)


def _marked(raw: str, announced: str, is_under: bool) -> Mention | None:
    """Read what stands in backticks."""
    if " " in raw:
        return _marked_words(raw)
    if (found := _place(raw, announced, is_under, is_marked=True)) is not None:
        return found
    if raw.isalpha() and raw == raw.lower() and raw.isascii():
        return Mention(kind=PROGRAM, text=raw, is_marked=True)
    if regex.fullmatch(_ERROR_CODE, raw):
        return Mention(kind=CODE, text=raw, is_marked=True)
    if regex.fullmatch(_NAME, raw):
        return Mention(kind=NAME, text=raw, is_marked=True)
    if raw in PROGRAMS:
        return Mention(kind=PROGRAM, text=raw, is_marked=True)
    if regex.fullmatch(_PLAIN_WORD, raw):
        is_program = regex.fullmatch(_PROGRAM, raw) is not None
        return Mention(kind=PROGRAM if is_program else WORD, text=raw, is_marked=True)
    return Mention(kind=LITERAL, text=raw, is_marked=True)


def _marked_words(raw: str) -> Mention | None:
    first = raw.partition(" ")[0]
    is_program = regex.fullmatch(_PROGRAM, first) or regex.fullmatch(_SCRIPT, first)
    if is_program and not regex.search(
        _SIGNS_OF_CODE, regex.sub(r"\"[^\"]*\"|'[^']*'|<[^<>]*>", "", raw)
    ):
        return Mention(kind=COMMAND, text=raw, is_marked=True)
    if is_program and regex.match(r"[\w./-]+ (?:\S+ )*--?\w", raw):
        return Mention(kind=COMMAND, text=raw, is_marked=True)
    if regex.match(r"-\w\b", raw) or raw.count(" ") >= MOST_WORDS:
        return None
    return Mention(kind=LITERAL, text=raw, is_marked=True)


def _plain_command(clause: list[_Token], at: int) -> tuple[Mention | None, int]:
    """Read a program with a subcommand or an option, where no backticks are."""
    first = clause[at].raw
    if at + 1 >= len(clause):
        return None, 1
    behind_verbs = _end_of_verbs(clause, at)
    end = _end_of_options(clause, behind_verbs)
    is_program = behind_verbs > at + 1 or first in PROGRAMS
    if not is_program or end == at + 1:
        return None, 1
    if first in FILE_WRITERS and end < len(clause) and not clause[end].is_marked:
        end += 1
    text = " ".join(token.raw for token in clause[at:end])
    return Mention(kind=COMMAND, text=text), end - at


def _end_of_verbs(clause: list[_Token], at: int) -> int:
    """Return where the subcommands of a program end: `git remote add` has a group and a verb."""
    end = at + 1
    while end < len(clause) and not clause[end].is_marked and end - at < 4:
        words = " ".join(token.raw for token in clause[at:end])
        word = clause[end].raw
        if f"{words} {word}" not in SUBCOMMANDS:
            return end + _is_verb(word, words)
        end += 1
    return end


def _is_verb(word: str, words: str) -> bool:
    """Tell whether a word may be the verb behind the program, or the group, of the *words*."""
    if " " in words and word.isalpha() and word.islower():
        return True
    if words not in SUBCOMMANDS and words not in _VERBS:
        return False
    own = {*SUBCOMMANDS.get(words, "").split(), *_VERBS.get(words, ())}
    return word in own or word in CHANGING_VERBS or word in IRREVERSIBLE_VERBS


def _end_of_options(clause: list[_Token], at: int) -> int:
    while at < len(clause) and regex.fullmatch(_OPTION, clause[at].raw):
        at += 1
    return at


def _plain(raw: str, announced: str, is_under: bool) -> Mention | None:
    if (found := _place(raw, announced, is_under, is_marked=False)) is not None:
        return found
    if regex.fullmatch(_LONG_OPTION, raw):
        return Mention(kind=LITERAL, text=raw)
    if regex.fullmatch(_ERROR_CODE, raw):
        return Mention(kind=CODE, text=raw)
    if regex.fullmatch(_NAME, raw):
        return Mention(kind=NAME, text=raw)
    if raw.isascii() and regex.fullmatch(_PROGRAM, raw) and len(raw) > 1:
        return Mention(kind=WORD, text=raw)
    return None


def _place(raw: str, announced: str, is_under: bool, *, is_marked: bool) -> Mention | None:
    """Read a glob, a suffix, a folder or a file."""
    kind = _kind_of_place(raw, announced, is_under, is_marked)
    return Mention(kind=kind, text=raw, is_marked=is_marked) if kind else None


def _kind_of_place(raw: str, announced: str, is_under: bool, is_marked: bool) -> str:
    """Tell the kind by the form and the words around it; empty for what is no place."""
    is_folder = announced == FOLDER
    if "*" in raw:
        return GLOB if _is_glob(raw) else ""
    if regex.fullmatch(_SUFFIX, raw):
        is_kind = announced == SUFFIX or raw[1:] in EXTENSIONS
        return SUFFIX if is_kind else PATH
    if "/" in raw:
        return _kind_of_path(raw, is_folder)
    return _kind_of_name(raw, is_folder or is_under, is_marked)


def _is_glob(raw: str) -> bool:
    is_path = "/" in raw or raw.lstrip("*").startswith(".")
    return is_path and raw != "/*" and regex.fullmatch(_GLOB, raw) is not None


def _kind_of_path(raw: str, is_folder: bool) -> str:
    if not regex.fullmatch(_PATH, raw):
        return ""
    ends_as_folder = raw.endswith("/") and raw.strip("./~")
    return FOLDER if is_folder or ends_as_folder else PATH


def _kind_of_name(raw: str, is_folder: bool, is_marked: bool) -> str:
    if is_folder and regex.fullmatch(r"[\w.-]*\w", raw):
        return FOLDER if is_marked or raw.isascii() else ""
    named = regex.fullmatch(_FILE_NAME, raw)
    return PATH if named and named[1].lower() in EXTENSIONS else ""
