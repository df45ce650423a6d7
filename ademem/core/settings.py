"""Every number that has a meaning, its meaning, its range, and where it may be set."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    T = TypeVar("T")

MORE, LESS = 1, -1
"""Which values are stricter: greater ones, `true`, later choices, added words; or the opposite."""

LONGEST_TEXT = 500
"""Characters of a text, or of a word in a list."""
MOST_WORDS = 500
"""Words in a list."""


class Key:
    """Default and range of one setting, and whether a project's tracked file may set it."""

    __slots__ = ("choices", "default", "is_shared", "least", "most", "stricter")

    def __init__(
        self,
        default: Any,
        least: float | None,
        most: float | None,
        choices: tuple[str, ...],
        stricter: int,
        is_shared: bool,
    ) -> None:
        self.default = default
        self.least = least
        self.most = most
        self.choices = choices
        self.stricter = stricter
        self.is_shared = is_shared

    @property
    def owner(self) -> str:
        """Whose the key is, in words."""
        if self.is_shared:
            return "shared"
        return "yours, or stricter" if self.stricter else "yours"

    def tightened(self, value: Any, current: Any) -> Any:
        """Return *value* where it is stricter than *current*; of lists, both together."""
        if not self.stricter:
            return current
        if isinstance(current, tuple):
            return current + tuple(word for word in value if word not in current)
        rank = self.choices.index if self.choices else float
        return value if (rank(value) - rank(current)) * self.stricter > 0 else current


def shared(
    default: T, least: float | None = None, most: float | None = None, choices: tuple[str, ...] = ()
) -> T:
    """A key that a project's tracked `config.toml` may set."""
    return (default, least, most, choices, 0, True)  # type: ignore[return-value]


def yours(
    default: T,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    stricter: int = 0,
) -> T:
    """A key of the person; *stricter* is the direction in which a tracked file may move it."""
    return (default, least, most, choices, stricter, False)  # type: ignore[return-value]


class Section(Value):
    """Settings with a heading of their own."""

    _keys: dict[str, tuple[Any, ...]] = {}
    """Arguments of each Key: hooks need the defaults alone."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._keys = cls._defaults
        cls._defaults = {name: key[0] for name, key in cls._keys.items()}


DTYPES = ("int8", "fp32")
AI_PROVIDERS = ("none", "claude", "openai")
GUARD_MODES = ("strict", "assist", "orient", "warn", "off")
"""The strictest first."""
LEVELS = {"lite": 3, "standard": 8, "deep": 20}
"""Entries of each kind that a briefing chooses, by its level."""


class GateSettings(Section):
    near_duplicate: float = shared(0.85, 0.5, 1)
    """Jaccard similarity of the words from which a draft merges into a memory we have."""
    max_chars: int = shared(2000, 100, 20_000)
    """Longest memory, in characters."""
    max_bytes_titled: int = shared(50_000, 1000, 500_000)
    """Longest observation saved with a title, in UTF-8 bytes."""
    merge_gain: float = shared(0.05, 0, 0.5)
    """Share of the missing confidence that a second, different origin adds."""
    derivable_lines: float = shared(0.5, 0, 1)
    """Share of code-derivable lines from which they dominate a text."""
    derivable_lines_strict: float = shared(0.3, 0, 1)
    """The same in strict mode."""
    promote_sources: tuple[str, ...] = yours(("user",))
    """Source types whose memories need no candidate stage: what a person typed."""


class SearchSettings(Section):
    limit: int = shared(10, 1, 100)
    """Hits a search returns unless asked otherwise."""
    hybrid: bool = shared(True)
    """Whether the meaning counts beside the words, once a model is installed."""
    warm: bool = shared(True)
    """Whether prompts ask a process that has the model loaded, such as `ademem serve`."""
    warm_ms: int = shared(120, 0, 60_000)
    """Longest they wait for its answer; then the words alone decide."""


class EmbedSettings(Section):
    dtype: str = yours("int8", choices=DTYPES)
    """Number format of the model: int8 (48 MB on the disk) | fp32 (181 MB, half the speed)."""
    offline: bool = yours(False, stricter=MORE)
    """Whether `ademem model install` may fetch nothing, and only takes a folder."""


class GuardSettings(Section):
    mode: str = yours("strict", choices=GUARD_MODES, stricter=LESS)
    """strict | assist | orient | warn | off."""
    max_blocks: int = yours(2, 0, 20, stricter=MORE)
    """Denials in one turn; the next mutation passes."""
    fail: str = yours("open", choices=("open", "closed"), stricter=MORE)
    """What a failure of the guard itself decides: open | closed."""
    mutating_mcp: tuple[str, ...] = yours((), stricter=MORE)
    """More words that make an MCP tool a changing one wherever they stand in its name."""
    reads: tuple[str, ...] = yours(())
    """Beginnings of commands that only read: `npm run lint`; MCP tools too: `mcp__docs__*`."""
    changes: tuple[str, ...] = yours((), stricter=MORE)
    """Words of commands that change something, before all else: `pytest --live`; MCP tools too."""
    aliases: tuple[str, ...] = yours(())
    """What names stand for in your shell: `k=kubectl`."""
    order_words: tuple[str, ...] = yours((), stricter=MORE)
    """More words that order a change: whole (`usuń`), the beginning (`napraw*`), a part (`*x*`)."""
    question_words: tuple[str, ...] = yours(())
    """More words that open a question, or a wish to be told something."""
    talk_words: tuple[str, ...] = yours(())
    """More words of small talk."""


class BriefingSettings(Section):
    max_chars: int = shared(9000, 500, 10_000)
    """Longest context of one hook; the client cuts at 10,000."""
    level: str = shared("standard", choices=tuple(LEVELS))
    """How many memories of a kind a session hears at most: lite (3) | standard (8) | deep (20)."""
    patience: int = shared(10, 1, 1_000_000)
    """Unused showings that cost nothing; beyond, a memory's worth is times patience / showings."""
    recent: int = shared(5, 0, 50)
    """Newest knowledge entries."""
    agent: int = shared(8, 0, 50)
    """Memories in a subagent's brief."""
    prompt: int = shared(4, 0, 20)
    """Memories added to a prompt at most."""
    prompt_chars: int = shared(300, 40, 2000)
    """Length of one of them."""
    hints: int = shared(3, 0, 20)
    """Memories told beside an edit, a command or a failure at most, each once a session."""
    hint_tokens: int = shared(600, 0, 5000)
    """Budget of these, with the sentence above them; a token is about four bytes."""


class MirrorSettings(Section):
    max_lines: int = shared(200, 20, 10_000)
    """Longest MEMORY.md, in lines; the client loads no more of such an index."""
    max_bytes: int = shared(25_000, 1000, 1_000_000)
    """The same in bytes."""
    candidates: bool = shared(False)
    """Whether `candidates.md` offers what waits for a word, to be ticked, edited or deleted."""
    topic_entries: int = shared(400, 10, 10_000)
    """Entries of a topic file before it splits by subtopic."""
    rotate_above: int = shared(1000, 10, 1_000_000)
    """Lines of knowledge.jsonl above which the oldest are archived."""
    rotate_lines: int = shared(500, 1, 1_000_000)
    """How many are archived at once."""
    default_branch: str = shared("")
    """The branch whose memories are everybody's; empty: what origin says, else main or master."""


class CaptureSettings(Section):
    prompts: bool = yours(True, stricter=LESS)
    """Whether the person's prompts are stored (redacted)."""
    prompt_chars: int = yours(20_000, 0, 1_000_000, stricter=LESS)
    """Longest prompt that is stored, in characters."""
    learned: bool = yours(True, stricter=LESS)
    """Whether `LEARNED:` and its relatives in `bd comment` and `git commit` become candidates."""
    learnings: bool = yours(True, stricter=LESS)
    """Whether the learnings section of a final message does."""
    corrections: bool = yours(True, stricter=LESS)
    """Whether what a person corrects in a prompt does ("no, use pnpm instead of npm")."""
    errors: bool = yours(True, stricter=LESS)
    """Whether the error of a failed command does."""
    ask_at_stop: bool = yours(False, stricter=LESS)
    """Ask once a session for findings when a required turn changed files and saved nothing."""


class LifecycleSettings(Section):
    sweep_hours: float = shared(24.0, 1, 87_600)
    """Time after which the next sweep is due."""
    half_life_days: float = shared(30.0, 1, 36_500)
    """Time without access in which a score halves."""
    demote_days: float = shared(90.0, 1, 36_500)
    """Time without access after which an active memory fades."""
    demote_score: float = shared(0.05, 0, 1)
    """Score below which it fades before that: what was worth little goes sooner."""
    archive_days: float = shared(180.0, 1, 36_500)
    """Time without access after which a fading one, or a candidate, is archived."""
    archive_score: float = shared(0.005, 0, 1)
    """Score below which it is archived before that."""
    weak_confidence: float = shared(0.3, 0, 1)
    """Confidence below which a candidate is weak,"""
    weak_days: float = shared(30.0, 1, 36_500)
    """and is archived when nobody asked for it in so long."""
    promote_confidence: float = yours(0.7, 0, 1, stricter=MORE)
    """Confidence from which a candidate is confirmed that was recalled, or said again elsewhere."""
    merge_days: float = shared(7.0, 0.5, 36_500)
    """Time after which the next consolidation is due."""
    merge_cosine: float = shared(0.85, 0.5, 1)
    """Cosine from which two memories may mean the same; those of different matters stay below."""
    conflict_cosine: float = shared(0.7, 0, 1)
    """Cosine from which two with different numbers are taken for one statement that changed."""
    merge_least: int = shared(3, 2, 100)
    """Memories that must mean the same before they are merged."""
    mission_confidence: float = yours(0.6, 0, 1, stricter=MORE)
    """Confidence from which a memory of a mission that succeeded is copied to the project."""
    project_limit: int = shared(2000, 0, 1_000_000)
    """Live memories of a project, of which a sweep archives the lowest; 0 means any number."""
    agent_limit: int = shared(500, 0, 1_000_000)
    """The same of one agent."""
    mission_limit: int = shared(200, 0, 1_000_000)
    """The same of one mission, once it is over."""


class AISettings(Section):
    provider: str = yours("none", choices=AI_PROVIDERS)
    """Who is asked to summarise: none | claude (`claude -p`, your account) | openai (a URL)."""
    model: str = yours("")
    """Which of its models; with claude, nothing means the small one."""
    url: str = yours("")
    """Where an OpenAI-compatible API answers: `http://localhost:11434/v1`."""
    timeout_s: float = yours(120.0, 1, 3600)
    """Longest wait for an answer."""
    daily_calls: int = yours(40, 0, 100_000)
    """Most questions a day; then all goes on as without an AI."""


class ProcedureSettings(Section):
    contexts: float = shared(3.0, 1, 1000)
    """Distinct sessions that did not fail, from which what they did alike is a procedure."""
    feedback_weight: float = shared(1.5, 0, 10)
    """For how many of them a pull request counts whose reviewers asked for it."""
    newest: int = shared(500, 10, 2000)
    """Sessions that are compared."""
    alike: float = shared(0.35, 0, 1)
    """Likeness of task and steps, on average, from which a session belongs to others; 0 to 1."""
    share: float = shared(0.6, 0, 1)
    """Share of them that has to take a step, so that it is one of the procedure."""
    steps: int = shared(2, 1, 100)
    """Steps it needs that other sessions rarely take."""
    rare: float = shared(0.3, 0, 1)
    """Share of the other sessions up to which they rarely take a step."""
    start: float = shared(0.55, 0, 1)
    """Confidence of a new procedure."""
    gain: float = shared(0.15, 0, 1)
    """Share of the missing confidence that a success adds."""
    loss: float = shared(0.7, 0, 1)
    """A failure multiplies the confidence by it."""
    promote_successes: int = yours(3, 1, 1000, stricter=MORE)
    """Successes, and"""
    promote_confidence: float = yours(0.8, 0, 1, stricter=MORE)
    """confidence from which it is promoted."""
    archive_outcomes: int = shared(5, 1, 1000)
    """Outcomes from which it is archived when its confidence is below"""
    archive_confidence: float = shared(0.3, 0, 1)
    """this."""
    followed: float = shared(0.5, 0, 1)
    """Share of its steps that a session has to take for its end to count as theirs."""
    outdated: float = shared(0.6, 0, 1)
    """Agreement with what the newest sessions do alike, below which that supersedes it."""


class SkillSettings(Section):
    export: bool = shared(True)
    """Whether promoted procedures are written to `.ade/skills/`."""
    publish: bool = yours(False, stricter=LESS)
    """Whether they are also written to `.claude/skills/`, where Claude Code loads them."""


class JobSettings(Section):
    auto: bool = yours(True, stricter=LESS)
    """Whether hooks start due work in the background."""
    memory_mb: int = yours(2048, 0, 1_000_000)
    """Most memory, in MiB, that such work may ask the system for; 0 means any."""


class TrustSettings(Section):
    roots: tuple[str, ...] = yours(())
    """Folders, as globs, in which a database that was not made here counts as yours."""


class Settings(Value):
    gate: GateSettings = GateSettings()
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    guard: GuardSettings = GuardSettings()
    briefing: BriefingSettings = BriefingSettings()
    mirror: MirrorSettings = MirrorSettings()
    capture: CaptureSettings = CaptureSettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    ai: AISettings = AISettings()
    procedures: ProcedureSettings = ProcedureSettings()
    skills: SkillSettings = SkillSettings()
    jobs: JobSettings = JobSettings()
    trust: TrustSettings = TrustSettings()


PERSONAL_SECTION = "trust"
"""Counts from the environment and the person's own file, and from no file of a project."""


def find_key(name: str) -> Key | None:
    """The key called `section.key`; None when there is none."""
    section, _, key = name.partition(".")
    found = Settings._defaults.get(section)
    return Key(*found._keys[key]) if found and key in found._keys else None


def all_keys() -> Iterator[tuple[str, Key]]:
    """Every key with its name, in the order of the settings."""
    for section, default in Settings._defaults.items():
        for name, key in default._keys.items():
            yield f"{section}.{name}", Key(*key)
