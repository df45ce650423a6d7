"""Ask Claude, beside a typed prompt, whether a sentence of it holds beyond its task.

The sentence is kept as heard, whether it is answered or not: the question says how Claude puts its
own words and places into that row. It costs no request, as it stands beside the prompt.
"""

from __future__ import annotations

from ademem.capture.teaching import may_teach
from ademem.core import untrusted
from ademem.core.memory import SHORT_ID, Memory, Origin, Stage
from ademem.core.text import dedupe_key, in_one_line, jaccard, preview, sha256_hex, words
from ademem.core.value import Value
from ademem.store import ledger
from ademem.store.runtime import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload, TurnKey
    from ademem.store.filters import Filters
    from ademem.store.runtime import Runtime

ASKED = "asked"
"""Type of entries of the ledger for questions; a key is the session and the sentence's digest."""
ASKED_OF = "asked_of"
"""The same for sentences, in any session."""
MOST = 5
"""Questions of a session."""
MOST_CHARS = 450
SENTENCE_CHARS = 110
LEAST_NEAR_CHARS = 24
"""Shortest part of a known text that is worth its room."""
NEAREST = 3
ALIKE = 0.25
"""Share of the words from which a sentence is named that waits for an answer."""


class Statement(Value):
    sentence: str
    waiting: Memory | None = None
    """A sentence that was heard before, in other words."""
    nearest: tuple[Memory, ...] = ()


def find(prompt: str, payload: Payload, runtime: Runtime) -> Statement | None:
    """Find a sentence that may hold beyond the task, and what is known that comes near it."""
    if payload.agent_id or not runtime.settings.learn.ask or not runtime.by.is_person:
        return None
    sentence = may_teach(prompt)
    if sentence is None:
        return None
    if not _may_ask(sentence, payload.session_id, runtime):
        return Statement(sentence=sentence)
    return Statement(
        sentence=sentence,
        waiting=_find_waiting(sentence, runtime),
        nearest=tuple(find_nearest(sentence, runtime)),
    )


def _may_ask(sentence: str, session_id: str, runtime: Runtime) -> bool:
    if len(ledger.list_endings(runtime.store, ASKED, f"{session_id}:")) >= MOST:
        return False
    return not ledger.is_claimed(runtime.store, ASKED_OF, dedupe_key(sentence))


def _find_waiting(sentence: str, runtime: Runtime) -> Memory | None:
    from ademem.store import memory_queries  # few prompts state something

    mine, key = words(sentence), dedupe_key(sentence)
    heard = memory_queries.list_heard(runtime.store, but=key)
    shares = {id: jaccard(mine, words(text)) for id, text in heard.items()}
    best = max(shares, key=shares.__getitem__, default=None)
    return memory_queries.by_id(runtime.store, best) if best and shares[best] >= ALIKE else None


def find_nearest(
    sentence: str,
    runtime: Runtime,
    filters: Filters | None = None,
    most: int = NEAREST,
    budget_s: float | None = None,
) -> list[Memory]:
    """Return the memories nearest to a sentence, best first, by meaning if an answer is in time.

    Without *filters* they are those that a search of the session finds.
    """
    from ademem.search import statement_search
    from ademem.store.filters import UNARCHIVED, of_session, visible
    from ademem.worker import warm

    ranked = warm.rank_nearest(runtime, [sentence], budget_s=budget_s)
    ranked = ranked or statement_search.by_characters([sentence], runtime.store)
    filters = filters or of_session(runtime, UNARCHIVED)
    return visible(ranked, runtime.store, filters, UNARCHIVED, most)


def put(found: Statement, key: TurnKey, runtime: Runtime) -> str:
    """Keep the sentence as heard; return the question, or nothing where none is to be asked."""
    from ademem.capture import record

    once = f"{key.session_id}:{key.prompt_id}:{sha256_hex(found.sentence)}"
    origin = Origin(source_id=key.prompt_id or None, session_id=key.session_id)
    written = record.capture_heard(found.sentence, origin, once, runtime)
    memory = written.memory if written else None
    if memory is None or memory.stage is not Stage.HEARD or memory.quarantine_reason:
        return ""
    if not _may_ask(found.sentence, key.session_id, runtime):
        return ""
    digest = dedupe_key(found.sentence)
    ledger.claim(runtime.store, ASKED, f"{key.session_id}:{digest}", runtime.now)
    ledger.claim(runtime.store, ASKED_OF, digest, runtime.now)
    ledger.note_offered(runtime.store, key.session_id, [memory.id])
    return compose(found, memory.id, program(runtime.environment))


def compose(found: Statement, id: str, command: str) -> str:
    """Write the question in at most MOST_CHARS; what is known gets the room that is left."""
    sentence = preview(in_one_line(found.sentence), SENTENCE_CHARS)
    head = f'ademem: this prompt may state what outlives the task: "{sentence}".'
    tail = (
        f'If so, run before you go on: {command} add "<one sentence>" --when "<occasion>" …'
        " [--rule] [--file PATH] [--command CMD] [--repeats|--replaces|--contradicts ID]"
        f" --heard {id[:SHORT_ID]}. If it is only for now, do nothing. Do not mention this."
    )
    room = MOST_CHARS - len(head) - len(tail) - 2
    near = " ".join(filter(None, (_near("Said before", room // 2, found.waiting),)))
    near = " ".join(filter(None, (near, _near("Nearest known", room - len(near), *found.nearest))))
    text = untrusted.escape(" ".join(filter(None, (head, near, tail))))
    return text if len(text) <= MOST_CHARS else untrusted.escape(f"{head} {tail}")


def _near(title: str, room: int, *found: Memory | None) -> str:
    """Return as many of the texts as fit, the best first, in equal parts of the room."""
    shown = [each for each in found if each and not each.quarantine_reason]
    while shown:
        around = len(title) + 2 + len(shown) * (SHORT_ID + 5)
        each_chars = (room - around) // len(shown)
        if each_chars >= LEAST_NEAR_CHARS or (len(shown) == 1 and each_chars > 0):
            texts = (
                f"({each.id[:SHORT_ID]}) {preview(in_one_line(each.whole_text), each_chars)}"
                for each in shown
            )
            return f"{title}: {'; '.join(texts)}."
        shown.pop()
    return ""
