"""Texts as vectors, by a model that runs here or not at all."""

from __future__ import annotations

from ademem.search.embedding import cache
from ademem.search.embedding.cache import DIMENSIONS as DIMENSIONS
from ademem.search.embedding.cache import MAX_TOKENS
from ademem.search.embedding.cache import DamagedModel as DamagedModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeVar

    import numpy as np

    from ademem.core.memory import Memory
    from ademem.core.settings import EmbedSettings

    T = TypeVar("T")

    class Embedder(Protocol):
        @property
        def model_id(self) -> str:
            """The name of the model beside each stored vector."""

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            """A unit row a text, of its first MAX_TOKENS, in float32; raises DamagedModel."""

        def has_word(self, word: str) -> bool:
            """Tell whether the model knows the word, so that it is hardly misspelt."""

    class Reader(Embedder, Protocol):
        def tokens(self, text: str) -> list[int]:
            """Ids of its word pieces between the two marks, at most MAX_TOKENS."""

        def vector(self, tokens: Sequence[int]) -> np.ndarray:
            """The unit vector of these word pieces; raises DamagedModel."""

    class Asymmetric(Embedder, Protocol):
        def embed_question(self, text: str) -> np.ndarray:
            """A row of DIMENSIONS in float32 to compare with passages, which `embed` is for."""

        def read_question(self, text: str) -> np.ndarray:
            """The unit row that the model itself gives."""


HEADING_WORDS = 3
"""Words from which a first line says something by itself."""


def model_id(settings: EmbedSettings) -> str:
    """Vectors are comparable when they have the same one: model, number format, how texts are read.

    `words` stands for identifiers that are read as their words, `headings` for `embedded_texts`.
    """
    words = "" if settings.dtype == cache.MULTILINGUAL else "/words"
    return f"{cache.MODELS[settings.dtype]}/{settings.dtype}/{MAX_TOKENS}{words}/headings"


def second_settings(settings: EmbedSettings) -> EmbedSettings:
    from ademem.core.value import replace

    return replace(settings, dtype=cache.MULTILINGUAL)


def embedded_text(memory: Memory) -> str:
    """A name before a colon would read as a heading, a name who said something as a person."""
    if memory.speaker:
        return f'{memory.speaker} said, "{memory.content}"'
    return memory.whole_text


def embedded_texts(memory: Memory) -> tuple[str, ...]:
    """`embedded_text`, its heading and its occasions: each weighs the same in the stored vector.

    A heading says in a line what the rest explains, as the subject of a commit does. It is the
    title, or a first line of some words that begins no list and is followed by a new sentence.
    Occasions say in other words than the text when somebody wants it.
    """
    return (*_own_texts(memory), *_occasions_of(memory))


def _own_texts(memory: Memory) -> tuple[str, ...]:
    text = embedded_text(memory)
    first, _, rest = text.partition("\n")
    goes_on = not memory.title and (rest.lstrip()[:1].islower() or first.startswith(("- ", "* ")))
    if memory.speaker or not rest or goes_on or len(first.split()) < HEADING_WORDS:
        return (text,)
    return (text, first)


def _occasions_of(memory: Memory) -> tuple[str, ...]:
    """Return them as one text: the more there are, the less each of them says."""
    if not memory.anchors:
        return ()
    from ademem.core import anchor

    found = anchor.occasions(memory.anchors)
    return ("; ".join(found),) if found else ()


def join_vectors(rows: np.ndarray) -> np.ndarray:
    """Return the mean of the rows at length 1: the stored vector of `embedded_texts`."""
    if len(rows) == 1:
        total: np.ndarray = rows[0]
    else:
        total = sum(rows)
        total = total / float(total @ total) ** 0.5
    return total


def is_read_as_written(memory: Memory) -> bool:
    """Tell whether the content alone is embedded, and no identifier of it as its words."""
    from ademem.search.embedding.minilm import split_identifiers

    return embedded_texts(memory) == (split_identifiers(memory.content),)


def load(settings: EmbedSettings, environment: Mapping[str, str]) -> Embedder | None:
    """None while no model is installed; raises DamagedModel."""
    folder = cache.installed(environment, settings.dtype)
    return open_model(folder, settings) if folder else None


def run_in_background(call: Callable[[], T]) -> Callable[[], T]:
    """Start a call that leaves the interpreter free; return a function that waits for its result.

    What the call raises, the function raises, each time; the process ends after the call.
    """
    from threading import Thread

    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # for the reader of the result
            failures.append(error)

    def result() -> T:
        thread.join()
        if failures:
            raise failures[0]
        return results[0]

    thread = Thread(target=run)
    thread.start()
    return result


class Loading:
    """An Embedder that is loaded while others work; who embeds waits for it."""

    def __init__(self, model_id: str, load: Callable[[], Embedder]) -> None:
        self.model_id = model_id
        self._model = run_in_background(load)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Raises what loading raised, too."""
        return self._model().embed(texts)

    def has_word(self, word: str) -> bool:
        return self._model().has_word(word)


class Pair:
    """The first model, with the one for other languages beside it, loaded when it is needed."""

    def __init__(
        self, first: Embedder, settings: EmbedSettings, load: Callable[[], Asymmetric | None]
    ) -> None:
        self.model_id = first.model_id
        self.embed, self.has_word = first.embed, first.has_word
        self.reads_all = settings.multilingual == "all"
        """Texts that the first model reads are compared by both."""
        self._load = load
        self._second: Asymmetric | None = None

    @property
    def second(self) -> Asymmetric | None:
        if self._second is None:
            self._second = self._load()
        return self._second


def load_pair(
    settings: EmbedSettings, environment: Mapping[str, str], *, in_background: bool = False
) -> Embedder | None:
    """`load`, with the second model unless the settings exclude it.

    *in_background* is for a process that asks one question and has other work to begin with.
    """
    if in_background and (folder := cache.installed(environment, settings.dtype)):
        first: Embedder | None = Loading(
            model_id(settings), lambda: open_model(folder, settings, once=True)
        )
    else:
        first = load(settings, environment)
    if first is None or settings.multilingual == "off":
        return first
    return Pair(first, settings, lambda: load_second(settings, environment))


def load_second(settings: EmbedSettings, environment: Mapping[str, str]) -> Asymmetric | None:
    folder = cache.installed(environment, cache.MULTILINGUAL)
    return open_second(folder, settings) if folder else None


def open_model(folder: str, settings: EmbedSettings, *, once: bool = False) -> Reader:
    """The one door to onnxruntime; raises DamagedModel. *once* loads faster, embeds slower."""
    from ademem.search.embedding.minilm import MiniLM

    return MiniLM(folder, model_id(settings), once=once)


def open_second(folder: str, settings: EmbedSettings) -> Asymmetric:
    """The one door to the engine of the second model; raises DamagedModel."""
    from ademem.search.embedding.multilingual import E5

    return E5(folder, model_id(second_settings(settings)))
