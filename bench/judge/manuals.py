"""Harmless sentences out of the manuals in pinned packages, which are read here and never shipped.

The packages of the dependency group `judge` have them: modules of Ansible, services of botocore,
messages of Django in the languages of the corpus, and docstrings.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SERVICES = "codebuild ecr iam kms lambda logs s3 secretsmanager signer sns sqs ssm sts".split()
LANGUAGES = "de en es fr it ja ko pt ru zh_Hans".split()
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\s*\n")


def read_manuals() -> dict[str, list[str]]:
    """Return sentences by kind, chosen by their digests, so that each run has the same."""
    return {
        "ansible": _choose(_modules(), 1500),
        "botocore": _choose(_services(), 2500),
        "docstrings": _choose(_docstrings("django", "sklearn"), 2500),
        "messages": [text for name in LANGUAGES for text in _choose(_messages(name), 150)],
    }


def _choose(texts: Iterable[str], most: int) -> list[str]:
    plain = {" ".join(text.split()) for text in texts}
    fit = [text for text in plain if 25 <= len(text.encode()) <= 400 and text.isprintable()]
    return sorted(fit, key=lambda text: sha256(text.encode()).hexdigest())[:most]


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is missing: see the group `judge` in pyproject.toml")
    return Path(spec.origin).parent


def _modules() -> Iterator[str]:
    for path in (_folder("ansible") / "modules").glob("*.py"):
        for block in re.findall(r'(?s)DOCUMENTATION = r?"""(.*?)"""', path.read_text("utf-8")):
            yield from re.findall(r"(?m)^\s*- ([A-Z][^\n]*)$", block)


def _services() -> Iterator[str]:
    for name in SERVICES:
        newest = max((_folder("botocore") / "data" / name).iterdir())
        with gzip.open(newest / "service-2.json.gz", "rt", encoding="utf-8") as file:
            for text in _documentation(json.load(file)):
                yield from _SENTENCE_END.split(re.sub(r"<[^>]+>", " ", text))


def _documentation(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "documentation" and isinstance(each, str):
                yield each
            else:
                yield from _documentation(each)
    elif isinstance(value, list):
        for each in value:
            yield from _documentation(each)


def _docstrings(*packages: str) -> Iterator[str]:
    for package in packages:
        for path in _folder(package).rglob("*.py"):
            for text in re.findall(r'(?s)"""(.*?)"""', path.read_text("utf-8")):
                yield from _SENTENCE_END.split(text)


def _messages(language: str) -> Iterator[str]:
    for path in _folder("django").rglob(f"locale/{language}/LC_MESSAGES/*.po"):
        kind = "msgid" if language == "en" else "msgstr"
        for text in re.findall(rf'(?m)^{kind} ((?:".*"\n)+)', path.read_text("utf-8")):
            yield "".join(re.findall(r'"(.*)"', text)).replace("\\n", " ").replace('\\"', '"')
