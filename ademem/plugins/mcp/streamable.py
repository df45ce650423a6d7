"""The server over HTTP: each request stands alone, and one process serves many clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Route, Router

from ademem.core.project import Project
from ademem.core.settings import load_configuration
from ademem.doors.calls import without_session
from ademem.plugins.http.loopback import ADDRESS, Loopback, Server, bind, read_token
from ademem.plugins.mcp.process import LINE_BYTES
from ademem.plugins.mcp.server import Session, make_server
from ademem.plugins.mcp.settings import McpSettings
from ademem.plugins.mcp.tools import Tool

PATH = "/mcp"
PORT = 7438


def make_app(session: Session, port: int, token: str) -> Loopback:
    manager = StreamableHTTPSessionManager(make_server(session), stateless=True)
    # A GET would open a stream of the server's own messages, of which it has none.
    route = Route(PATH, StreamableHTTPASGIApp(manager), methods=["POST"])
    router = Router([route], lifespan=lambda _: manager.run())
    return Loopback(router, port, LINE_BYTES, token=token)


def serve(
    tools: Iterable[Tool],
    found: Project,
    port: int,
    environment: Mapping[str, str],
    on_ready: Callable[[str], None],
) -> None:
    environment = without_session(environment)
    settings = load_configuration(found, environment).settings
    session = Session(tools, found.root, settings=settings.of(McpSettings), environment=environment)
    with bind(port) as listener:
        port = listener.getsockname()[1]
        app = make_app(session, port, read_token(found))
        on_ready(f"http://{ADDRESS}:{port}{PATH}")
        Server(app, settings.doors.http_idle_minutes * 60).run([listener])
    session.close()
