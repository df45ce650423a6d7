"""Train the judges of `ademem/core/judges` from the texts in `bench/judge/corpus`.

    python -m bench.judge.train [orders|states …]            writes the weights and the threshold
    python -m bench.judge.train [orders|states …] --report   rates on each author, left out in turn
    python -m bench.judge.train [orders|states …] --check    fails where a weight differs by over 1

It needs the packages of the dependency group `judge` in `pyproject.toml`. A line of a corpus is
`label <tab> class <tab> language <tab> text`, in a file by its author; `project.tsv` has lines of
this repository, which are trained on beside every author, as are the sentences of `manuals`.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

from ademem.capture import teaching
from ademem.core.hashed_words import BUCKETS, HashedWords
from ademem.core.judge import MAGIC

from .inputs import JUDGES, THRESHOLDS, note
from .manuals import read_manuals

CORPUS = Path(__file__).parent / "corpus"
PROJECT = "project"
"""Author of the lines of this repository."""
MANUALS = "manuals"
"""Author of the sentences of other projects, which all models have seen."""
STATED = "stated"
SUBJECT = "subject"
"""Kind of commit subjects, changelog entries and the like by authors of such lines alone."""
STEPS = 127


@dataclass(frozen=True)
class Training:
    """How a judge is trained, and how its threshold is chosen on harmless texts."""

    strength: float
    """Inverse strength of the L2 regularization."""
    false_near: float
    """Share of the unseen harmless texts on the same subjects that may lie over the threshold."""
    false_far: float
    """The same of those on other subjects."""
    far: tuple[str, ...]
    """Kinds of harmless texts on other subjects."""
    rarity: float = 0.0
    """Power of the inverse document frequency (Spärck Jones 1972) that a feature is weighed by."""
    framed_by: str = ""
    """Kind of notes between which the harmless texts are trained on once more, so that no piece
    across lines is held; none if it is empty."""
    made_hosts: bool = False
    """Give hosts of reserved names made ones: authors name no real host, and more hosts in orders
    than elsewhere, so that the word `example` would be what is learned."""
    with_manuals: bool = False
    """Train on harmless sentences out of manuals, too, which speak to a reader as orders do."""
    with_statements: bool = False
    """Train on the statements of the corpus of `states` as harmless texts of the kind STATED."""
    with_subjects: bool = False
    """Train on the texts of the kind SUBJECT in the corpus of `orders`, too."""
    far_weight: float = 1.0
    """Weight of a text on another subject in the training."""
    by_sentence: bool = False
    """Judge each sentence alone, and weigh features by `unevenness` in place of their rarity."""


TRAININGS = {
    "orders": Training(
        strength=60,
        false_near=0.0252,
        false_far=0.025,
        far=("plain", "docs", "commit", STATED, SUBJECT),
        rarity=2,
        framed_by="plain",
        made_hosts=True,
        with_manuals=True,
        with_statements=True,
        far_weight=2,
    ),
    "states": Training(
        strength=30,
        false_near=0.066,
        false_far=0.08,
        far=("commit", SUBJECT),
        far_weight=0.2,
        with_subjects=True,
        by_sentence=True,
    ),
}


@dataclass(frozen=True, order=True)
class Example:
    label: int
    kind: str
    language: str
    text: str
    author: str


@dataclass(frozen=True)
class Model:
    weights: np.ndarray
    """int8, of shape (BUCKETS,)."""
    scale: float
    bias: float
    training: Training

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Return the highest score of each text and its pieces."""
        rows = [pieces(text, self.training) for text in texts]
        owners = np.repeat(np.arange(len(texts)), [len(pieces) for pieces in rows])
        each = matrix([piece for pieces in rows for piece in pieces])
        scores = np.full(len(texts), -np.inf)
        np.maximum.at(scores, owners, self.scale * (each @ self.weights) + self.bias)
        return scores

    def packed(self) -> bytes:
        return struct.pack("<8sff", MAGIC, self.scale, self.bias) + self.weights.tobytes()


def read_corpus(name: str) -> list[Example]:
    found = set(_read_lines(name))
    if TRAININGS[name].with_statements:
        statements = (each for each in _read_lines("states") if each.label)
        found |= {replace(each, label=0, kind=STATED) for each in statements}
    if TRAININGS[name].with_subjects:
        found |= {each for each in _read_lines("orders") if each.kind == SUBJECT}
    if TRAININGS[name].with_manuals:
        found |= {
            Example(0, kind, "", text, MANUALS)
            for kind, texts in read_manuals().items()
            for text in texts
        }
    if TRAININGS[name].made_hosts:
        found = {replace(each, text=with_hosts(each.text)) for each in found}
    return sorted(found)


def _read_lines(name: str) -> Iterator[Example]:
    for path in (CORPUS / name).glob("*.tsv"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fields = line.split("\t")
            if len(fields) != 4 or fields[0] not in ("0", "1") or not fields[3].strip():
                sys.exit(f"{path}:{number}: label, class, language and text, between tabs")
            label, kind, language, text = fields
            yield Example(int(label), kind, language, text, path.stem)


def with_hosts(text: str) -> str:
    """Give made names to hosts of the names that RFC 2606 reserves."""
    made = "".join(chr(ord("a") + int(sign, 16)) for sign in sha256(text.encode()).hexdigest()[:7])
    ending = ("com", "dev", "io", "net", "org")[ord(made[0]) % 5]
    text = re.sub(r"(?<=\w)\.(?:example|test|invalid)\b(?!\.?\w)", f".{ending}", text)
    return re.sub(r"\bexample(?=\.[a-z])", made, text)


def digest(examples: Iterable[Example]) -> str:
    lines = (f"{each.author}\t{each.label}\t{each.text}\n" for each in sorted(examples))
    return sha256("".join(lines).encode()).hexdigest()


@cache
def features(text: str) -> list[np.ndarray]:
    """Return the buckets of the text and of each of its pieces; none of a text of few words."""
    words = HashedWords(text)
    return [np.fromiter(words.features(*piece), dtype=np.int32) for piece in words.pieces()]


@cache
def sentence_features(text: str) -> np.ndarray:
    return np.fromiter(HashedWords(text).sentence_features(), dtype=np.int32)


def pieces(text: str, training: Training) -> list[np.ndarray]:
    """Return the buckets of what is judged of a text."""
    if not training.by_sentence:
        return features(text)
    stated = (each for each in teaching.sentences(text) if not each.endswith(("?", "？")))
    return [sentence_features(each) for each in stated]


def trained_pieces(label: int, text: str, training: Training) -> list[np.ndarray]:
    """Return what is trained of a text: all of a harmless one, of which nothing may be held."""
    if not label:
        return pieces(text, training)
    return [sentence_features(text)] if training.by_sentence else features(text)[:1]


def matrix(rows: Sequence[np.ndarray]) -> csr_matrix:
    """Stack sets of buckets to a matrix of shape (len(rows), BUCKETS), each row of length 1."""
    lengths = np.array([len(row) for row in rows])
    values = np.repeat(1 / np.sqrt(lengths), lengths)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return csr_matrix((values, np.concatenate(rows), starts), shape=(len(rows), BUCKETS))


def framed(examples: Iterable[Example], kind: str) -> Iterator[tuple[Example, str]]:
    """Yield texts with what they are between two lines of the kind by their author."""
    authors = defaultdict(list)
    for each in examples:
        authors[each.author].append(each)
    for theirs in authors.values():
        lines = [each.text for each in theirs if each.kind == kind]
        for at, each in enumerate(theirs if lines else ()):
            yield each, f"{lines[at % len(lines)]}\n{each.text}\n{lines[(at + 1) % len(lines)]}"


def rarity(stacked: csr_matrix) -> np.ndarray:
    """Return the inverse document frequency of each feature, of shape (BUCKETS,)."""
    having: np.ndarray = stacked.getnnz(axis=0)
    frequency: np.ndarray = np.log((stacked.shape[0] + 1) / (having + 1))
    return frequency


def unevenness(stacked: csr_matrix, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the root of the log ratio of the shares of each feature in both labels.

    Wang and Manning, "Baselines and Bigrams" (2012), take the ratio itself; of shape (BUCKETS,).
    """
    having = stacked.astype(bool).astype(float)
    counts = [1 + (weights * (labels == label)) @ having for label in (0, 1)]
    harmless, held = (count / count.sum() for count in counts)
    uneven: np.ndarray = np.sqrt(np.abs(np.log(held / harmless)))
    return uneven


def fit(examples: Sequence[Example], training: Training) -> Model:
    """Train on whole texts, and on all pieces of the harmless ones, of which none may be held."""
    rows: list[np.ndarray] = []
    labels: list[int] = []
    weights: list[float] = []
    beside = framed([each for each in examples if not each.label], training.framed_by)
    for each, text in [*((each, each.text) for each in examples), *beside]:
        found = trained_pieces(each.label, text, training)
        rows += found
        labels += [each.label] * len(found)
        weights += [training.far_weight if each.kind in training.far else 1.0] * len(found)
    stacked = matrix(rows)
    if training.by_sentence:
        weighed = unevenness(stacked, np.array(labels), np.array(weights))
    else:
        weighed = rarity(stacked) ** training.rarity
        weighed /= np.average(weighed, weights=stacked.getnnz(axis=0))
    model = LogisticRegression(C=training.strength, solver="liblinear", random_state=0)
    model.fit(stacked @ diags(weighed), labels, sample_weight=weights)
    trained = model.coef_[0] * weighed
    scale = float(np.abs(trained).max() / STEPS)
    steps = np.rint(trained / scale).astype(np.int8)
    return Model(steps, scale, float(model.intercept_[0]), training)


def left_out(examples: Sequence[Example], training: Training) -> dict[Example, float]:
    """Return the score of each text by a model that saw no text of its author, nor of PROJECT.

    The lines of this repository are scored by a model that saw the other half of them.
    """
    parts = defaultdict(list)
    for each in examples:
        half = f" {each.text.encode()[-1] % 2}" if each.author == PROJECT else ""
        if each.author != MANUALS:
            parts[f"{each.author}{half}"].append(each)
    scores: dict[Example, float] = {}
    for part in parts.values():
        unseen = set(part)
        model = fit([each for each in examples if each not in unseen], training)
        scores |= zip(part, model.score([each.text for each in part]), strict=True)
    return scores


def threshold(scores: dict[Example, float], training: Training) -> float:
    """Return the lowest score over which no more of the harmless texts lie than may.

    What is near an order in this repository was looked at while the rules were written, and does
    not count.
    """
    harmless = [(each, score) for each, score in scores.items() if not each.label]
    far = [score for each, score in harmless if each.kind in training.far]
    near = [
        score
        for each, score in harmless
        if each.kind not in training.far and each.author != PROJECT
    ]
    rates = training.false_near, training.false_far
    limits = [
        float(np.quantile(unseen, 1 - rate, method="higher"))
        for unseen, rate in zip((near, far), rates, strict=True)
    ]
    return round(max(limits), 2)


def write(name: str) -> None:
    examples, training = read_corpus(name), TRAININGS[name]
    packed = fit(examples, training).packed()
    (JUDGES / f"{name}.judge").write_bytes(packed)
    known = json.loads(THRESHOLDS.read_text()) if THRESHOLDS.exists() else {}
    known[name] = {
        "threshold": threshold(left_out(examples, training), training),
        "weights": sha256(packed).hexdigest(),
        "corpus": digest(examples),
        "false_near": training.false_near,
        "false_far": training.false_far,
    }
    THRESHOLDS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    note([name])


def check(name: str) -> str:
    """Train again; tell in which way the files are others than the corpus makes, or nothing."""
    examples, known = read_corpus(name), json.loads(THRESHOLDS.read_text())[name]
    stored = (JUDGES / f"{name}.judge").read_bytes()
    if sha256(stored).hexdigest() != known["weights"] or digest(examples) != known["corpus"]:
        return f"{name}: weights, corpus and thresholds.json are not of one training"
    made = np.frombuffer(fit(examples, TRAININGS[name]).packed()[16:], dtype=np.int8)
    steps = np.abs(np.frombuffer(stored[16:], dtype=np.int8).astype(int) - made).max()
    return f"{name}: a weight differs by {steps} steps" if steps > 1 else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="orders, states; none: both")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument(
        "--also", type=Path, nargs="*", default=[], help="with --report: JSON lines"
    )
    given = parser.parse_args()
    names = given.names or list(TRAININGS)
    if given.check:
        sys.exit("\n".join(filter(None, map(check, names))) or None)
    for name in names:
        if given.report:
            from .report import print_report

            print_report(name, given.also)
        else:
            write(name)


if __name__ == "__main__":
    main()
