"""Detect texts that instruct a model: by their form, and by a trained judge."""

from __future__ import annotations

from ademem.core import judge
from ademem.core.caching import lru_cache
from ademem.core.memory import Memory, Trust
from ademem.core.text import words
from ademem.core.untrusted import has_hidden_characters, is_disguised
from ademem.guard.injection import markup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ORDER = "reads like an order to an assistant"
"""What the judge holds; `evidence` shows the words."""

PROGRAMS = frozenset(
    "curl wget iwr irm eval source base64 npm npx pnpm pip pip3 pipx uv uvx gem cargo brew poetry"
    " yarn bun bunx deno scp rsync nc ncat netcat socat ssh tee crontab launchctl systemctl git gh"
    " chmod rm sed cp ln mv claude codex ademem export docker podman aws nslookup dig ping printenv"
    " env security cat tar sqlite3 python python3 node perl ruby php powershell pwsh bash sh zsh"
    " history setenforce go mail alias echo printf sudo unset apt apt-get composer conda helm"
    " kubectl bundle set mshta yum dnf rpm dpkg apk yum-config-manager nuget dotnet mamba flatpak"
    " vagrant ansible-galaxy terraform mvn choco winget snap ufw iptables auditctl spctl csrutil"
    " deb gcloud certutil pipenv pdm schtasks gsutil openssl".split()
)
"""Names with which a command in a sentence begins."""


MOST_FOLDERS = 12
"""Folders of a path behind which a text may begin."""


def instruction_in_memory(memory: Memory) -> str | None:
    if memory.trust is Trust.USER:
        return None
    return instruction_in_titled(memory.title, memory.content)


def instruction_in_titled(title: str | None, content: str) -> str | None:
    """Describe the instruction in title and text, shown as two lines or as one."""
    if not title:
        return instruction_in(content)
    apart, joined = f"{title}\n{content}", f"{title} {content}"
    if found := instruction_in(apart) or structure_in(joined):
        return found
    lines = joined.splitlines()
    other = set(lines).difference(apart.splitlines()) if len(lines) > 1 else ()
    return next(filter(None, map(_order_in, other)), None)


def instruction_in_fields(words: Iterable[str | None], *texts: str | None) -> str | None:
    """Describe the instruction in these; hyphens in *words*, such as tags, count as blanks.

    A path is also read from each of its folders on, as these would be words of the text in it.
    """
    given = list(filter(None, texts))
    paths = (tail for text in given if "/" in text for tail in _tails(text))
    beside = "\n".join((*(word.replace("-", " ") for word in words if word), *given, *paths))
    return instruction_in(beside) if beside else None


def orders_in(texts: Iterable[str]) -> dict[str, str]:
    """Describe each of the texts that is an instruction by itself."""
    return {text: found for text in texts if (found := instruction_in_fields((), text))}


def drop_orders(
    anchors: Iterable[str], known: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return anchors without the occasions that are an instruction by themselves, and notes.

    Those that are *known* stay. A note counts occasions from 1, and repeats none to a model.
    """
    from ademem.core import anchor

    anchors = tuple(anchors)
    told = [text for text in anchors if anchor.kind_of(text) == "when"]
    orders = orders_in(set(told).difference(known))
    notes = (
        f"occasion {number} of {len(told)} is left out: it {orders[text]}"
        for number, text in enumerate(told, 1)
        if text in orders
    )
    return tuple(text for text in anchors if text not in orders), tuple(notes)


def _tails(path: str) -> Iterator[str]:
    """Yield what is behind each folder of a path, without the suffix of the file."""
    for _ in range(min(path.count("/"), MOST_FOLDERS)):
        path = path.partition("/")[2]
        yield path.rpartition(".")[0] or path


def instruction_in(text: str) -> str | None:
    return structure_in(text) or _order_in(text)


def _order_in(text: str) -> str | None:
    try:
        orders = judge.load("orders")
    except judge.DamagedJudge:
        return None  # texts from elsewhere wait for a person: see `lacks_judge`
    return ORDER if _is_order(text, orders) else None


@lru_cache(maxsize=32)
def _is_order(text: str, orders: judge.Judge) -> bool:
    """Judge a text once, though several rules ask."""
    return orders.holds_line(text)


def judged_parts(text: str) -> list[str]:
    """Return the text and each of its lines, of which none hides between others."""
    lines = text.splitlines()
    return [text, *(lines if len(lines) > 1 else ())]


@lru_cache(maxsize=32)
def structure_in(text: str) -> str | None:
    """Describe what the form of a text shows: hidden signs, marks of a conversation, commands."""
    if has_hidden_characters(text):
        return "has characters that nobody sees"
    if is_disguised(text):
        return "has words of letters that only look alike"
    if is_spelled_out(text):
        return "spells words letter by letter"
    if found := markup.markup_in(text):
        return found
    if text.isascii() and set('=`~"').isdisjoint(text) and PROGRAMS.isdisjoint(words(text)):
        return None
    from ademem.guard.injection import command_places

    return command_places.command_in(text)


def lacks_judge() -> str | None:
    """Tell that texts from elsewhere cannot be judged, which is no sign that they are harmless."""
    try:
        judge.load("orders")
    except judge.DamagedJudge:
        return "could not be judged"
    return None


def is_spelled_out(text: str) -> bool:
    run = 0
    for word in text.split():
        run = run + 1 if len(word) == 1 and word.isalpha() else 0
        if run >= 8:
            return True
    return False
