"""A model that knows a few synonyms, run by `python -m tests.worker.warm.fake ROOT [ROLE]`.

The program says `ready`, and then each text it is asked to embed. One with the word `slowly` is
embedded when a line comes on standard input, one with `deadly` takes the process down.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import numpy as np

from ademem.core import project
from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.worker import warm_server as server_
from ademem.worker.warm_server import Server
from tests.worker.fake import vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SYNONYMS = {"passkeys": "sign-in", "authentication": "sign-in", "sign-in": "sign-in"}


class Synonyms:
    """Texts with synonyms of one word have the same vector."""

    def __init__(self, heard: Callable[[str], None] = lambda _text: None) -> None:
        self.model_id = embedding.model_id(EmbedSettings())
        self.heard = heard

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for text in texts:
            self.heard(text)
        return np.stack([vector(_meaning(text)) for text in texts])

    def has_word(self, word: str) -> bool:
        return True


def _meaning(text: str) -> str:
    return next((SYNONYMS[word] for word in text.lower().split() if word in SYNONYMS), text)


def _hear(text: str) -> None:
    print(text, flush=True)
    if "slowly" in text:
        sys.stdin.readline()
    if "deadly" in text:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    server_.REQUEST_S = 60.0  # no test depends on how fast the machine is
    root, role = (*sys.argv[1:], "serve")[:2]
    server = Server(project.at(root), os.environ, Synonyms(_hear), role)
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    server.run(on_ready=lambda: print("ready", flush=True))
