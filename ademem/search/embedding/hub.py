"""The published graph from the hub: the only module of ademem that can reach the network."""

from __future__ import annotations

import os
from http.client import HTTPException
from ssl import SSLError
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ademem.core import atomic_files
from ademem.search.embedding import cache, pins
from ademem.search.embedding.fetching import Unreachable, WrongBytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ademem.search.embedding.fetching import Job
    from ademem.search.embedding.pins import Pin

TIMEOUT_S = 15
"""How long a silent connection is waited for."""
CHUNK = 1 << 18
CONTENT_PARTIAL = 206


def fetch(job: Job) -> None:
    """Raises Unreachable or WrongBytes; what came stays for the next try unless it is wrong."""
    wanted = ((cache.TOKENIZER, pins.HUB_TOKENIZER), (cache.GRAPH, pins.HUB_GRAPHS[job.dtype]))
    total = sum(pin.bytes for _, pin in wanted)
    done = 0
    for name, pin in wanted:
        part = os.path.join(job.scratch, name)
        for here in _download(url(job.environment, pin), part, pin):
            job.tell("downloading", 90 * (done + here) // total)
        done += pin.bytes
    for name, _ in wanted:
        os.replace(os.path.join(job.scratch, name), os.path.join(job.target, name))


def url(environment: Mapping[str, str], pin: Pin) -> str:
    """HF_ENDPOINT names a mirror, as for the hub's own tools; the bytes are checked anyway."""
    hub = (environment.get("HF_ENDPOINT") or pins.HUB).rstrip("/")
    return f"{hub}/{pins.REPOSITORY}/resolve/{pins.REVISION}/{pin.path}"


def _download(url: str, part: str, pin: Pin) -> Iterator[int]:
    """Go on where the last try ended, telling how far it is; at the end the file is right."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    if have < pin.bytes:
        try:
            yield from _receive(url, part, have)
        except HTTPError as error:
            error.close()
            raise Unreachable(url, f"{error.code} {error.reason}") from error
        except (URLError, HTTPException, SSLError, TimeoutError, ConnectionError) as error:
            raise Unreachable(url, getattr(error, "reason", error)) from error
    if (size := os.path.getsize(part)) < pin.bytes:
        raise Unreachable(url, f"it ended after {size:,} of {pin.bytes:,} bytes")
    if (found := cache.sha256(part)) != pin.sha256:
        atomic_files.remove(part)
        raise WrongBytes(pin.path, found)


def _receive(url: str, part: str, have: int) -> Iterator[int]:
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urlopen(request, timeout=TIMEOUT_S) as answer:
        goes_on = answer.status == CONTENT_PARTIAL
        with open(part, "ab" if goes_on else "wb") as file:
            while chunk := answer.read1(CHUNK):
                file.write(chunk)
                file.flush()  # what came is kept, whatever happens next
                yield file.tell()
            os.fsync(file.fileno())
