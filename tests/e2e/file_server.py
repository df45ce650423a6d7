"""A server of MCP that writes files, as those do which people add to the client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "write_file",
    "description": "Write a file",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params["protocolVersion"]
        about = {"name": "files", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        path = Path(params["arguments"]["path"]).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(params["arguments"]["content"], encoding="utf-8")
        return {"content": [{"type": "text", "text": f"wrote {path}"}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
