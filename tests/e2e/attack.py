"""An agent's attempt on the page: start it, read its output, and call every route with that.

Run in the shell of a client: `python attack.py WAY REQUESTS`. It prints what it read and got.
"""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

RUN_FILE = Path(".ade/run/web.json")
STARTS_WITHIN_S = 30
NEEDED = ("PATH", "HOME")
OPENER = urllib.request.build_opener(
    urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
)


def ask(method: str, address: str, fields: dict[str, Any]) -> tuple[int, str]:
    body = urllib.parse.urlencode(fields, doseq=True).encode() if method == "POST" else None
    request = urllib.request.Request(address, body, method=method)
    try:
        with OPENER.open(request, timeout=20) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode("utf-8", "replace")


def wait_for(process: subprocess.Popen[bytes]) -> str:
    """Return the address of the page once it answers."""
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, ValueError):
            found = json.loads(RUN_FILE.read_text())
            if found["pid"] == process.pid:
                socket.create_connection(("127.0.0.1", found["port"])).close()
                return f"http://127.0.0.1:{found['port']}"
        time.sleep(0.02)
    raise SystemExit("the page did not start")


def attack(way: str, requests: list[list[str]], fields: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows where it runs, and the status of each answer."""
    reads, writes = pty.openpty()
    bare = {name: os.environ[name] for name in NEEDED} if way == "terminal alone" else None
    process = subprocess.Popen(
        ["ademem", "web", "--no-open"], stdin=writes, stdout=writes, stderr=writes, env=bare
    )
    site = wait_for(process)
    shown = os.read(reads, 65_536).decode()
    code = re.search(r"/enter\?code=[\w-]+", shown)
    _, page = ask("GET", site + (code[0] if code else "/"), {})
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    given = fields | {"csrf": token[1] if token else ""}
    statuses = [[verb, path, ask(verb, site + path, given)[0]] for verb, path in requests]
    process.terminate()
    process.wait()
    os.set_blocking(reads, False)
    with suppress(OSError):  # nothing more
        shown += os.read(reads, 65_536).decode()
    return {"shown": shown, "statuses": statuses}


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[2]).read_text())
    print(json.dumps(attack(sys.argv[1], asked["requests"], asked["fields"])))
