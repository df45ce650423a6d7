"""Write drafts of hook events once, through the ledger and the gate."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.memory import HEARD, Category, Draft, Origin, Stage, Trust
from ademem.core.text import sha256_hex, unique
from ademem.core.value import replace
from ademem.guard.policy import SHELL_TOOLS
from ademem.store import ledger, memory_queries, turns
from ademem.store.missions import assign_mission

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ademem.capture.gate import Written
    from ademem.core.client import Payload
    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.store.runtime import Runtime

    Place = Callable[[Draft, Runtime], Draft]

CUES = (
    (Category.PREFERENCE, r"\b(prefers?|rather|likes?|favou?rs?)\b"),
    (
        Category.CONVENTION,
        r"\b(always|never|must|should|don't|do not|only ever|no longer|goe?s? through)\b",
    ),
    (Category.DECISION, r"\b(decided|chose|chosen|instead of|because)\b"),
    (Category.GOTCHA, r"\b(breaks?|fails?|careful|beware|pitfall|trap|hangs?)\b"),
)


def category_of(text: str, default: Category = Category.FACT) -> Category:
    """Return the category of a text; one that chooses between programs is a convention."""
    for category, cue in CUES:
        if regex.search(cue, text, regex.IGNORECASE):
            return category
    from ademem.search.places import chooses_program

    return Category.CONVENTION if chooses_program(text) else default


def write_once(
    draft: Draft, source_key: str, runtime: Runtime, home: Place | None = None
) -> Written | None:
    # Loaded before others wait for the end of the transaction.
    from ademem.capture import gate
    from ademem.guard import injection  # noqa: F401
    from ademem.store import stamps  # noqa: F401

    store = runtime.store
    source_type = draft.origin.source_type
    with store.transaction():
        if not ledger.claim(store, source_type, source_key, runtime.now):
            return None
        draft = (home or _place_draft)(draft, runtime)
        written = gate.write(draft, store, runtime.settings.gate, runtime.now)
        if written.memory:
            ledger.credit(store, source_type, source_key, written.memory.id)
            _add_evidence(written.memory, draft, runtime)
    return written


def _add_evidence(memory: Memory, draft: Draft, runtime: Runtime) -> None:
    """Note what speaks for a text that an agent wrote, or that a prompt seems to state."""
    from ademem.store import evidence

    origin = draft.origin
    if origin.trust is Trust.USER:
        return
    is_heard = draft.stage is Stage.HEARD
    running = turns.latest(runtime.store, origin.session_id) if origin.session_id else None
    evidence.add(
        *(runtime.store, memory.id, "said" if is_heard else "claude_add", runtime.now),
        quote=draft.evidence or draft.content,
        session_id=origin.session_id or "",
        prompt_id=(is_heard and origin.source_id) or (running.prompt_id if running else ""),
        message=origin.source_id or "",
        tainted=origin.trust is not Trust.AGENT,
    )


def _place_draft(draft: Draft, runtime: Runtime) -> Draft:
    draft = replace(draft, origin=replace(draft.origin, branch=runtime.branch))
    return assign_mission(draft, runtime.environment, runtime.store, runtime.now)


def capture_learnings(payload: Payload, runtime: Runtime) -> list[Written]:
    from ademem.capture import message_lessons, provenance

    if not runtime.settings.capture.learnings:
        return []
    origin = provenance.origin_of(payload, runtime, "passive")
    written = []
    for text in message_lessons.learnings(payload.last_message):
        draft = Draft(content=text, category=category_of(text), origin=origin)
        written.append(write_once(draft, f"{payload.session_id}:{sha256_hex(text)}", runtime))
    return list(filter(None, written))


def capture_heard(
    sentence: str,
    origin: Origin,
    source_key: str,
    runtime: Runtime,
    home: Place | None = None,
) -> Written | None:
    """Write a sentence that a prompt seems to state: what words seem to say confirms nothing."""
    draft = Draft(
        content=sentence,
        category=category_of(sentence),
        stage=Stage.HEARD,
        origin=replace(origin, trust=Trust.AGENT, source_type=HEARD),
    )
    return write_once(draft, source_key, runtime, home)


def capture_error(payload: Payload, runtime: Runtime) -> None:
    """Note that the session met an error; the second session with it makes it a candidate.

    The error of another session is the same one if its decisive line is, or if a command of the
    same program failed with the same code or number.
    """
    from ademem.capture import errors

    if not runtime.settings.capture.errors or not _is_telling(payload):
        return
    store, fingerprint = runtime.store, errors.fingerprint(payload.error)
    source_key = f"{fingerprint}:{payload.session_id}"
    sessions = ledger.list_endings(store, ledger.ERROR, f"{fingerprint}:")
    if payload.session_id in sessions:
        return
    keys = _detail_keys(payload, runtime)
    fingerprints, others = _find_alike(keys, store)
    earlier = [each for each in unique((*sessions, *others)) if each != payload.session_id]
    lesson = _lesson_of(payload, runtime) if earlier else None  # most errors are met once
    with store.transaction():
        if not ledger.claim(store, ledger.ERROR, source_key, runtime.now):
            return
        for key in keys:
            ledger.claim(store, ledger.ERROR_DETAIL, f"{key}{source_key}", runtime.now)
        if lesson:
            origin = Origin(
                trust=Trust.TOOL,
                source_type=ledger.ERROR,
                source_id=fingerprint,
                session_id=payload.session_id,
            )
            _write_error(
                Draft(content=lesson, category=Category.GOTCHA, importance="high", origin=origin),
                earlier,
                unique((fingerprint, *fingerprints)),
                runtime,
            )


def _find_alike(keys: Iterable[str], store: Store) -> tuple[list[str], list[str]]:
    """Return fingerprints and sessions of the errors with one of these details."""
    alike = [met for key in keys for met in ledger.list_endings(store, ledger.ERROR_DETAIL, key)]
    parts = [met.rpartition(":") for met in alike]
    return [fingerprint for fingerprint, _, _ in parts], [session for _, _, session in parts]


def _detail_keys(payload: Payload, runtime: Runtime) -> list[str]:
    """Return a key for each changing program of the command with each detail of its error.

    It is a digest, as either may be a secret that is not known as one.
    """
    from ademem.capture import errors
    from ademem.guard import shell
    from ademem.guard.mutation import judge_part, parts_in

    details = errors.find_details(payload.error)
    script = shell.parse(payload.command) if details else None
    if script is None:
        return []
    parts = parts_in(script, runtime.settings.guard)
    programs = dict.fromkeys(part.key for part in parts if judge_part(part).mutates)
    pairs = ((program, detail) for program in programs for detail in details)
    return [f"{sha256_hex(*pair)[:16]}:" for pair in pairs]


def _is_telling(payload: Payload) -> bool:
    """Return True for a command that failed, in a way that is not ordinary."""
    from ademem.capture import errors

    if payload.tool_name not in SHELL_TOOLS or payload.is_interrupt:
        return False
    line = errors.essential(payload.error)
    return bool(line) and not (errors.is_refusal(payload.error) or errors.is_ordinary(line))


def _lesson_of(payload: Payload, runtime: Runtime) -> str | None:
    """Return none for a test, a check, or a command that only reads: that it fails is a result."""
    from ademem.capture import checks, errors
    from ademem.guard.mutation import judge

    command = payload.command
    if checks.is_check(command) or not judge(command, runtime.settings.guard).mutates:
        return None
    return errors.lesson(payload.tool_name, command, payload.error)


def _write_error(
    draft: Draft, earlier: Sequence[str], fingerprints: Sequence[str], runtime: Runtime
) -> None:
    from ademem.capture import gate

    store, draft = runtime.store, _place_draft(draft, runtime)
    known = (memory_queries.find_error(store, each, draft.owner) for each in fingerprints)
    memory = next(filter(None, known), None)
    origins = [draft.origin]
    if memory is None:
        memory = gate.write(draft, store, runtime.settings.gate, runtime.now).memory
        origins = [replace(draft.origin, session_id=each) for each in earlier]
    if memory is None:
        return
    from ademem.store import evidence

    for origin in origins:
        memory = gate.corroborate(memory, origin, store, runtime.settings.gate, runtime.now)
    for session_id in (draft.origin.session_id, *earlier):
        evidence.add(
            *(store, memory.id, "error_met", runtime.now),
            quote=draft.content,
            session_id=session_id or "",
            message=draft.origin.source_id or "",
        )
