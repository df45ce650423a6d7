"""The process of the server: its standard streams and its end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import anyio
import mcp_types as types
from anyio import CancelScope, to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ademem.doors.calls import end_with_parent

LINE_BYTES = 4 << 20
GRACE_S = 0.8
"""Seconds after the end of the input or a signal in which the process ends."""


def run(server: Server[Any], close: Callable[[], None]) -> NoReturn:
    """Serve standard input until it or the parent ends, or a signal comes; then call *close*.

    What was answered is on disk, so that nothing is lost where the time for the rest runs out.
    """
    end_with_parent()
    try:
        with suppress(BrokenPipeError, BaseExceptionGroup):  # the client does not read any more
            anyio.run(_serve, server)
        _end_soon()
        close()
        sys.stderr.flush()
    finally:
        os._exit(0)  # a thread may still wait for input


async def _serve(server: Server[Any]) -> None:
    lines = Lines()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch_signals, tasks.cancel_scope)
        async with stdio_server(stdin=lines) as (reading, writing):  # type: ignore[arg-type]
            lines.refusals = writing
            await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _watch_signals(scope: CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            _end_soon()
            scope.cancel()


def _end_soon() -> None:
    timer = threading.Timer(GRACE_S, os._exit, (0,))
    timer.daemon = True
    timer.start()


class Lines:
    """Messages on standard input; what is none is refused with its error code."""

    def __init__(self) -> None:
        self.input = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # programs that are started read nothing of it
        os.close(nothing)
        self.refusals: WriteStream[SessionMessage] | None = None

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            read = partial(self.input.readline, LINE_BYTES + 1)
            line = await to_thread.run_sync(read, abandon_on_cancel=True)
            if not line:
                _end_soon()
                raise StopAsyncIteration
            if len(line) > LINE_BYTES:
                while line and not line.endswith(b"\n"):
                    line = await to_thread.run_sync(read, abandon_on_cancel=True)
                await self._refuse(types.INVALID_REQUEST, f"longer than {LINE_BYTES} bytes")
            elif line.strip():
                try:
                    types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError as error:
                    await self._refuse(*_reason(error))
                else:
                    return line.decode("utf-8", "replace")

    async def _refuse(self, code: int, message: str) -> None:
        if self.refusals is not None:
            error = types.ErrorData(code=code, message=message)
            refusal = types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
            await self.refusals.send(SessionMessage(refusal))


def _reason(error: ValidationError) -> tuple[int, str]:
    if any(each["type"] == "json_invalid" for each in error.errors(include_input=False)):
        return types.PARSE_ERROR, "the line is not JSON"
    return types.INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message; batches are not taken"
