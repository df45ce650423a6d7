"""What was typed, cut up once for all rules of `turn`."""

from __future__ import annotations

import re

from ademem.guard import vocabulary as v

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import GuardSettings

HEAD, TAIL = 3000, 1000
"""Characters of a prompt that are read: orders stand before or behind what is pasted."""

LONGEST_SUFFIX = 5
"""Letters behind the dot of a file's name at most."""

_MARK = r"[,:()*;]|(?<=\s)-(?=\s)|^-"
TOKEN = rf"[^\W_][\w'\u0300-\u036f\u0900-\u0eff]*|{_MARK}"
"""A word with its accents and vowel signs, or a mark that a clause may begin after."""
ASCII_TOKEN = rf"[^\W_][\w']*|{_MARK}"
"""The same for text without them: it compiles in a quarter of the time."""

WITHOUT_BLANKS = "\u2e80"
"""From this letter on scripts are written without blanks, or with endings that stick."""


SHORT = 3
"""A first word of so few letters may be half of a question word: "por qué", "est-ce"."""

LEAD_INS = v.words("""
    ok okay so and but hey hi hello hmm hm oh wait claude also well actually quick one question then
    really right , : -
""")
"""Tokens before a question that say nothing of its kind."""

QUESTIONS = v.words("""
    how how's why what what's when where where's who who's whom whose which is are was were does do
    did has have had am isn't aren't doesn't don't didn't wasn't weren't hasn't any should shall
    thoughts opinions reason meaning curious
""")
"""First words of a question that asks for words, not for work."""

MUSINGS = v.phrases("""
    i wonder, i was wondering, i am wondering, i'm wondering, i don't understand, i do not
    understand, i don't get, i still don't, i'm confused, i am confused, i'm not sure, i am not
    sure, not sure, i'm curious, i noticed, i'd like to know, i'd like to see, i want to know, i
    want to understand, i need to know, i need to understand, i would like to know, i'd like to
    understand, help me understand, i don't see, i can't see, i don't know, i forgot, i thought
""")
"""Openings of a sentence that asks without a question mark, whatever change it names."""

SUGGESTIONS = v.phrases("""
    how about, why not, why don't you, why don't we, do you mind, don't add, don't use, don't make,
    don't forget, don't worry, when you, when you're, when that, when it, when this, when done,
    when the, when all, should be
""")
"""First words of what looks like a question and is an order after all."""

CAUSATIVES = ("have the ", "have it ", "have them ", "have claude ")
"""Openings of an order to have something done, unless a question mark ends it."""

ADVICE = v.phrases("""
    can i, could i, may i, should i, should we, shall we, shall i, would it, would that, could this,
    could that, could it, can it, can this, would this, will it, will this, will that
""")
"""First words of a question for leave or an opinion, whatever change it names."""

FORBIDS = v.phrases("""
    no code, no changes, no edits, no modifications, no implementation, hold off, read only,
    read-only, before we change, before changing, don't run it, just the text, only your opinion,
    not yet implement, just answer, only analyse, only analyze, just explain, only explain
""")

BANS = v.words("don't dont not without never no")
BANNED = v.words("""
    change changing changes edit editing edits modify modifying modifications touch touching write
    writing code coding implement implementing do commit
""")
BANNED_MIDST = v.words("the any single of my our")
BANNED_ALL = v.words("anything files file code codebase yet it nothing something , ; : *")
BUT = v.words("else other except besides apart")
"""One of `BANS` before one of `BANNED` with nothing but these behind it forbids all changes."""

ENGLISH = v.words("""
    the this that these and not it you your my what how why which where when should does did are
    there with for
""")
"""Who uses one of them writes English."""

POLITE_FIRST = frozenset(phrase.split()[0] for phrase in v.POLITE)

DICTATION = v.phrases("""
    remember:, remember that, please remember, note for the future:, merke:, recuerda:
""")

CLIENT = v.words("""
    add-dir agents bashes bug clear compact config context cost doctor exit export fast feedback
    help hooks ide init install-github-app keybindings login logout mcp memory model output-style
    permissions plan plugin pr-comments privacy-settings quit release-notes rename resume review
    rewind sandbox security-review skills stats status statusline tasks terminal-setup theme todos
    upgrade usage vim
""")
"""Slash commands of the client itself."""


class Prompt:
    def __init__(self, text: str, settings: GuardSettings | None = None) -> None:
        ends = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
        self.text = ends.replace("\u2019", "'").strip()
        self.slash = _slash(self.text)
        self.low = self.text.lower()
        if self.slash:
            self.low = self.low[1:].replace("-", " ").replace(":", " ")
        self.words = [word for word in tokens(prose(self.low)) if word[0].isalnum()]
        self.sentences = _sentences(self.low)
        self.names_a_file = any(_is_name(word) or _has_suffix(word) for word in self.low.split())
        self.orders, self.questions, self.talk = _abroad(self.words)
        if settings:
            self.orders += settings.order_words
            self.questions += settings.question_words
            self.talk = self.talk.union(map(str.lower, settings.talk_words))

    @property
    def bans_all(self) -> bool:
        """Whether changes of any kind are forbidden, not only some."""
        if any(f" {phrase} " in f" {' '.join(self.words)} " for phrase in FORBIDS):
            return True
        return any(_bans(tokens(sentence)) for sentence in self.sentences)

    def is_open_question(self, sentence: str) -> bool:
        """How, why, what, is it, do I …: it asks for words even where it names a change."""
        rest = tokens(sentence)
        while rest and rest[0] in LEAD_INS:
            rest.pop(0)
        opening = " ".join(rest[:8]) + " "
        if not rest or opening.startswith((*SUGGESTIONS, *v.POLITE)):
            return False
        if (rest[0] in BANS or opening.startswith(CAUSATIVES)) and not sentence.endswith("?"):
            return False
        if opening.startswith((*ADVICE, *MUSINGS)) or rest[0] in QUESTIONS:
            return True
        return opening.startswith(("can we ", "could we ")) and " or " in sentence

    def asks_abroad(self, words: list[str]) -> bool:
        spoken = [word for word in words if word[0].isalnum()]
        within = mentions(
            spoken, tuple(q for q in self.questions if q[:1] >= WITHOUT_BLANKS or q[:1] == "*")
        )
        opening = spoken[: 2 if spoken and len(spoken[0]) <= SHORT else 1]
        return (within or mentions(opening, self.questions)) is not None


def _abroad(
    words: list[str],
) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """Orders, questions and small talk of other languages; nothing for what shows to be English."""
    if not ENGLISH.isdisjoint(words):
        return (), (), frozenset()
    from ademem.guard import other_languages

    return other_languages.ORDERS, other_languages.QUESTIONS, other_languages.TALK


def prose(text: str) -> str:
    """The text without code between fences or ticks, paths and addresses."""
    plain = " ".join(" ".join(text.split("```")[::2]).split("`")[::2])
    return " ".join(word for word in plain.split(" ") if not _is_name(word))


def tokens(text: str) -> list[str]:
    return re.findall(ASCII_TOKEN if text.isascii() else TOKEN, text)


def bases(word: str) -> tuple[str, ...]:
    """What the word may be a form of: "renaming" of "rename", "fixes" of "fix"; not past tenses."""
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return (word, stem, stem + "e", *((stem[:-1],) if stem[-1] == stem[-2] else ()))
    if word.endswith("s") and len(word) > 3 and word[:-1] not in v.NOUNS:
        return (word, word[:-1], word[:-2])
    return (word,)


def after_openers(words: list[str]) -> list[str]:
    at = 0
    while at < len(words):
        ahead = " ".join(words[at : at + 9]) + " " if words[at] in POLITE_FIRST else ""
        polite = next((phrase for phrase in v.POLITE if ahead.startswith(phrase)), None)
        if polite:
            at += len(polite.split())
        elif words[at] in v.OPENERS or words[at] in v.CLAUSES or words[at].isdigit():
            at += 1
        else:
            break
    return words[at:]


def mentions(words: list[str], entries: tuple[str, ...]) -> str | None:
    """The first entry among *words*: whole, its beginning (`lösch*`) or a part (`*x*`, 修复)."""
    text = f" {' '.join(word for word in words if word[0].isalnum())} "
    for entry in entries:
        part = entry.strip("*").lower()
        if part and entry[0] != "*" and part[0] < WITHOUT_BLANKS:
            part = f" {part}" if entry.endswith("*") else f" {part} "
        if part and part in text:
            return part.strip()
    return None


def opening_verb(words: list[str], *, bare: bool = False) -> str | None:
    """The change that the clause opens with, past politeness; *bare*: only uninflected."""
    rest = after_openers(words)
    opening = " ".join(rest[:6]) + " "
    if not rest or opening.startswith(v.NO_CHANGE):
        return None
    whole = " ".join(words[:6]) + " "
    if opening.startswith(v.ORDERS) or whole.startswith(v.ORDERS):
        return rest[0]
    found = (rest[0],) if bare else bases(rest[0])
    return next((base for base in found if base in v.CHANGE), None) or slip(rest[0])


def slip(word: str) -> str | None:
    """The verb that *word* is one slip of the keys from: two letters swapped, one lost or added."""
    if len(word) < 5 or word in v.LOOK or word in v.CHANGE or word in v.SMALL_TALK:
        return None
    for verb in v.CHANGE:
        if verb[0] != word[0] or verb[-1] != word[-1] or len(verb) < 5:
            continue
        swapped = len(verb) == len(word) and sorted(verb) == sorted(word)
        if swapped or _lost_one(verb, word) or _lost_one(word, verb):
            return verb
    return None


def _lost_one(whole: str, part: str) -> bool:
    return len(whole) == len(part) + 1 and any(
        whole[:at] + whole[at + 1 :] == part for at in range(len(whole))
    )


def is_told_in_words(clause: list[str]) -> bool:
    """Whether what the clause asks to make is a plan, a list, a summary …"""
    rest = after_openers(clause)
    end = next((at for at, word in enumerate(rest) if word in v.BEHIND_AN_OBJECT), len(rest))
    return not v.ANSWERS.isdisjoint(rest[:end])


def is_a_subject(words: list[str]) -> bool:
    """Whether the first word is what the sentence is about: "search returns nothing"."""
    does = words[1] if len(words) > 1 else ""
    third_person = does.endswith("s") and does[:-1] in v.CHANGE
    return words[0] in v.NOUNS and (third_person or does in ("is", "are", "was", "does", "doesn't"))


def _slash(text: str) -> str:
    """The name of the slash command that the text is; "" where it is none, or a path."""
    first = text.split(None, 1)[0] if text.startswith("/") else ""
    return first[1:].lower() if "/" not in first[1:] else ""


def _is_name(word: str) -> bool:
    """Whether *word* names a file or an address and says nothing."""
    bare = word.strip(".,;:!?()\"'\n")
    return bare.startswith(("@", "/", "./")) or bare.count("/") > 1 or ("." in bare and "/" in bare)


def _has_suffix(word: str) -> bool:
    stem, _, suffix = word.strip(".,;:!?()\"'`").rpartition(".")
    return len(stem) > 1 and suffix.isalpha() and len(suffix) <= LONGEST_SUFFIX


def _sentences(text: str) -> list[str]:
    """Sentences, lines and parts between semicolons; code is no prose."""
    text = prose(text)
    for end in (". ", "! ", "? ", "; "):
        text = text.replace(end, f"{end}\n")
    for end in "\u3002\uff01\uff1f":
        text = text.replace(end, f"{end}\n")
    return [part.strip(" ;") for part in text.splitlines() if part.strip(" ;")]


def _bans(words: list[str]) -> bool:
    """Whether a clause forbids to change anything, the code, any file."""
    for at, word in enumerate(words):
        if word in BANNED and at and words[at - 1] in BANS:
            what = [word for word in words[at + 1 : at + 4] if word not in BANNED_MIDST]
            all_of_it = not what or what[0] in BANNED_ALL
            if all_of_it and BUT.isdisjoint(words[at:]):
                return True
    return False
