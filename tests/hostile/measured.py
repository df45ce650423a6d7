"""Run a command under a bound on memory, and add a line to a file: its name, seconds, peak in MiB.

    python measured.py FILE NAME BYTES COMMAND…

A process of its own, because Linux counts the memory of whoever starts a process as that process's
peak: of the test runner, hundreds of MiB.
"""

import os
import resource
import sys
import time

rows, name, most, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(most), int(most)))
started = time.monotonic()
process = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(process, 0)
seconds = time.monotonic() - started
with open(rows, "a", encoding="utf-8") as file:
    file.write(f'{{"name": "{name}", "seconds": {seconds}, "mib": {usage.ru_maxrss / 1024}}}\n')
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
