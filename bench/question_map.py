"""Train the map of questions, `ademem/search/embedding/questions.map`, on `bench/questions`.

    python -m bench.question_map            writes the map, and the digests of texts and map
    python -m bench.question_map --report   first notes found for each author, who was left out

An author made notes of seven teams, and for each note what people type later who need it: a line of
`AUTHOR_notes.jsonl` and two or three of `AUTHOR_asked.jsonl`. It needs the second model, and takes
three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.search.embedding import question_map
from ademem.search.embedding.language import is_english
from ademem.search.query import parse

CORPUS = Path(__file__).parent / "questions"
DIGESTS = CORPUS / "digests.json"
MAP = Path(question_map.FILE)
STEPS, RATE, WARM_UP = 80, 3e-4, 10
DECAY = 0.03
"""Pull towards the identity: half of it times the squared distance is part of the loss."""
SHARPNESS = 10.0
"""Factor of cosines in the softmax over all notes of an author."""
PROMPTS = ("order", "question", "howto", "symptom")


@dataclass(frozen=True)
class Author:
    """Unit vectors of notes, n x dimensions, and of lines, m x dimensions."""

    name: str
    notes: np.ndarray
    lines: np.ndarray
    right: np.ndarray
    """Place of the note of each line."""
    languages: tuple[str, ...]
    """Of each line, whether it and its note are in English."""
    is_prompt: np.ndarray


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def authors() -> tuple[Author, ...]:
    model = embedding.load_second(EmbedSettings(), os.environ)
    if model is None:
        raise SystemExit("`ademem model install multilingual` gets the model that this needs")
    found = []
    for path in sorted(CORPUS.glob("*_notes.jsonl")):
        name = path.name.partition("_")[0]
        notes, lines = read(path), read(CORPUS / f"{name}_asked.jsonl")
        places = {note["id"]: place for place, note in enumerate(notes)}
        right = np.array([places[line["note"]] for line in lines])
        english = [is_english(note["text"]) for note in notes]
        found.append(
            Author(
                name=name,
                notes=model.embed([note["text"] for note in notes]),
                lines=np.stack([model.read_question(parse(line["text"]).text) for line in lines]),
                right=right,
                languages=tuple(
                    ("English" if is_english(line["text"]) else "other")
                    + (" to English" if english[place] else " to other")
                    for line, place in zip(lines, right, strict=True)
                ),
                is_prompt=np.array([line["kind"] in PROMPTS for line in lines]),
            )
        )
    return tuple(found)


def train(known: tuple[Author, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean question and the map W: softmax of the cosines of x W with all n W, by Adam.

    Kingma and Ba 2015, with rates of 0.9 and 0.99.
    """
    mean = np.concatenate([each.lines for each in known]).mean(axis=0)
    middle = np.concatenate([each.notes for each in known]).mean(axis=0)
    identity = np.eye(len(mean), dtype=np.float32)
    moves, first, second = identity.copy(), np.zeros_like(identity), np.zeros_like(identity)
    total = sum(len(each.lines) for each in known)
    for step in range(1, STEPS + 1):
        gradient = DECAY * (moves - identity)
        for each in known:
            gradient += slope(each.lines - mean, each.notes - middle, each.right, moves) / total
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        rate = RATE * min(1, step / WARM_UP)
        moves -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return mean, moves


def slope(lines: np.ndarray, notes: np.ndarray, right: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Return the gradient of the sum of -log softmax at the right notes, by the map."""
    (asked, asked_lengths), (known, known_lengths) = (unit(rows @ moves) for rows in (lines, notes))
    logits = SHARPNESS * asked @ known.T
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(right)), right] -= 1
    by_asked, by_known = SHARPNESS * chances @ known, SHARPNESS * chances.T @ asked
    of_lines: np.ndarray = lines.T @ across(by_asked, asked, asked_lengths)
    of_notes: np.ndarray = notes.T @ across(by_known, known, known_lengths)
    gradient: np.ndarray = of_lines + of_notes
    return gradient


def unit(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths, lengths


def across(gradient: np.ndarray, rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the part of a gradient by unit rows that does not lie along them."""
    part: np.ndarray = (gradient - (gradient * rows).sum(axis=1, keepdims=True) * rows) / lengths
    return part


def pack(mean: np.ndarray, moves: np.ndarray) -> bytes:
    added = moves - np.eye(len(moves))
    step = np.float32(np.abs(added).max() / 127)
    numbers = np.append(mean, step).astype("<f4").tobytes()
    return numbers + np.round(added / step).astype(np.int8).tobytes()


def digests() -> dict[str, str]:
    texts = b"".join(path.read_bytes() for path in sorted(CORPUS.glob("*.jsonl")))
    contents = {"texts": texts, "map": MAP.read_bytes()}
    return {name: sha256(content).hexdigest() for name, content in contents.items()}


def report() -> None:
    """Print for how many prompts, in percent, the right note of all of an author is the first."""
    rows: dict[str, list[tuple[bool, bool]]] = {}
    for left in authors():
        mean, moves = train(tuple(each for each in authors() if each is not left))
        fitted = question_map.Map(mean=mean, moves=moves)
        for line, right, kind, is_prompt in zip(
            left.lines, left.right, left.languages, left.is_prompt, strict=True
        ):
            found = [(left.notes @ row).argmax() == right for row in (line, fitted.aim(line))]
            for key in (left.name, kind) if is_prompt else ():
                rows.setdefault(key, []).append((found[0], found[1]))
    for key, pairs in rows.items():
        before, after = (100 * np.mean([pair[at] for pair in pairs]) for at in (0, 1))
        print(f"{key:20} {len(pairs):5} {before:6.1f} {after:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--report", action="store_true")
    if parser.parse_args().report:
        return report()
    MAP.write_bytes(pack(*train(authors())))
    DIGESTS.write_text(json.dumps(digests(), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
