"""Train the weights of `ademem/core/credential_judge.py` on texts with secrets by several authors.

    python -m bench.judge.credentials              writes the weights
    python -m bench.judge.credentials --report     rates on each author, left out in turn

It needs the packages of the dependency group `judge` in `pyproject.toml`. The texts are those of
`tests/strangers` and `tests/core/redaction`; the lines of `bench/judge/corpus` and the sentences of
`manuals` have no secrets.
"""

from __future__ import annotations

import argparse
import json
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ademem.core import credential_judge
from ademem.core.credential_judge import BIAS, WEIGHTS, candidates_near
from ademem.core.credential_nouns import find_nouns
from ademem.core.redaction import redact
from tests.core.redaction import corpus

from .credential_templates import read_templates
from .manuals import read_manuals

STRANGERS = Path("tests/strangers")
JUDGED = Path(__file__).parent / "corpus"
AUTHORS = (*string.ascii_lowercase, *(f"a{letter}" for letter in "abcdefghijklm"))
OURS, LINES = "ours", "lines"
"""Texts of this repository with secrets, and lines without any; no author is scored on them."""
STRENGTH = 1.0
"""Inverse strength of the L2 regularization."""
FEWEST = 3
"""Candidates that a feature must have."""
LIMIT = 0.15
"""Log-odds over which a candidate is redacted: 1 % of harmless texts of authors left out."""
TIMES_OURS = 5
"""How often each text of the corpus of this repository counts, which are all to be right."""
SCALE = 100
LEAST = 8
"""Hundredths below which a weight is left out."""


@dataclass(frozen=True)
class Example:
    text: str
    secrets: tuple[str, ...]
    kind: str = ""

    def is_secret(self, start: int, end: int) -> bool:
        """Tell whether a part of a secret stands there."""
        return any(
            start < at + len(secret) and at < end
            for secret in self.secrets
            for at in _places(secret, self.text)
        )


def _places(part: str, text: str) -> Iterable[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def read_author(author: str) -> list[Example]:
    name = "secrets" if author == "a" else f"secrets_{author}"
    rows = [json.loads(line) for line in (STRANGERS / f"{name}.jsonl").read_text().splitlines()]
    harmless = (STRANGERS / f"{name}_harmless.jsonl").read_text().splitlines()
    return [
        *(Example("".join(row["parts"]), _secrets(row), row.get("kind", "")) for row in rows),
        *(Example(_text(json.loads(line)), ()) for line in harmless),
    ]


def _secrets(row: dict[str, list[str] | list[list[str]]]) -> tuple[str, ...]:
    parts = row["secret_parts"]
    return tuple("".join(each) for each in (parts if isinstance(parts[0], list) else [parts]))


def _text(row: dict[str, str]) -> str:
    return row["text"] if "text" in row else "".join(row["parts"])


def read_texts() -> dict[str, list[Example]]:
    """Return the texts of each author, of this repository, and of the judges' corpora."""
    texts = {author: read_author(author) for author in AUTHORS if _exists(author)}
    ours = [Example(each.text, (each.secret,)) for each in corpus.with_secrets()]
    ours += [Example(each.text, ()) for each in corpus.harmless()]
    texts[OURS] = ours * TIMES_OURS + [Example(text, secrets) for text, secrets in read_templates()]
    lines = (line for path in JUDGED.glob("*/*.tsv") for line in path.read_text().splitlines())
    sentences = chain.from_iterable(read_manuals().values())
    harmless = {line.split("\t")[3] for line in lines} | set(sentences)
    texts[LINES] = [Example(text, ()) for text in sorted(harmless)]
    return texts


def _exists(author: str) -> bool:
    return author == "a" or (STRANGERS / f"secrets_{author}.jsonl").exists()


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weight of each feature, and that of BIAS with the limit in it."""
    rows: list[list[str]] = []
    labels: list[bool] = []
    for example in examples:
        for each, features in candidates_near(example.text, find_nouns(example.text)):
            rows.append(features)
            labels.append(example.is_secret(each.start, each.end))
    counts = Counter(feature for features in rows for feature in set(features))
    columns = {
        feature: at for at, feature in enumerate(sorted(counts)) if counts[feature] >= FEWEST
    }
    columns = {feature: at for at, feature in enumerate(columns)}
    model = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0)
    model.fit(_matrix(rows, columns), labels)
    weights = dict(zip(columns, model.coef_[0], strict=True))
    return weights | {BIAS: float(model.intercept_[0]) - LIMIT}


def _matrix(rows: Sequence[Sequence[str]], columns: dict[str, int]) -> csr_matrix:
    places = [sorted({columns[f] for f in features if f in columns}) for features in rows]
    starts = np.concatenate(([0], np.cumsum([len(each) for each in places])))
    indices = np.concatenate([np.array(each, dtype=int) for each in places])
    return csr_matrix((np.ones(len(indices)), indices, starts), shape=(len(rows), len(columns)))


def left_out(texts: dict[str, list[Example]], author: str) -> dict[str, float]:
    return fit([each for other in texts if other != author for each in texts[other]])


def stays(example: Example, left: str) -> bool:
    lines = [line for secret in example.secrets for line in secret.splitlines() if len(line) > 20]
    return any(part in left for part in (*example.secrets, *lines))


def print_report(texts: dict[str, list[Example]]) -> None:
    print("| author left out | secrets | gone | by kind | harmless | changed |")
    print("|---|---|---|---|---|---|")
    for author in texts:
        if author not in (OURS, LINES):
            weights = left_out(texts, author)
            with mock.patch.object(
                credential_judge, "load_weights", lambda weights=weights: weights
            ):
                _print_row(author, texts[author])


def _print_row(author: str, examples: Sequence[Example]) -> None:
    gone: dict[str, list[bool]] = defaultdict(list)
    changed = []
    for each in examples:
        left = redact(each.text).text
        if each.secrets:
            gone[each.kind].append(not stays(each, left))
        else:
            changed.append(left != each.text)
    kinds = ", ".join(f"{kind} {sum(those)} of {len(those)}" for kind, those in gone.items())
    secrets = [is_gone for those in gone.values() for is_gone in those]
    cells = (author, len(secrets), sum(secrets), kinds, len(changed), sum(changed))
    print("|", " | ".join(map(str, cells)), "|")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--report", action="store_true")
    texts = read_texts()
    if parser.parse_args().report:
        print_report(texts)
        return
    fitted = fit([each for those in texts.values() for each in those])
    weights = {feature: round(weight * SCALE) for feature, weight in sorted(fitted.items())}
    kept = {feature: weight for feature, weight in weights.items() if abs(weight) > LEAST}
    Path(WEIGHTS).write_text(json.dumps(kept, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
