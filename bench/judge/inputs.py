"""Tell whether the judges were trained, or checked, with the texts, code and packages of today.

    python -m bench.judge.inputs           fails where something that decides their weights changed
    python -m bench.judge.inputs --note    after `train --check`: the weights are those of today's

It needs no package; `.ci/judge` trains where it fails.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
JUDGES = ROOT / "ademem/core/judges"
THRESHOLDS = JUDGES / "thresholds.json"
CORPORA = ("orders", "states")
CODE = (
    "bench/judge/train.py",
    "bench/judge/manuals.py",
    "ademem/__init__.py",
    "ademem/capture/__init__.py",
    "ademem/capture/teaching.py",
    "ademem/core/__init__.py",
    "ademem/core/bytecode.py",
    "ademem/core/caching.py",
    "ademem/core/errors.py",
    "ademem/core/hashed_words.py",
    "ademem/core/json_text.py",
    "ademem/core/judge.py",
    "ademem/core/memory.py",
    "ademem/core/regex.py",
    "ademem/core/text.py",
    "ademem/core/untrusted.py",
    "ademem/core/value.py",
)
"""The training, and what of ademem it loads."""


def list_inputs(root: Path = ROOT) -> list[Path]:
    """Return the files that decide the weights, relative to *root*."""
    corpus = root / "bench/judge/corpus"
    texts = (path for name in CORPORA for path in (corpus / name).glob("*.tsv"))
    return [*map(Path, CODE), *sorted(path.relative_to(root) for path in texts)]


def digest_inputs(root: Path = ROOT) -> str:
    """Return the digest of those files, and of the packages that training installs."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [f"{package}\n" for package in project["dependency-groups"]["judge"]]
    for path in list_inputs(root):
        content = sha256((root / path).read_bytes()).hexdigest()
        lines.append(f"{path.as_posix()}\t{content}\n")
    return sha256("".join(lines).encode()).hexdigest()


def is_noted() -> bool:
    """Tell whether weights and inputs are those of the last training or check."""
    known, inputs = json.loads(THRESHOLDS.read_text()), digest_inputs()
    return all(
        known[name].get("inputs") == inputs
        and known[name]["weights"] == sha256((JUDGES / f"{name}.judge").read_bytes()).hexdigest()
        for name in CORPORA
    )


def note(names: Iterable[str] = CORPORA) -> None:
    known, inputs = json.loads(THRESHOLDS.read_text()), digest_inputs()
    for name in names:
        known[name]["inputs"] = inputs
    THRESHOLDS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--note"]:
        note()
    elif not is_noted():
        sys.exit("what decides the weights of the judges has changed since they were checked")
