"""Read processes on macOS from the kernel, which has no /proc.

The layout of `struct kinfo_proc` is that of <sys/sysctl.h> on both processors, 648 bytes.
"""

from __future__ import annotations

import os
import struct

from ademem.core.errors import suppress

CTL_KERN, KERN_PROC, KERN_PROC_PID, KERN_PROCARGS2 = 1, 14, 1, 49
KINFO_BYTES = 648
PID, NAME, PARENT, TERMINAL = 40, 243, 560, 572
"""Offsets of p_pid, p_comm, e_ppid and e_tdev."""
NAME_BYTES = 16
ARG_MAX = 1 << 20
"""Most bytes of the arguments and variables of a process."""


class Reading:
    """What the kernel tells of a process: its line, and of one's own processes the start."""

    def __init__(self, pid: int) -> None:
        info = sysctl(CTL_KERN, KERN_PROC, KERN_PROC_PID, pid)
        if len(info) < KINFO_BYTES or _number(info, PID) != pid:
            raise ProcessLookupError(pid)
        self.parent = _number(info, PARENT)
        self.terminal = max(0, _number(info, TERMINAL))
        name = info[NAME : NAME + NAME_BYTES].partition(b"\0")[0]
        self.name = name.decode("utf-8", "replace")
        self.program = ""
        self.command: tuple[str, ...] = ()
        self.environment = b""
        with suppress(OSError):  # another person's, such as a login
            self._read_start(sysctl(CTL_KERN, KERN_PROCARGS2, pid))

    def _read_start(self, found: bytes) -> None:
        if len(found) < 4:
            return
        count = _number(found, 0)
        path, _, rest = found[4:].partition(b"\0")
        parts = rest.lstrip(b"\0").split(b"\0")
        self.program = os.fsdecode(path)
        self.command = tuple(each.decode("utf-8", "replace") for each in parts[:count])
        self.environment = b"\0".join([b"", *parts[count:]])


def _number(found: bytes, at: int) -> int:
    return int(struct.unpack_from("<i", found, at)[0])


def sysctl(*name: int) -> bytes:
    """Return what the kernel answers to a name of <sys/sysctl.h>, or raise OSError."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    numbers = (ctypes.c_int * len(name))(*name)
    buffer = ctypes.create_string_buffer(ARG_MAX)
    size = ctypes.c_size_t(ARG_MAX)
    if library.sysctl(numbers, len(name), buffer, ctypes.byref(size), None, 0):
        raise OSError(ctypes.get_errno(), "sysctl")
    return ctypes.string_at(buffer, size.value)
