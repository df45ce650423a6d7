"""Classify a prompt: an order to change something, a question, or chat; in doubt an order.

The words are English, with the most frequent ones of other languages; settings add more.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.text import word_set
from ademem.core.typed_text import is_machine_text, read_dictation
from ademem.core.value import StrEnum, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ademem.core.settings import GuardSettings

HEAD, TAIL = 3000, 1000
"""Characters of a prompt that are read: orders stand before or behind what is pasted."""
MAX_CHAT_WORDS = 8
CLAUSE_WORDS = 24
_MARK = r"[,:()*;]|(?<=\s)-(?=\s)|^-"
_TOKEN = rf"[^\W_][\w'\u0300-\u036f\u0900-\u0eff]*|{_MARK}"
_WITHOUT_BLANKS = "\u2e80"
"""First letter of the scripts without blanks between words, or with endings attached."""


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) + " " for phrase in text.split(","))


CHANGE = word_set("""
    add address apply build bump change clean commit configure convert copy correct create cut
    delete deploy disable do document drop edit enable ensure extend extract fix generate handle
    implement improve include increase inline install keep make merge migrate move optimize
    patch publish push put rebase reduce refactor release remove rename repair replace restore
    revert rewrite set simplify skip sort split start stop store support switch try turn undo
    update upgrade use wrap write
""")
"""Verbs that order a change even where the prompt also asks a question."""

ROUTINE = word_set("commit push branch checkout switch typo typos spelling")
"""Words of orders that need no more of memory than what was recalled at the prompt."""

LOOK = word_set("""
    analyse analyze audit benchmark brainstorm cat check compare confirm consider count debate
    describe diff discuss estimate evaluate examine explain explore figure find grep identify
    inspect investigate list look ls measure outline plan profile propose prove read recommend
    research review search see suggest summarise summarize teach tell think trace understand
    verify view walk
""")
LOOK_PHRASES = _phrases("""
    give me, get me, show me, show the, show all, help me decide, help me understand, double check,
    code review, run the test, run the tests, run tests, update me, make a plan, make a list, write
    a short summary, design, git log, git show, git diff, git status, git blame, npm test, pytest
""")
QUESTION = word_set("""
    how how's why why's what what's when where where's who who's which is are was were does do
    did has have had isn't aren't doesn't don't didn't any should shall thoughts opinions
    curious status
""")
MUSING = _phrases("""
    i wonder, i was wondering, i don't, i'm confused, i'm not sure, not sure, i want to know,
    i thought, can i, could i, would it, will it, do you, do we
""")
"""First words of a question for an opinion or permission, whatever change it names."""

POLITE = _phrases("""
    why don't you, how about, if not, if so, would you mind, would it be possible to, don't forget
    to, make sure to, i want you to, i need you to, you should, can you, could you, will you,
    would you, can we, could we, let's, let us, have the, i think, when that, when it, when you,
    when you're, kannst du, peux tu, puedes, pode
""")
"""First words of an order that otherwise reads like a question or a statement."""
OPENERS = word_set("""
    ok okay so and but hey hi hello hmm oh wait claude also well actually quick one then right
    yes yeah yep no please pls just now first next finally only maybe again great thanks all
    simply i i'd we you want need like to bitte por favor , : - * ( ) ;
""")
"""Words that may stand before the verb of a question or an order."""
CLAUSES = word_set("and then but so also , : - * ;")

FORBIDS = (
    r"\b(?:(?:do not|don't|not|without) (?:chang|edit|modify|touch|implement)\w* (?:any|it\b)"
    r"|(?:do not|don't) (?:write (?:any )?)?code\b|no (?:code|changes|edits|modifications)\b"
    r"|(?:just|only) (?:answer|explain|analy[sz]e)\b|hold off|read.only|before changing)"
)
MAY_FORBID = ("n't ", "not ", "no ", "without ", "just ", "only", "hold off", "before changing")
"""Of these a ban has one; the search for one takes longer."""
RULES_STATED = tuple(
    "note:,note that,for the record,fyi,always ,never ,from now on,keep in mind,remember that,"
    "please remember,merke dir,merk dir".split(",")
)
CHAT = word_set("""
    a about again agreed ah all alright amazing and anyone are awesome back bad bot brb break bye
    cheers claude congrats cool correct day done don't enough evening exactly excellent explaining
    fair fantastic fast fine for forget friend funny good goodbye got great ha haha hahaha happy
    hello help helped helpful hey hi hm hmm hmmm howdy i i'm ignore indeed interesting is it it's
    job joke just k kk know later let lgtm lol looks lot love lunch makes maybe me message mind
    minute moment morning much my nah never nevermind nice night no nope not nothing now nvm of oh
    ok okay on one oops perfect ping please point quick quite really right rock saying sec see
    sense so sorry stop stuff super sweet test testing thank thanks that that's the there think
    this thx to today tomorrow tonight true ty understand understood very wait was welcome well
    who wonderful work worked works world worries wow yay yo you you're your
    danke dank vielen schön dir guten morgen tag klar alles merci beaucoup bonjour bonne soirée
    parfait d'accord c'est gracias muchas hola buenos días tardes perfecto vale obrigado
    muito bom dia grazie mille спасибо ありがとう ありがとうございます 谢谢 你好 好的 감사합니다
""")
ASKING = tuple("warum wieso wie erklär* zeig* pourquoi expliqu* montre* explica* porque".split())
ASKING += tuple("почему なぜ 説明 教えて 为什么 解释 왜 설명".split())
"""Frequent words of questions in other languages."""


class TurnClass(StrEnum):
    """none: chat. soft: memory may help. required: memory comes before changes."""

    NONE = "none"
    SOFT = "soft"
    REQUIRED = "required"


if TYPE_CHECKING:
    Answer = tuple[TurnClass, str] | None
    """The class, and the end of the sentence "this turn is … because"."""


class Classification(Value):
    turn: TurnClass
    why: str
    is_routine: bool = False
    """True if all that it orders is a commit, a push, a branch or the repair of a typo."""


class ParsedPrompt:
    def __init__(self, text: str, settings: GuardSettings | None) -> None:
        ends = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
        self.text = ends.replace("\u2019", "'").strip()
        self.low = _without_slash(self.text.lower())
        prose = _prose(self.low)
        self.words = [token for token in _tokens(prose) if token[0].isalnum()]
        self.sentences = [(sentence, _tokens(sentence)) for sentence in _sentences(prose)]
        self.order_words = settings.order_words if settings else ()
        self.question_words = (*(settings.question_words if settings else ()), *ASKING)
        self.chat = CHAT.union(map(str.lower, settings.talk_words)) if settings else CHAT
        self.orders = list(self._orders())

    def asks(self, sentence: str, words: list[str]) -> bool:
        return _is_question(sentence, words) or bool(_mentions(words, self.question_words))

    def _orders(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the word or verb of each order, and its clause."""
        for sentence, words in self.sentences:
            if not self.asks(sentence, words):
                if word := _mentions(words, self.order_words):
                    yield word, words
                yield from _changes_ordered(words)


def _without_slash(low: str) -> str:
    """Return the words of a slash command, or the text that is none."""
    is_command = regex.match(r"/[^/\s]+(?:\s|$)", low)
    return low[1:].replace("-", " ").replace(":", " ") if is_command else low


def _prose(low: str) -> str:
    """Leave out code between fences or ticks, paths and addresses."""
    plain = " ".join(" ".join(low.split("```")[::2]).split("`")[::2])
    return " ".join(word for word in plain.split(" ") if not _is_path(word))


def _is_path(word: str) -> bool:
    bare = word.strip(".,;:!?()\"'\n")
    slashes = bare.count("/")
    return slashes > 1 or (slashes == 1 and "." in bare) or bare.startswith(("@", "/", "./"))


def _sentences(prose: str) -> Iterator[str]:
    for end in (". ", "! ", "? ", "; ", "\u3002", "\uff01", "\uff1f"):
        prose = prose.replace(end, f"{end}\n")
    return filter(None, (line.strip(" ;") for line in prose.splitlines()))


def _changes_ordered(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the verb of each change that a sentence orders, and its clause."""
    for start, clause in _clauses(words):
        rest = _past_openers(clause)
        is_told = "how" in words[:start] and words[start - 1].isalpha()
        is_change = not CHANGE.isdisjoint(rest[:1])
        if is_change and not is_told and not _text(rest).startswith(LOOK_PHRASES):
            ends = (at for at, word in enumerate(rest) if word in CLAUSES)
            yield rest[0], rest[: next(ends, CLAUSE_WORDS)]


def _asks_to_look(clause: list[str]) -> bool:
    rest = _past_openers(clause)
    return not LOOK.isdisjoint(rest[:1]) or _text(rest).startswith(LOOK_PHRASES)


def not_an_order(prompt: ParsedPrompt) -> Answer:
    if not prompt.text:
        return TurnClass.NONE, "it says nothing"
    is_dictation = read_dictation(prompt.text) is not None and len(prompt.sentences) == 1
    return (TurnClass.NONE, "it dictates a memory") if is_dictation else None


def chat(prompt: ParsedPrompt) -> Answer:
    words = prompt.words
    is_short = 0 < len(words) <= MAX_CHAT_WORDS and words != ["a"] and "```" not in prompt.text
    is_chat = is_short and prompt.chat.issuperset(words)
    return (TurnClass.NONE, "it is small talk") if is_chat else None


def stated_rule(prompt: ParsedPrompt) -> Answer:
    """A rule of the project, or a ban on changes: what else it asks for is a question."""
    if prompt.low.startswith(RULES_STATED):
        return TurnClass.SOFT, "it states what holds in the project"
    text = " ".join(prompt.words)
    is_ban = any(word in text for word in MAY_FORBID) and regex.search(FORBIDS, text)
    return (TurnClass.SOFT, "it forbids changes") if is_ban else None


def order(prompt: ParsedPrompt) -> Answer:
    return (TurnClass.REQUIRED, f"it asks to {prompt.orders[0][0]}") if prompt.orders else None


def question(prompt: ParsedPrompt) -> Answer:
    for sentence, words in prompt.sentences:
        clauses = [clause for _, clause in _clauses(words)]
        is_polite = any(_text(clause).startswith(POLITE) for clause in clauses)
        is_marked = sentence.endswith(("?", "\uff1f")) and not is_polite
        if is_marked or prompt.asks(sentence, words):
            return TurnClass.SOFT, "it asks a question"
        if any(map(_asks_to_look, clauses)):
            return TurnClass.SOFT, "it asks for something in words"
    return None


def in_doubt(prompt: ParsedPrompt) -> Answer:
    if prompt.words:
        return TurnClass.REQUIRED, "it may ask for a change"
    names_code = any(sign in prompt.text for sign in ("```", "/", "@"))
    return (TurnClass.SOFT, "it names code") if names_code else None


RULES: tuple[Callable[[ParsedPrompt], Answer], ...] = (
    not_an_order,
    chat,
    stated_rule,
    order,
    question,
    in_doubt,
)


def classify(
    prompt: str,
    *,
    plan_mode: bool = False,
    settings: GuardSettings | None = None,
    origin: str = "",
) -> Classification:
    """Classify a prompt; *origin* is who wrote it, where the client tells."""
    if is_machine_text(prompt, origin):
        return Classification(turn=TurnClass.NONE, why="it is not a prompt of a person")
    parsed = ParsedPrompt(prompt, settings)
    answers = (rule(parsed) for rule in RULES)
    turn, why = next(filter(None, answers), (TurnClass.NONE, "it says too little to tell"))
    if plan_mode and turn is TurnClass.REQUIRED:
        turn, why = TurnClass.SOFT, "the session is in plan mode"
    ordered = [[verb, *clause] for verb, clause in parsed.orders] or [parsed.words[:2]]
    is_routine = all(not ROUTINE.isdisjoint(words) for words in ordered)
    return Classification(turn=turn, why=why, is_routine=is_routine)


def _is_question(sentence: str, words: list[str]) -> bool:
    while words and words[0] in OPENERS and not _text(words).startswith((*POLITE, *MUSING)):
        words = words[1:]
    text = _text(words)
    if not words or text.startswith(POLITE):
        return text.startswith(("can we ", "could we ")) and " or " in sentence
    if words[0] in ("do", "don't", "never") and not sentence.endswith("?"):
        return False
    return text.startswith(MUSING) or words[0] in QUESTION


def _past_openers(words: list[str]) -> list[str]:
    while words:
        text = _text(words)
        phrase = next((phrase for phrase in POLITE if text.startswith(phrase)), "")
        if not (phrase or words[0] in OPENERS):
            break
        words = words[len(phrase.split()) or 1 :]
    return words


def _clauses(words: list[str]) -> Iterator[tuple[int, list[str]]]:
    for start in (0, *(at + 1 for at, word in enumerate(words) if word in CLAUSES)):
        yield start, words[start : start + CLAUSE_WORDS]


def _text(words: list[str]) -> str:
    return " ".join(words[:9]) + " "


def _mentions(words: list[str], entries: tuple[str, ...]) -> str | None:
    """Return the first of the entries: a word, a beginning (`napraw*`) or a part (`*x*`)."""
    text = f" {' '.join(word for word in words if word[0].isalnum())} "
    for entry in entries:
        part = entry.strip("*").lower()
        within = part >= _WITHOUT_BLANKS
        before = "" if within or entry.startswith("*") else " "
        after = "" if within or entry.endswith("*") else " "
        if part and f"{before}{part}{after}" in text:
            return part
    return None


def _tokens(text: str) -> list[str]:
    return regex.findall(_TOKEN, text)
