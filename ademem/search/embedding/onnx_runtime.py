"""onnxruntime, silent: since 1.29 its builds tell their maker of every process, over HTTPS.

They heed this variable only when it is set before they load; so nothing else imports onnxruntime.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as _state

__all__ = ["UNREADABLE", "onnxruntime"]

onnxruntime.disable_telemetry_events()  # where somebody else had loaded it before us

UNREADABLE = (
    _state.Fail,
    _state.InvalidArgument,
    _state.InvalidGraph,
    _state.InvalidProtobuf,
    _state.NoSuchFile,
    _state.NotImplemented,
    _state.RuntimeException,
)
"""What it says of a file that is no graph."""
