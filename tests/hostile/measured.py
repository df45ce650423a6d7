"""Run a command under a bound on memory, and write its peak of resident memory to a file, in KiB.

A process of its own, because Linux counts the memory of whoever starts a process as that process's
peak: of the test runner, hundreds of MiB.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

peak, most, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(most), int(most)))
process = subprocess.Popen(command)
_, status, usage = os.wait4(process.pid, 0)
Path(peak).write_text(str(usage.ru_maxrss), "ascii")
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
