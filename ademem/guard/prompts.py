"""Classify a prompt: an order to change something, a question, or chat; in doubt an order.

The words are English, with the most frequent ones of other languages; settings add more.
"""

from __future__ import annotations

import re
from enum import StrEnum

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ademem.core.settings import GuardSettings

HEAD, TAIL = 3000, 1000
"""Characters of a prompt that are read: orders stand before or behind what is pasted."""
MAX_CHAT_WORDS = 8
"""Number of words up to which a prompt may be chat."""
CLAUSE_WORDS = 24

_MARK = r"[,:()*;]|(?<=\s)-(?=\s)|^-"
_TOKEN = rf"[^\W_][\w'\u0300-\u036f\u0900-\u0eff]*|{_MARK}"
_ASCII_TOKEN = rf"[^\W_][\w']*|{_MARK}"
"""The same without accents and vowel signs: it compiles in a quarter of the time."""
_WITHOUT_BLANKS = "\u2e80"
"""First letter of the scripts without blanks between words, or with endings attached."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) + " " for phrase in text.split(","))


CHANGE = _words("""
    add adjust apply build bump change clean clear commit configure convert copy correct create cut
    delete deploy disable document drop edit enable ensure exclude extend extract fix format
    generate handle implement improve include increase inline insert install integrate introduce
    keep limit lower make mark merge migrate move open optimise optimize port publish push put
    rebase reduce refactor release remove rename repair replace reset restart restore revert
    rewrite save set ship simplify skip sort split start stop store support switch tag toggle try
    turn undo update upgrade use wrap write
""")
"""Verbs that order a change even where the prompt also asks a question."""

LOOK = _words("""
    analyse analyze audit benchmark brainstorm cat check compare confirm consider count debate
    decide describe diff discuss estimate evaluate examine explain explore figure find grep
    identify inspect investigate list locate look ls measure outline plan profile propose prove
    read recommend research review search see suggest summarise summarize teach tell think trace
    understand verify view walk
""")
"""Verbs that ask for an answer."""
LOOK_PHRASES = _phrases("""
    give me, get me, show me, show us, show the, show all, go over, dig into, double check, help me
    decide, help me understand, just answer, design, code review, run the test, run the tests, run
    the linter, run tests, run the suite, run the benchmark, update me, get an overview
""")
ANSWERING = _words("create generate give make prepare write get put draw")
ANSWERS = _words("""
    analysis comparison diagram estimate example examples explanation idea ideas list names options
    outline overview plan proposal recommendation suggestions summary tour question questions pros
    sentence sentences paragraph
""")
"""Objects of `ANSWERING` that are given in words, unless the prompt names a file."""
PREPOSITIONS = _words("with for that which from into to about by on and")
VERBS_OF_SUBJECTS = _words("is are was does doesn't fails returns shows takes should")
"""Words behind a verb of `LOOK` that make it a noun: "search returns nothing"."""

QUESTION = _words("""
    how how's why why's what what's when where where's who who's whose which is are was were does
    do did does has have had isn't aren't doesn't don't didn't any should shall shouldn't thoughts
    opinions reason curious status
""")
"""First words of a question."""
PRONOUNS = _words("i we you they these")
MUSING = _phrases("""
    i wonder, i was wondering, i am wondering, i'm wondering, i don't understand, i don't get, i
    still don't, i'm confused, i'm not sure, not sure, i'm curious, i'd like to know, i'd like to
    understand, i want to know, i want to understand, i need to know, i don't see, i don't know,
    can i, could i, may i, would it, would that, would this, could this, could that, could it, can
    it, can this, can that, i thought, will it, will this, will that
""")
"""First words of a question for an opinion or permission, whatever change it names."""

POLITE = _phrases("""
    why don't you, why don't we, how about, if not, if so, do you mind, would you mind, would it be
    possible to, is it possible for you to, i was wondering if you could, i wonder if you could, it
    would be great if you could, it would be nice if you could, don't forget to, do not forget to,
    make sure to, would you be able to, are you able to, i want you to, i'd like you to, i need you
    to, you should, can you, could you, will you, would you, can we, could we, let's, let us, have
    the, have it, have claude, your task is to, i think, when done, when that, when it, when this,
    when you, when you're, when the, should be, kannst du, können wir, peux tu, peux-tu,
    pouvez vous, puedes, podrías, pode, puoi, kun je, можешь
""")
"""First words of an order that otherwise reads like a question or a statement."""
OPENERS = _words("""
    ok okay so and but hey hi hello hmm hm oh wait claude also well actually quick one then really
    right yes yeah yep no please pls just now first next finally only maybe again great thanks all
    kindly simply bitte por favor , : - * ( ) ;
""")
"""Words that may stand before a question or an order."""
SUBJECTS = _words("i i'd we you they want need like to")
"""Words that may also stand before the verb of an order."""
CLAUSES = _words("and then but so also , : - * ;")
"""Tokens that may begin a clause."""
OBJECTS = _words("the a an it them this that these those all my our your its each every both any")
"""Words behind the verb of an order."""

FORBIDS = _phrases("""
    no code, no changes, no edits, no modifications, no implementation, hold off, read only,
    read-only, before changing, just answer, only analyse, only analyze, just explain,
    only explain, don't change anything, do not change anything, don't edit anything, do not edit
    anything, don't touch anything, don't modify anything, don't write any code, don't write code,
    do not write code, don't change any code, don't change the code, don't implement it, don't code,
    without changing anything, not change anything
""")
RULES_STATED = tuple(
    "note:,note that,for the record,fyi,for your information,always,never,from now on,keep in mind,"
    "please note,as a rule,in this repo,in this project,in general".split(",")
)
"""First words of a rule or fact about the project."""
DICTATION = ("remember:", "remember that", "please remember", "merke:", "recuerda:")

SHELL = _words("""
    apt brew bun cargo docker gh git helm kubectl npm npx pip pnpm poetry pytest systemctl
    terraform uv yarn
""")
"""Programs that people type at the prompt as if to a shell."""
CLIENT = _words("""
    add-dir agents bashes bug clear compact config context copy cost doctor exit export fast
    feedback help hooks ide install-github-app keybindings login logout mcp memory model
    output-style permissions plugin privacy-settings quit release-notes rename resume rewind
    sandbox skills stats status statusline tasks terminal-setup theme todos upgrade usage vim
""")
"""Slash commands that the client handles itself."""
PROMPTING = _words("init plan pr-comments review security-review")
"""Slash commands of the client that ask the model."""

CHAT = _words("""
    a again agreed ah all alright amazing and anyone are awesome back bad bot brb break bye cheers
    claude congrats cool correct day done enough evening exactly excellent fair fantastic fast fine
    folks for friend fun glad good goodbye got gotcha great guys ha haha hahaha happy hello help
    helpful hey hi hm hmm hmmm howdy huh i i'm ignore indeed interesting is it it's job just k kk
    kudos later lgtm like lol looks lot love lunch man mate maybe me meant merry message minute
    moment morning much my nah neat nevermind nice night no nope not nothing now nvm of oh ok okay
    one oops perfect ping please point pretty quick really right rock see so solid sorry sounds
    still stop stuff super sweet team test testing thank thanks that that's the there this thx to
    today tomorrow tonight true ty understand understood very wait was welcome well wonderful work
    worked working works world worries wow wrong yay yo you you're your
    danke dank vielen schön dir hallo guten morgen tag klar alles gut merci beaucoup bonjour bonne
    soirée parfait d'accord c'est gracias muchas hola buenos buenas días tardes perfecto vale bien
    obrigado obrigada muito bom dia valeu grazie mille спасибо ありがとう ありがとうございます
    谢谢 你好 好的 감사합니다
""")
"""A short prompt of these words alone is chat."""
CHAT_PHRASES = _phrases("""
    figured it out, how are you, how's it going, what's up, who are you, what can you do, tell me a
    joke, let me think about it, let me think, let me read that first, let me, hold on, hang on, a
    sec, a second, i'll take a break, i'll be right back, i'll do it myself, i've got it, we're
    done, for now, talk to you, talk tomorrow, have a good, have a great, that fixed it, that did
    it, that helped, makes sense, make sense, well done, good to know, i know, i agree, the best,
    no need, never mind, don't worry, forget it, wrong window, nothing else, for explaining, for
    the explanation, for the help, for your help, what i needed, what i wanted, someone else, get
    back to you, on that, my last message, going to bed, saying hi, doing today, about that
""")
"""Turns of phrase that are chat, taken out before the rest is compared with `CHAT`."""

ASKING = tuple("warum wieso wie erklär* zeig* pourquoi expliqu* montre* explica* porque".split())
ASKING += tuple("почему なぜ 説明 教えて 为什么 解释 왜 설명".split())
"""Frequent words of questions in other languages."""


class TurnClass(StrEnum):
    """none: chat. soft: memory may help. required: memory comes before changes."""

    NONE = "none"
    SOFT = "soft"
    REQUIRED = "required"


class Classification(Value):
    turn: TurnClass
    why: str
    """The end of the sentence "this turn is … because": "it asks to fix"."""


class ParsedPrompt:
    """The text of a prompt, tokenized once for all rules."""

    def __init__(self, text: str, settings: GuardSettings | None) -> None:
        ends = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
        self.text = ends.replace("\u2019", "'").strip()
        first = self.text.split(None, 1)[0] if self.text.startswith("/") else ""
        self.slash = first[1:].lower() if "/" not in first[1:] else ""
        self.low = self.text.lower()
        if self.slash:
            self.low = self.low[1:].replace("-", " ").replace(":", " ")
        prose = _prose(self.low)
        self.words = [token for token in _tokens(prose) if token[0].isalnum()]
        self.sentences = [part.strip(" ;") for part in _split_sentences(prose) if part.strip(" ;")]
        self.names_file = any(_is_path(word) or _has_suffix(word) for word in self.low.split())
        self.orders = settings.order_words if settings else ()
        self.questions = (*(settings.question_words if settings else ()), *ASKING)
        self.chat = CHAT.union(map(str.lower, settings.talk_words)) if settings else CHAT


def not_typed(prompt: ParsedPrompt) -> Classification | None:
    if not prompt.text or prompt.text.startswith("<task-notification>"):
        return _none("it is no prompt of a person")
    is_command = prompt.slash in CLIENT or prompt.slash in PROMPTING
    return _none("it is a command of the client") if is_command else None


def dictation(prompt: ParsedPrompt) -> Classification | None:
    is_one = prompt.low.startswith(DICTATION) and len(prompt.sentences) == 1
    return _none("it dictates a memory") if is_one else None


def chat(prompt: ParsedPrompt) -> Classification | None:
    """Nothing but set phrases and words of courtesy."""
    if not prompt.words and prompt.names_file:
        return _soft("it names a file")
    text = f" {' '.join(prompt.words)} "
    for phrase in CHAT_PHRASES:
        text = text.replace(f" {phrase}", " ")
    rest = [word for word in text.split() if not word.isdigit() or len(prompt.words) == 1]
    is_short = len(rest) <= MAX_CHAT_WORDS and rest != ["a"] and "```" not in prompt.text
    return _none("it is small talk") if is_short and prompt.chat.issuperset(rest) else None


def ban(prompt: ParsedPrompt) -> Classification | None:
    """A ban on changes: what else the prompt asks for is a question."""
    text = f" {' '.join(prompt.words)} "
    is_ban = any(f" {phrase}" in text for phrase in FORBIDS)
    return _soft("it forbids changes") if is_ban else None


def stated_rule(prompt: ParsedPrompt) -> Classification | None:
    is_rule = prompt.low.startswith(RULES_STATED)
    return _soft("it states what holds in the project") if is_rule else None


def shell_line(prompt: ParsedPrompt) -> Classification | None:
    if "\n" in prompt.text or prompt.low.split()[0] not in SHELL or prompt.text.endswith("?"):
        return None
    from ademem.guard.mutation import judge

    judgement = judge(prompt.text)
    return _required(judgement.reason) if judgement.mutates else _soft(judgement.reason)


def order(prompt: ParsedPrompt) -> Classification | None:
    """An order in any sentence, also behind a question."""
    for sentence in prompt.sentences:
        words = _tokens(sentence)
        if _is_question(sentence, words) or _mentions(words, prompt.questions, opening=True):
            continue
        if word := _mentions(words, prompt.orders):
            return _required(f"it says {word!r}")
        if verb := _ordered_verb(words, in_words=not prompt.names_file):
            return _required(f"it asks to {verb}")
    return None


def question(prompt: ParsedPrompt) -> Classification | None:
    for sentence in prompt.sentences:
        words = _tokens(sentence)
        if _is_question(sentence, words) or _mentions(words, prompt.questions, opening=True):
            return _soft("it asks a question")
        clauses = [clause for _, clause in _clauses(words)]
        is_polite = any(_text(clause).startswith(POLITE) for clause in clauses)
        if sentence.endswith(("?", "\uff1f")) and not is_polite:
            return _soft("it asks a question")
        if any(map(_asks_for_words, clauses)):
            return _soft("it asks for something in words")
    return None


def in_doubt(prompt: ParsedPrompt) -> Classification | None:
    if prompt.words:
        return _required("it may ask for a change")
    return _soft("it names code") if "```" in prompt.text or "/" in prompt.text else None


RULES: tuple[Callable[[ParsedPrompt], Classification | None], ...] = (
    not_typed,
    dictation,
    chat,
    ban,
    stated_rule,
    shell_line,
    order,
    question,
    in_doubt,
)


def classify(
    prompt: str, *, plan_mode: bool = False, settings: GuardSettings | None = None
) -> Classification:
    """Return the answer of the first rule that has one; plan mode is at most soft."""
    parsed = ParsedPrompt(prompt, settings)
    answers = (rule(parsed) for rule in RULES)
    found = next(filter(None, answers), _none("it says too little to tell"))
    if plan_mode and found.turn is TurnClass.REQUIRED:
        return _soft("the session is in plan mode")
    return found


def _is_question(sentence: str, words: list[str]) -> bool:
    """True for a question by its first words, whatever change it names."""
    while words and words[0] in OPENERS and not _text(words).startswith((*POLITE, *MUSING)):
        words = words[1:]
    text = _text(words)
    if not words or text.startswith(POLITE):
        return text.startswith(("can we ", "could we ")) and " or " in sentence
    is_command = words[0] == "do" and PRONOUNS.isdisjoint(words[1:2])
    if (is_command or words[0] in ("don't", "never")) and not sentence.endswith("?"):
        return False
    asked = words[1] if words[0] in ("in", "for", "since", "on", "at", "by") and words[1:] else ""
    return (
        text.startswith(MUSING) or words[0] in QUESTION or asked in ("which", "what", "when", "how")
    )


def _ordered_verb(words: list[str], *, in_words: bool) -> str | None:
    """Return the verb of a clause that orders a change."""
    for start, clause in _clauses(words):
        rest, polite = _past_openers(clause)
        if not rest or _text(rest).startswith(LOOK_PHRASES):
            continue
        if in_words and _asks_for_words(clause):
            continue
        joined = start and words[start - 1] in ("and", "or", "but", "so", "also")
        if joined and "how" in words[:start]:
            continue
        change = _base(rest[0], CHANGE)
        unknown = rest[0] not in OBJECTS and _base(rest[0], LOOK) is None
        if change or (unknown and (polite or (joined and not OBJECTS.isdisjoint(rest[1:2])))):
            return change or rest[0]
    return None


def _asks_for_words(clause: list[str]) -> bool:
    """True for a clause that opens with a verb of `LOOK`, or whose object is given in words."""
    rest, _ = _past_openers(clause)
    if not rest:
        return False
    if _text(rest).startswith(LOOK_PHRASES):
        return True
    if rest[0] in ANSWERING:
        end = next((at for at, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
        return not ANSWERS.isdisjoint(rest[:end])
    return _base(rest[0], LOOK) is not None and VERBS_OF_SUBJECTS.isdisjoint(rest[1:2])


def _past_openers(words: list[str]) -> tuple[list[str], bool]:
    """Return the words behind courtesies, and whether they make the clause an order."""
    polite = False
    while words:
        text = _text(words)
        phrase = next((phrase for phrase in POLITE if text.startswith(phrase)), None)
        if phrase:
            words, polite = words[len(phrase.split()) :], True
        elif words[0] in OPENERS or words[0] in SUBJECTS or words[0].isdigit():
            words = words[1:]
        else:
            break
    return words, polite


def _base(word: str, verbs: frozenset[str]) -> str | None:
    """Return the verb that *word* is, or is a form of in "ing"."""
    forms = [word]
    if word.endswith("ing") and len(word) > 5:
        forms += [word[:-3], f"{word[:-3]}e", word[:-4]]
    return next((form for form in forms if form in verbs), None)


def _clauses(words: list[str]) -> Iterator[tuple[int, list[str]]]:
    for start in (0, *(at + 1 for at, word in enumerate(words) if word in CLAUSES)):
        yield start, words[start : start + CLAUSE_WORDS]


def _text(words: list[str]) -> str:
    return " ".join(words[:9]) + " "


def _mentions(words: list[str], entries: tuple[str, ...], *, opening: bool = False) -> str | None:
    """Return the first entry among *words*: a word, a beginning (`napraw*`) or a part (`*x*`).

    *opening*: only the first words count for scripts with blanks.
    """
    spoken = [word for word in words if word[0].isalnum()]
    first = spoken[: 2 if spoken and len(spoken[0]) <= 3 else 1]
    if opening and _text(words).startswith(POLITE):
        first = spoken[:5]
    for entry in entries:
        part = entry.strip("*").lower()
        within = part >= _WITHOUT_BLANKS or entry.startswith("*")
        text = f" {' '.join(spoken if within or not opening else first)} "
        if part and not within:
            part = f" {part}" if entry.endswith("*") else f" {part} "
        if part and part in text:
            return part.strip()
    return None


def _tokens(text: str) -> list[str]:
    return re.findall(_ASCII_TOKEN if text.isascii() else _TOKEN, text)


def _prose(text: str) -> str:
    """Return the text without code between fences or ticks, paths and addresses."""
    plain = " ".join(" ".join(text.split("```")[::2]).split("`")[::2])
    return " ".join(word for word in plain.split(" ") if not _is_path(word))


def _split_sentences(text: str) -> list[str]:
    for end in (". ", "! ", "? ", "; ", "\u3002", "\uff01", "\uff1f"):
        text = text.replace(end, f"{end}\n")
    return text.splitlines()


def _is_path(word: str) -> bool:
    bare = word.strip(".,;:!?()\"'\n")
    return bare.startswith(("@", "/", "./")) or bare.count("/") > 1 or ("." in bare and "/" in bare)


def _has_suffix(word: str) -> bool:
    stem, _, suffix = word.strip(".,;:!?()\"'`").rpartition(".")
    return len(stem) > 1 and suffix.isalpha() and len(suffix) <= 5


def _none(why: str) -> Classification:
    return Classification(turn=TurnClass.NONE, why=why)


def _soft(why: str) -> Classification:
    return Classification(turn=TurnClass.SOFT, why=why)


def _required(why: str) -> Classification:
    return Classification(turn=TurnClass.REQUIRED, why=why)
