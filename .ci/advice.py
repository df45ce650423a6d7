"""Follow the advice for the extra mcp of an installed ademem, whose path is the argument."""

import json
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "ci", "version": "1"},
    },
}


def serve():
    return subprocess.run(
        [PROGRAM, "mcp"],
        input=json.dumps(HELLO) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


started = time.monotonic()
refused = serve()
assert refused.returncode == 2, refused
why, _, advice = refused.stderr.strip().removesuffix(")").partition(" (")
assert why.endswith("of the extra mcp"), refused.stderr
subprocess.run(["sh", "-c", advice], check=True, stdout=subprocess.DEVNULL)
served = serve()
assert served.returncode == 0, served
assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "ademem", served.stdout
print(f"`{advice}` brings the extra, in {time.monotonic() - started:.0f} s")
