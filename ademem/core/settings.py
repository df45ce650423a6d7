"""Settings with meaning, range and owner, loaded from the environment, files and the defaults."""

from __future__ import annotations

import os

from ademem.core import clone_variables, trust
from ademem.core.caching import cache
from ademem.core.errors import UsageError
from ademem.core.json_text import loads
from ademem.core.text import counted
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, ClassVar, TypeVar

    from ademem.core.project import Project
    from ademem.core.setting_sources import SettingWarning

    T = TypeVar("T")
    S = TypeVar("S", bound="Section")

MORE, LESS = 1, -1
"""Direction of stricter values: greater numbers, `true`, later choices, added words; or less."""

LONGEST_TEXT = 500
"""Most characters of a text, or of a word in a list."""
MOST_WORDS = 500

MAX_WARNINGS = 5
MAX_NOTICE_CHARS = 100

SECRETS = ("ADEMEM_AI_KEY", "ADEMEM_HUB_DSN")
"""Variables that look like settings; each is read where it is used, and never stored."""


class Key(Value):
    default: Any
    least: float | None
    most: float | None
    choices: tuple[str, ...]
    stricter: int
    is_shared: bool

    @property
    def owner(self) -> str:
        if self.is_shared:
            return "shared"
        return "yours, or stricter" if self.stricter else "yours"

    def tightened(self, value: Any, current: Any) -> Any:
        if not self.stricter:
            return current
        if isinstance(current, tuple):
            return current + tuple(word for word in value if word not in current)
        rank = self.choices.index if self.choices else float
        return value if (rank(value) - rank(current)) * self.stricter > 0 else current


def shared(
    default: T, least: float | None = None, most: float | None = None, choices: tuple[str, ...] = ()
) -> T:
    """Define a key that a project's tracked `config.toml` may set."""
    return (default, least, most, choices, 0, True)  # type: ignore[return-value]


def yours(
    default: T,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    stricter: int = 0,
) -> T:
    """Define a key of the person; a tracked file may move it in the *stricter* direction alone."""
    return (default, least, most, choices, stricter, False)  # type: ignore[return-value]


class Section(Value):
    _keys: dict[str, tuple[Any, ...]] = {}
    """Fields of each Key, as hooks need only the defaults."""
    _name = ""
    """Name of a section that a part declares."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._keys = cls._defaults
        cls._defaults = {name: key[0] for name, key in cls._keys.items()}


DTYPES = ("int8", "fp32")
GUARD_MODES = ("strict", "consult", "off")
"""Modes of the guard, the strictest first."""
FORMER_MODES = ("assist", "orient", "warn")
"""Modes that are read as `consult`."""
LEVELS = {"lite": 3, "standard": 8, "deep": 20}
"""Entries of each kind in a briefing, by its level."""


class GateSettings(Section):
    max_chars: int = shared(2000, 100, 20_000)
    """Maximum length of a memory in characters."""


class SearchSettings(Section):
    limit: int = shared(10, 1, 100)
    """Number of hits that a search returns by default."""
    hybrid: bool = shared(True)
    """Rank by meaning as well as by words once a model is installed."""
    warm: bool = shared(True)
    """Let prompts ask a process that has the model loaded, such as `ademem serve`."""
    warm_ms: int = shared(120, 0, 60_000)
    """Milliseconds that a prompt waits for a process with the model before words alone decide."""


class EmbedSettings(Section):
    dtype: str = yours("int8", choices=DTYPES)
    """Number format of the model: int8 (48 MB on disk) or fp32 (181 MB and half the speed)."""
    multilingual: str = yours("auto", choices=("off", "auto", "all"))
    """Use of the second model, once installed: for no text, those not in English, or for all."""
    offline: bool = yours(False, stricter=MORE)
    """Forbid `ademem model install` every download, so that it only installs from a folder."""


class GuardSettings(Section):
    mode: str = yours("consult", choices=GUARD_MODES, stricter=LESS)
    """Mode of the guard: strict, consult or off."""
    max_blocks: int = yours(2, 0, 20, stricter=MORE)
    """Maximum number of denials in one turn."""
    fail: str = yours("open", choices=("open", "closed"), stricter=MORE)
    """Decision of the guard when it fails itself: open allows the call, closed denies it."""
    mutating_mcp: tuple[str, ...] = yours((), stricter=MORE)
    """Words that make an MCP tool count as a change wherever they occur in its name."""
    reads: tuple[str, ...] = yours(())
    """Prefixes of commands that only read, such as `npm run lint`, or MCP tools: `mcp__docs__*`."""
    changes: tuple[str, ...] = yours((), stricter=MORE)
    """Words of commands that change something, such as `pytest --live`; they outrank all rules."""
    order_words: tuple[str, ...] = yours((), stricter=MORE)
    """Words that order a change: whole (`usuń`), as a prefix (`napraw*`) or anywhere (`*x*`)."""
    mcp_servers: tuple[str, ...] = yours(("ademem",))
    """Names of MCP servers whose tools are those of `ademem mcp`, and whose searches count."""
    question_words: tuple[str, ...] = yours(())
    """Words that begin a question or a request for information."""
    talk_words: tuple[str, ...] = yours(())
    """Words of small talk."""


class BriefingSettings(Section):
    max_chars: int = shared(9000, 500, 10_000)
    """Maximum length of the context that one hook adds; Claude Code truncates it at 10,000."""
    level: str = shared("standard", choices=tuple(LEVELS))
    """Maximum number of memories of a kind in a briefing: lite (3), standard (8) or deep (20)."""
    prompt: int = shared(1, 0, 20)
    """Maximum number of memories that are added to a prompt."""
    hints: int = shared(2, 0, 20)
    """Maximum number of memories that are added to one edit, command or failure."""


class NoticeSettings(Section):
    level: str = shared("normal", choices=("quiet", "normal"))
    """Lines that a session shows to you: normal, or quiet for warnings and failures alone."""


class MirrorSettings(Section):
    max_lines: int = shared(200, 20, 10_000)
    """Maximum length of MEMORY.md in lines; Claude Code loads 200 lines of such an index."""
    max_bytes: int = shared(25_000, 1000, 1_000_000)
    """Maximum size of MEMORY.md in bytes."""
    candidates: bool = shared(False)
    """Write candidates to `candidates.md`, where they are ticked, edited or deleted."""
    topic_entries: int = shared(400, 10, 10_000)
    """Number of entries above which a topic file is split by subtopic."""
    default_branch: str = shared("")
    """Branch whose memories count on every branch; empty for the one of origin, main or master."""


class CaptureSettings(Section):
    prompts: bool = yours(True, stricter=LESS)
    """Store prompts, with secrets redacted."""
    learned: bool = yours(True, stricter=LESS)
    """Make candidates of `LEARNED:` and similar lines in `bd comment` and `git commit`."""
    learnings: bool = yours(True, stricter=LESS)
    """Make candidates of the learnings section of a final message."""
    errors: bool = yours(True, stricter=LESS)
    """Make candidates of errors of commands that come back in a second session."""
    ask_at_stop: bool = yours(False, stricter=LESS)
    """Ask for findings once a session if a turn under the guard changed files and saved nothing."""
    injections: bool = yours(True, stricter=LESS)
    """Store each text that a hook puts before a model, as `ademem why` shows it."""
    injections_days: int = yours(30, 1, 36_500, stricter=LESS)
    """Days after which such a text is deleted."""
    injections_mb: int = yours(20, 1, 100_000, stricter=LESS)
    """Maximum size of all such texts in MB, above which the oldest are deleted."""


class LearnSettings(Section):
    ask: bool = yours(True, stricter=LESS)
    """Ask Claude beside a prompt, at most five times a session, if a sentence of it holds on."""
    reader: str = yours("off", choices=("off", "on"), stricter=LESS)
    """Read each ended session once with the small model of your own client (`claude -p`), at most
    20 sessions a day: what was said goes once more to the provider of your sessions. Off or on."""
    client_memory: bool = yours(True, stricter=LESS)
    """Read the files of Claude Code's own memory of this project, which become candidates."""


class LifecycleSettings(Section):
    half_life_days: float = shared(30.0, 1, 36_500)
    """Days without access in which the score of a memory halves."""
    demote_days: float = shared(90.0, 1, 36_500)
    """Days without access after which an active memory fades."""
    archive_days: float = shared(180.0, 1, 36_500)
    """Days without access after which a candidate is archived."""
    project_limit: int = shared(2000, 0, 1_000_000)
    """Maximum number of live memories of a project; above it, the lowest candidates are archived.
    0: any."""
    agent_limit: int = shared(500, 0, 1_000_000)
    """Maximum number of live memories of one agent; 0: any."""
    mission_limit: int = shared(200, 0, 1_000_000)
    """Maximum number of live memories of one finished mission; 0: any."""

    def limit_of(self, scope: str) -> int:
        """Return the limit of a scope; 0, as for any number, for one that a damaged row has."""
        limit: int = getattr(self, f"{scope}_limit", 0)
        return limit


class AISettings(Section):
    provider: str = yours("none", choices=("none", "claude", "openai"))
    """Provider of summaries: none, claude (`claude -p` with your account) or openai (a URL)."""
    model: str = yours("")
    """Model of the provider; empty for the small model of claude."""
    url: str = yours("")
    """Address of an OpenAI-compatible API, such as `http://localhost:11434/v1`."""
    timeout_s: float = yours(120.0, 1, 3600)
    """Seconds after which an unanswered request to the provider fails."""
    daily_calls: int = yours(40, 0, 100_000)
    """Maximum number of requests to the provider in a day."""


class SkillSettings(Section):
    export: bool = shared(True)
    """Write confirmed procedures to `.ade/skills/`."""
    publish: bool = yours(False, stricter=LESS)
    """Also write confirmed procedures to `.claude/skills/`, from where Claude Code loads them."""


class JobSettings(Section):
    auto: bool = yours(True, stricter=LESS)
    """Start due jobs in the background, after a turn or a change."""
    daily_s: int = yours(300, 0, 100_000)
    """Processor seconds in a day after which embedding and relating in the background wait for the
    next; 0: any."""
    memory_mb: int = yours(2048, 0, 1_000_000)
    """Maximum memory of a background process in MiB; 0: any."""


class SyncSettings(Section):
    author: str = yours("")
    """Name written beside what is sent to other machines; empty for git's user.name."""


class ProjectSettings(Section):
    name: str = shared("")
    """Name of the project among those of this machine; empty for that of its remote or folder."""


class DoorSettings(Section):
    writes_per_minute: int = yours(30, 1, 100_000)
    """Maximum number of memories that one server process writes in a minute."""
    http_idle_minutes: int = yours(60, 1, 100_000, stricter=LESS)
    """Minutes without a request after which a server over HTTP ends."""


class RelationSettings(Section):
    candidates: int = shared(3, 0, 20)
    """Maximum number of memories on the same subject that are named when one is saved."""
    surface: bool = shared(True)
    """Name memories on the same subject when one is saved."""


class AdoptSettings(Section):
    files: tuple[str, ...] = yours(("auto",))
    """Instruction files that `ademem adopt` reads: auto for all that are known, globs, or off."""


class TrustSettings(Section):
    roots: tuple[str, ...] = yours(())
    """Globs of folders whose databases count as yours even if they were made elsewhere."""


class Settings(Value):
    gate: GateSettings = GateSettings()
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    guard: GuardSettings = GuardSettings()
    briefing: BriefingSettings = BriefingSettings()
    notice: NoticeSettings = NoticeSettings()
    mirror: MirrorSettings = MirrorSettings()
    capture: CaptureSettings = CaptureSettings()
    learn: LearnSettings = LearnSettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    ai: AISettings = AISettings()
    skills: SkillSettings = SkillSettings()
    jobs: JobSettings = JobSettings()
    sync: SyncSettings = SyncSettings()
    project: ProjectSettings = ProjectSettings()
    doors: DoorSettings = DoorSettings()
    relations: RelationSettings = RelationSettings()
    adopt: AdoptSettings = AdoptSettings()
    trust: TrustSettings = TrustSettings()
    _of_parts: ClassVar[Mapping[str, Section]] = {}

    def of(self, kind: type[S]) -> S:
        """Return the section that a part declares as this class."""
        found = self._of_parts.get(kind._name)
        return found if isinstance(found, kind) else kind()


OF_PARTS = ("hub", "mcp")
"""Sections of parts of this package, each with the name of its part, which may not be there."""


@cache
def sections() -> dict[str, type[Section]]:
    """Return the classes of all sections by name, those of the parts that are there last."""
    from ademem.core import plugins

    own = {name: type(default) for name, default in Settings._defaults.items()}
    given = (kind for module in plugins.modules("SETTINGS") for kind in module.SETTINGS)
    return {kind._name: kind for kind in given} | own


def is_section(name: str) -> bool:
    """Tell whether a section has this name, and load no part of this package for it."""
    from ademem.core import plugins

    if name in Settings._names or name in OF_PARTS:
        return True
    return bool(plugins.noted("SETTINGS")) and name in sections()


PERSONAL_SECTION = "trust"
"""Section that no file of a project may set."""


def find_key(name: str) -> Key | None:
    section, _, key = name.partition(".")
    found: Any = Settings._defaults.get(section) or sections().get(section)
    fields = found._keys.get(key) if found else None
    return Key(**dict(zip(Key._fields, fields, strict=True))) if fields else None


def all_keys() -> Iterator[tuple[str, Key]]:
    for section, kind in sections().items():
        for name in kind._keys:
            yield f"{section}.{name}", key_of(f"{section}.{name}")


SHOWN_CHARS = 40


class BadSetting(UsageError):
    hint = "`ademem config list` shows all keys"


def key_of(name: str) -> Key:
    key = find_key(name)
    if key is None:
        raise BadSetting(unknown_warning(name))
    return key


def as_value(name: str, given: Any) -> Any:
    key = key_of(name)
    value = _convert(name, given, key.default)
    if key.choices and value not in key.choices:
        raise BadSetting(f"{name} is {_format(given)}; it may be {', '.join(key.choices)}")
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, str):
            if len(part) > LONGEST_TEXT:
                raise BadSetting(f"{name} is longer than {LONGEST_TEXT} characters")
        elif key.least is not None and key.most is not None and not key.least <= part <= key.most:
            raise BadSetting(f"{name} is {_format(given)}; it may be {key.least:,} to {key.most:,}")
    return value


def as_settings(values: Mapping[str, Any]) -> Settings:
    changed: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, key = name.partition(".")
        changed.setdefault(section, {})[key] = value
    given: dict[str, Any] = {name: _kind_of(name)(**keys) for name, keys in changed.items()}
    of_parts = {name: given.pop(name) for name in given.keys() - Settings._names}
    made = Settings(**given)
    if of_parts:
        made.__dict__["_of_parts"] = of_parts
    return made


def _kind_of(section: str) -> type[Section]:
    own = Settings._defaults.get(section)
    return type(own) if own else sections()[section]


def unknown_warning(name: str) -> str:
    from difflib import get_close_matches

    section, dot, _ = name.partition(".")
    if section in OF_PARTS and section not in sections():
        return f"{name} is a setting of the part {section}, which is not there"
    if is_section(section) and not dot:
        return f"[{section}] is a section, not a value"
    names = [full for full, _ in all_keys()] if dot else list(sections())
    inside = [full for full in names if full.startswith(f"{section}.")] or names
    near = get_close_matches(name[:SHOWN_CHARS], inside, n=1, cutoff=0.0)
    return f"unknown setting {_format(name)}; did you mean {near[0]!r}?"


def _convert(name: str, given: Any, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return given if isinstance(given, bool) else _TRUTH[str(given).lower()]
        if isinstance(default, tuple):
            words = _split_words(given)
            if len(words) > MOST_WORDS:
                raise BadSetting(f"{name} has more than {MOST_WORDS} words")
            return tuple(_convert(name, word, "") for word in words if word != "")
        return _convert_plain(given, type(default))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise BadSetting(
            f"{name} cannot be {_format(given)}; its default is {default!r}"
        ) from error


def _convert_plain(given: Any, kind: type[Any]) -> Any:
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise ValueError(given)
    value = kind(given)
    if not isinstance(given, str) and value != given:
        raise ValueError(given)
    return value


def _split_words(given: Any) -> list[Any]:
    """Return the words of a list, as a file has it, or separated by commas."""
    words = given
    if isinstance(given, str):
        is_json = given.startswith(('["', "[]"))
        words = loads(given) if is_json else [word.strip() for word in given.split(",")]
    if not isinstance(words, list):
        raise ValueError(given)
    return words


def _format(given: Any) -> str:
    if given is None or isinstance(given, list):
        return "a list" if given else "a table or a date"
    return ascii(given[:SHOWN_CHARS]) if isinstance(given, str) else f"{given!s:.{SHOWN_CHARS}}"


_TRUTH = dict.fromkeys(("true", "1", "yes", "on"), True)
_TRUTH |= dict.fromkeys(("false", "0", "no", "off"), False)


class Configuration(Value):
    settings: Settings = Settings()
    origins: dict[str, str] = {}
    """Path or variable of each key that a source sets."""
    warnings: tuple[SettingWarning, ...] = ()
    held: dict[str, Any] = {}
    """Values of the tracked file that count only after `ademem trust`."""


def setting_of(variable: str) -> str:
    """Return `guard.mode` for ADEMEM_GUARD_MODE, and nothing for a variable that is no setting."""
    section, _, key = variable.removeprefix(clone_variables.PREFIX).lower().partition("_")
    is_setting = key and variable not in SECRETS and is_section(section)
    return f"{section}.{key}" if is_setting else ""


def load_configuration(project: Project | None, environment: Mapping[str, str]) -> Configuration:
    """Read all sources, of which most hooks find none; a fault costs its key or file alone."""
    paths = [trust.config_path(environment)]
    if project:
        paths += [project.config, project.local_config]
    there = [path for path in paths if os.path.lexists(path)]
    variables = _variables_in(environment)
    of_clone = clone_variables.CARRIED in environment
    if not there and not variables and not of_clone:
        return Configuration()
    if not there and not of_clone and (found := _of_variables(variables, environment)):
        return found
    from ademem.core import setting_sources

    return setting_sources.read(project, environment, there, variables)


def _variables_in(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the variables that are settings, each with the key that it sets."""
    ours = (name for name in environment if name.startswith(clone_variables.PREFIX))
    return [(name, key) for name in ours if (key := setting_of(name))]


def _of_variables(
    variables: Iterable[tuple[str, str]], environment: Mapping[str, str]
) -> Configuration | None:
    """Return what variables set, without the reader of files; None for a fault, for it to word."""
    try:
        values = {key: as_value(key, environment[name]) for name, key in variables}
        origins = {key: name for name, key in variables}
        return Configuration(settings=as_settings(values), origins=origins)
    except BadSetting:
        return None


def list_warnings(warnings: Sequence[SettingWarning]) -> list[str]:
    shown = [str(warning) for warning in warnings[:MAX_WARNINGS]]
    more = len(warnings) - MAX_WARNINGS
    return [*shown, f"{more} more warnings about settings"] if more > 0 else shown


def summarize_warnings(warnings: Sequence[SettingWarning]) -> str:
    if len(warnings) == 1 and len(str(warnings[0])) <= MAX_NOTICE_CHARS:
        return str(warnings[0])
    if all(warning.waits for warning in warnings):
        return "settings of this project wait for `ademem trust`"
    return f"{counted(len(warnings), 'warning')} about settings: `ademem config list`"


def trust_roots(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the globs of folders whose databases count as the person's, from no project's file."""
    return load_configuration(None, environment).settings.trust.roots


def value_of(settings: Settings, name: str) -> Any:
    section, _, key = name.partition(".")
    own = section in Settings._names
    return getattr(getattr(settings, section) if own else settings.of(_kind_of(section)), key)
