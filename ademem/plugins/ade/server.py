"""Serve one project: open it for each request, run the method, and word what failed."""

from __future__ import annotations

import _socket as sockets
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, suppress
from difflib import get_close_matches
from functools import partial
from threading import Lock, Thread
from typing import Any, BinaryIO

from ademem import operations
from ademem.core import clock
from ademem.core.actor import CALLED_BY_MODEL, NOT_ASKED, By, Who
from ademem.core.errors import AdememError
from ademem.core.project import Project
from ademem.core.who import describe, of_peer
from ademem.doors import calls
from ademem.operations.arguments import check_arguments
from ademem.plugins.ade import messages as rpc
from ademem.plugins.ade import subscriptions
from ademem.plugins.ade.messages import BadHeader, RpcError, read_messages, write_message
from ademem.plugins.ade.methods import METHODS, Call, Method, Notify
from ademem.plugins.ade.subscriptions import Subscription
from ademem.plugins.mcp.access import Call as ToolCall
from ademem.plugins.mcp.access import Caller
from ademem.plugins.mcp.tools import choose
from ademem.store.runtime import Runtime
from ademem.worker import warm
from ademem.worker.warm_server import listening

DISCOVER = "rpc.discover"
TOOLS = {f"ademem.{tool.name}": tool for tool in choose("all", read_only=False)}
SOCKET = "rpc.sock"
CODES = {
    "argument": rpc.INVALID_PARAMS,
    "internal": rpc.INTERNAL,
    "not_found": rpc.FAILED,
    "store": rpc.FAILED,
}
"""Codes of refusals by their rule; of all others it is REFUSED."""


class NotByAgent(AdememError):
    hint = "leave `--trust user` out: what an agent writes is its own"

    def __init__(self, by: Who) -> None:
        super().__init__(f"`--trust user` acts for a person, and {describe(by)}")


class Server:
    """Answer requests for one project; each opens the memory anew, as none is held open."""

    def __init__(
        self,
        project: Project,
        environment: Mapping[str, str],
        *,
        by_person: bool = False,
        by: Who = NOT_ASKED,
    ) -> None:
        if by_person and not by.is_person:
            raise NotByAgent(by)
        self.project = project
        self.by_person = by_person
        self._by = by if by_person else CALLED_BY_MODEL
        self._environment = environment
        self._tool_caller = Caller(project.root, environment, project.root, door="rpc")

    def serve(self, source: BinaryIO, target: BinaryIO) -> None:
        lock, framed = Lock(), False

        def send(body: bytes) -> None:
            with lock:
                write_message(target, body, framed=framed)

        def notify(method: str, params: dict[str, Any]) -> None:
            send(rpc.encode({"jsonrpc": "2.0", "method": method, "params": params}))

        subscription = Subscription(self.project, self._open, notify)
        run = partial(self._run, notify, subscription)
        try:
            for message in read_messages(source):
                framed = message.framed
                if message.problem:
                    send(rpc.refusal(message.problem))
                elif reply := rpc.answer(message.body, run):
                    send(reply)
        except BadHeader as error:
            send(rpc.refusal(str(error)))
        except BrokenPipeError:
            return
        finally:
            subscription.close()

    def _open(self) -> AbstractContextManager[Runtime]:
        return operations.open_memories(
            self.project.root,
            environment=self._environment,
            now=clock.now,
            connections=self._tool_caller.connections,
            by=self._by,
        )

    def serve_process(self) -> None:
        """Answer on standard input and output until the input, this process's parent or a signal.

        What was answered is in the database, so that the process may end at any moment.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(0))
        calls.end_with_parent()
        self.serve(sys.stdin.buffer, sys.stdout.buffer)
        self._tool_caller.close()

    def listen(self, on_ready: Callable[[str], None]) -> None:
        """Answer the clients of a socket until a signal; raises AdememError or OSError."""
        path = warm.socket_path(self.project, self._environment, SOCKET)
        root = warm.socket_root(self.project, path)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        with suppress(KeyboardInterrupt), listening(path, root) as listener:
            if listener is None:
                raise AdememError(f"another process listens at {path}", "connect to that one")
            on_ready(path)
            while True:
                handle, _ = listener._accept()  # type: ignore[attr-defined]
                Thread(target=self._converse, args=(handle,), daemon=True).start()
        self._tool_caller.close()

    def _converse(self, handle: int) -> None:
        with closing(sockets.socket(fileno=handle)) as connection, suppress(OSError):
            connection.setblocking(True)
            warm.check_peer(connection)
            answering = self if not self.by_person else self._for_peer(handle)
            with (
                os.fdopen(os.dup(handle), "rb") as source,
                os.fdopen(os.dup(handle), "wb") as target,
            ):
                answering.serve(source, target)

    def _for_peer(self, handle: int) -> Server:
        """Return the server that answers a client of the socket: an agent is none of a person."""
        if of_peer(handle).by is not By.AGENT:
            return self
        return Server(self.project, self._environment)

    def _run(
        self, notify: Notify, subscription: Subscription, name: str, params: dict[str, Any]
    ) -> Any:
        """Return the result of a method of ours, or of an MCP tool, which acts for an agent."""
        if name == DISCOVER:
            return discover()
        if tool := TOOLS.get(name):
            result = ToolCall(self._tool_caller, params, {}, "rpc").answer(tool)
            if "rule" in result:
                raise _refused(result)
            return result
        try:
            if name in subscriptions.SUMMARIES:
                return _subscribe(subscription, name, params)
            return self._answer(_find_method(name), notify, params)
        except (RpcError, BrokenPipeError):
            raise
        except Exception as error:
            raise _refused(calls.describe_refusal(error)) from error

    def _answer(self, method: Method, notify: Notify, params: dict[str, Any]) -> Any:
        given = check_arguments(method.params, params)
        if method.writes:
            self._tool_caller.admit_write(self.project)
        with self._open() as runtime:
            call = Call(runtime=runtime, by_person=self.by_person, notify=notify)
            return method.answer(call, given)


def _find_method(name: str) -> Method:
    for method in METHODS:
        if method.name == name:
            return method
    known = [*(each.name for each in METHODS), *TOOLS, *subscriptions.SUMMARIES]
    near = get_close_matches(name[:80], known, 1)
    facts = {"rule": "argument", "why": f"no method {name[:80]!r}"}
    raise RpcError(rpc.NO_METHOD, facts | {"next": near[0] if near else DISCOVER})


def _subscribe(subscription: Subscription, name: str, params: dict[str, Any]) -> Any:
    check_arguments(subscriptions.PARAMETERS, params)
    if name == subscriptions.SUBSCRIBE:
        return {"after": subscription.start()}
    subscription.close()
    return {}


def _refused(facts: dict[str, Any]) -> RpcError:
    return RpcError(CODES.get(facts["rule"], rpc.REFUSED), facts)


def discover() -> dict[str, Any]:
    """Return the methods with their schemas, as OpenRPC 1.3 (https://spec.open-rpc.org)."""
    from ademem import __version__
    from ademem.plugins.ade.views import ENTRY_SCHEMA

    listed = [
        *((each.name, each.summary, each.params, each.result) for each in METHODS),
        *((name, it.description, it.input_schema, it.output_schema) for name, it in TOOLS.items()),
        *(
            (name, summary, subscriptions.PARAMETERS, {"type": "object"})
            for name, summary in subscriptions.SUMMARIES.items()
        ),
    ]
    methods = [
        {
            "name": name,
            "summary": summary,
            "paramStructure": "by-name",
            "params": [
                {"name": each, "required": each in params.get("required", ()), "schema": schema}
                for each, schema in params["properties"].items()
            ],
            "result": {"name": "result", "schema": result},
        }
        for name, summary, params, result in listed
    ]
    return {
        "openrpc": "1.3.2",
        "info": {"title": "ademem", "version": __version__},
        "methods": methods,
        "components": {"schemas": {"Entry": ENTRY_SCHEMA}},
    }
