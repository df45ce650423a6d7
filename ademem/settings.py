"""Every number that has a meaning, its meaning, and where a project may change it."""

from __future__ import annotations

from ademem.value import Value

_WRITES = "write edit create update delete remove move rename insert append replace patch"
MUTATING = (*_WRITES.split(), *"put post push merge commit execute run send set".split())


class GateSettings(Value):
    near_duplicate: float = 0.85
    """Jaccard similarity of the words from which a draft merges into a memory we have."""
    max_chars: int = 2000
    """Longest memory, in characters."""
    max_bytes_titled: int = 50_000
    """Longest observation saved with a title, in UTF-8 bytes."""
    merge_gain: float = 0.05
    """Share of the missing confidence that a second, different origin adds."""
    derivable_lines: float = 0.5
    """Share of code-derivable lines from which they dominate a text."""
    derivable_lines_strict: float = 0.3
    """The same in strict mode."""
    promote_sources: tuple[str, ...] = ("user",)
    """Source types whose memories need no candidate stage: what a person typed."""


class SearchSettings(Value):
    limit: int = 10
    """Hits a search returns unless asked otherwise."""
    hybrid: bool = True
    """Whether the meaning counts beside the words, once a model is installed."""
    pool: int = 60
    """Rows that the words hand on to the ranking, and as many by the meaning."""
    words: float = 0.2
    """Weight of the words of a memory in its relevance."""
    meaning: float = 0.3
    """Weight of its meaning: what its vector has in common with the question's."""
    near_words: float = 0.3
    """Weight of the words of it and its neighbours in the session."""
    near_meaning: float = 0.2
    """Weight of the meaning of it and its neighbours."""
    near_notes: float = 0.35
    """Part of the weight of the neighbours for what is no turn of a dialogue; 0 to 1."""
    speaker: float = 0.25
    """Added for a turn whose speaker the question names."""
    time: float = 0.25
    """Added for a memory with a word of time when the question asks when."""
    date: float = 0.35
    """Added for a memory learned in the month or year that the question names."""
    asks: float = -0.08
    """Added for a memory that ends with a question: it rarely answers one."""
    steps: float = -0.2
    """Added for a procedure that sessions taught, when a question is asked and no task given."""
    relevance: float = 0.8
    """Weight of the relevance in the composite score; the rest is shared out below."""
    recency: float = 0.02
    """Weight of how lately the memory changed."""
    importance: float = 0.11
    """Weight of its importance."""
    confidence: float = 0.05
    """Weight of how far it is believed."""
    access: float = 0.02
    """Weight of how much it is used."""
    tier_bonus: tuple[float, float, float] = (0.1, 0.0, -0.05)
    """Added for tier 1, 2, 3."""
    candidate_discount: float = 0.97
    """A candidate's composite is multiplied by it."""
    branch_discount: float = 0.8
    """The same for a memory that waits on a branch other than yours."""
    astray_discount: float = 0.8
    """The same for a memory that speaks of code which changed or is gone since."""
    contradicted_discount: float = 0.8
    """The same for one that a later memory contradicts; a person's word yields to a person's."""
    floor: float = 0.25
    """Share of what was asked that a hit must hold, rare words counting more; 0 to 1."""
    prompt_floor: float = 0.4
    """The same for a prompt, which names more than it asks: one rare word is not enough."""
    cosine_floor: float = 0.25
    """Cosine to the question from which a hit needs no words of it."""
    answer_share: float = 0.8
    """With vectors, a question is answered when one row holds this share of it,"""
    answer_cosine: float = 0.35
    """or has this cosine to it."""
    answer_words: float = 0.2
    """Without vectors, a row answers a long question by 2 words and this part of all; 0: by any."""
    mmr_lambda: float = 0.7
    """1 ranks by score alone, 0 by novelty alone."""
    half_life_days: float = 30.0
    """Age at which the recency signal has halved."""
    warm: bool = True
    """Whether prompts ask a process that has the model loaded, such as `ademem serve`."""
    warm_ms: int = 120
    """Longest they wait for its answer; then the words alone decide."""


class EmbedSettings(Value):
    dtype: str = "int8"
    """Number format of the model: int8 (48 MB on the disk) | fp32 (181 MB, half the speed)."""
    offline: bool = False
    """Whether `ademem model install` may fetch nothing, and only takes a folder."""


class GuardSettings(Value):
    mode: str = "strict"
    """strict | assist | orient | warn | off."""
    max_blocks: int = 2
    """Denials in one turn; the next mutation passes."""
    fail: str = "open"
    """What a failure of the guard itself decides: open | closed."""
    mutating_mcp: tuple[str, ...] = MUTATING
    """Words in the name of an MCP tool that make it a mutating one."""
    reads: tuple[str, ...] = ()
    """Beginnings of commands that only read: `npm run lint`; `*` ends a word of any ending."""
    changes: tuple[str, ...] = ()
    """Words of commands that change something, before all else: `pytest --live`."""
    aliases: tuple[str, ...] = ()
    """What names stand for in your shell: `k=kubectl`."""
    order_words: tuple[str, ...] = ()
    """More words that order a change: whole (`usuń`), the beginning (`napraw*`), a part (`*x*`)."""
    question_words: tuple[str, ...] = ()
    """More words that open a question, or a wish to be told something."""
    talk_words: tuple[str, ...] = ()
    """More words of small talk."""


class BriefingSettings(Value):
    max_chars: int = 9000
    """Longest context of one hook; the client cuts at 10,000."""
    level: str = "standard"
    """How many memories of a kind a session hears at most: lite (3) | standard (8) | deep (20)."""
    patience: int = 10
    """Unused showings that cost nothing; beyond, a memory's worth is times patience / showings."""
    recent: int = 5
    """Newest knowledge entries."""
    agent: int = 8
    """Memories in a subagent's brief."""
    prompt: int = 4
    """Memories added to a prompt at most."""
    prompt_chars: int = 300
    """Length of one of them."""
    site: int = 3
    """Memories told beside an edit, a command or a failure at most, each once a session."""
    site_tokens: int = 600
    """Budget of these, with the sentence above them; a token is about four bytes."""


class MirrorSettings(Value):
    max_lines: int = 200
    """Longest MEMORY.md, in lines; the client loads no more of such an index."""
    max_bytes: int = 25_000
    """The same in bytes."""
    candidates: bool = False
    """Whether `candidates.md` offers what waits for a word, to be ticked, edited or deleted."""
    topic_entries: int = 400
    """Entries of a topic file before it splits by subtopic."""
    rotate_above: int = 1000
    """Lines of knowledge.jsonl above which the oldest are archived."""
    rotate_lines: int = 500
    """How many are archived at once."""
    default_branch: str = ""
    """The branch whose memories are everybody's; empty: what origin says, else main or master."""


class CaptureSettings(Value):
    prompts: bool = True
    """Whether the person's prompts are stored (redacted)."""
    prompt_chars: int = 20_000
    """Longest prompt that is stored, in characters."""
    learned: bool = True
    """Whether `LEARNED:` and its relatives in `bd comment` and `git commit` become candidates."""
    learnings: bool = True
    """Whether the learnings section of a final message does."""
    corrections: bool = True
    """Whether what a person corrects in a prompt does ("no, use pnpm instead of npm")."""
    errors: bool = True
    """Whether the error of a failed command does."""
    ask_at_stop: bool = False
    """Ask once a session for findings when a required turn changed files and saved nothing."""


class LifecycleSettings(Value):
    sweep_hours: float = 24.0
    """Time after which the next sweep is due."""
    half_life_days: float = 30.0
    """Time without access in which a score halves."""
    demote_days: float = 90.0
    """Time without access after which an active memory fades."""
    demote_score: float = 0.05
    """Score below which it fades before that: what was worth little goes sooner."""
    archive_days: float = 180.0
    """Time without access after which a fading one, or a candidate, is archived."""
    archive_score: float = 0.005
    """Score below which it is archived before that."""
    weak_confidence: float = 0.3
    """Confidence below which a candidate is weak,"""
    weak_days: float = 30.0
    """and is archived when nobody asked for it in so long."""
    promote_confidence: float = 0.7
    """Confidence from which a candidate is confirmed that was recalled, or said again elsewhere."""
    merge_days: float = 7.0
    """Time after which the next consolidation is due."""
    merge_cosine: float = 0.85
    """Cosine from which two memories may mean the same; those of different matters stay below."""
    conflict_cosine: float = 0.7
    """Cosine from which two with different numbers are taken for one statement that changed."""
    merge_least: int = 3
    """Memories that must mean the same before they are merged."""
    mission_confidence: float = 0.6
    """Confidence from which a memory of a mission that succeeded is copied to the project."""
    project_limit: int = 2000
    """Live memories of a project, of which a sweep archives the lowest; 0 means any number."""
    agent_limit: int = 500
    """The same of one agent."""
    mission_limit: int = 200
    """The same of one mission, once it is over."""


class AISettings(Value):
    provider: str = "none"
    """Who is asked to summarise: none | claude (`claude -p`, your account) | openai (a URL)."""
    model: str = ""
    """Which of its models; with claude, nothing means the small one."""
    url: str = ""
    """Where an OpenAI-compatible API answers: `http://localhost:11434/v1`."""
    timeout_s: float = 120.0
    """Longest wait for an answer."""
    daily_calls: int = 40
    """Most questions a day; then all goes on as without an AI."""


class ProcedureSettings(Value):
    contexts: float = 3.0
    """Distinct sessions that did not fail, from which what they did alike is a procedure."""
    feedback_weight: float = 1.5
    """For how many of them a pull request counts whose reviewers asked for it."""
    newest: int = 500
    """Sessions that are compared."""
    alike: float = 0.35
    """Likeness of task and steps, on average, from which a session belongs to others; 0 to 1."""
    share: float = 0.6
    """Share of them that has to take a step, so that it is one of the procedure."""
    steps: int = 2
    """Steps it needs that other sessions rarely take."""
    rare: float = 0.3
    """Share of the other sessions up to which they rarely take a step."""
    start: float = 0.55
    """Confidence of a new procedure."""
    gain: float = 0.15
    """Share of the missing confidence that a success adds."""
    loss: float = 0.7
    """A failure multiplies the confidence by it."""
    promote_successes: int = 3
    """Successes, and"""
    promote_confidence: float = 0.8
    """confidence from which it is promoted."""
    archive_outcomes: int = 5
    """Outcomes from which it is archived when its confidence is below"""
    archive_confidence: float = 0.3
    """this."""
    followed: float = 0.5
    """Share of its steps that a session has to take for its end to count as theirs."""
    outdated: float = 0.6
    """Agreement with what the newest sessions do alike, below which that supersedes it."""


class SkillSettings(Value):
    export: bool = True
    """Whether promoted procedures are written to `.ade/skills/`."""
    publish: bool = False
    """Whether they are also written to `.claude/skills/`, where Claude Code loads them."""


class JobSettings(Value):
    auto: bool = True
    """Whether hooks start due work in the background."""
    memory_mb: int = 2048
    """Most memory, in MiB, that such work may ask the system for; 0 means any."""


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


DTYPES = ("int8", "fp32")
AI_PROVIDERS = ("none", "claude", "openai")
LEVELS = {"lite": 3, "standard": 8, "deep": 20}
"""Entries of each kind that a briefing chooses, by its level."""
