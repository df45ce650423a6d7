"""The page: its application, one process for a database, its address in the terminal, its end."""

from __future__ import annotations

import json
import os
import signal
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import Scope

from ademem.core import clock, confined, shared_files
from ademem.core import project as project_
from ademem.core.actor import NOT_ASKED, Who
from ademem.core.errors import AdememError, Conflict
from ademem.core.project import Project
from ademem.core.value import replace
from ademem.doors.undoable import (
    UNFORESEEN,
    Done,
    NotAllowed,
    forbid_reason,
    list_recorded,
    name_again,
    record,
    refused,
    reverse,
)
from ademem.plugins.http.loopback import ADDRESS, HEADERS, Loopback, Server, bind
from ademem.plugins.page.entry import CODE_S, Act, Entry, Page, PageRequest, row_number
from ademem.plugins.page.keys import list_keys
from ademem.plugins.page.memory_threads import OpenProject
from ademem.plugins.page.pages import ACTS, PAGES, PLACES, head_of, list_more
from ademem.plugins.page.rendering import POLICY, answer_file, render
from ademem.store.runtime import Runtime

LARGEST_BODY = 256 * 1024
THEMES = ("light", "dark")
Handler = Callable[["Site", Request], Awaitable[Response]]


class Site:
    def __init__(
        self,
        roots: list[str],
        environment: Mapping[str, str],
        *,
        port: int,
        read_only: str = "",
        entry: Entry | None = None,
        show_digits: Callable[[str, str], None] | None = None,
        now: Callable[[], datetime] = clock.now,
        by: Who = NOT_ASKED,
    ) -> None:
        opened = [OpenProject(root, environment, now, by) for root in dict.fromkeys(roots)]
        names = [each.name for each in opened]
        for each in opened:  # two folders may have one name
            each.name = each.name if names.count(each.name) == 1 else each.root
        self.projects = {each.name: each for each in opened}
        self.port = port
        self.read_only = read_only
        """Why nothing is decided here; empty where acts are allowed."""
        self.entry = entry or Entry()
        self.show_digits = show_digits
        """Shows a memory's id and its digits in the terminal; None without one."""
        self.is_ending: Callable[[], bool] = lambda: False

    @property
    def cookie(self) -> str:
        return f"ademem_{self.port}"

    def close(self) -> None:
        for each in self.projects.values():
            each.close()


def make(site: Site) -> Loopback:
    def route(path: str, handler: Handler, method: str = "POST") -> Route:
        return Route(path, partial(_let_in, site, handler), methods=[method])

    routes = [
        Route("/enter", partial(_enter, site)),
        Route("/static/{digest}/{name:path}", answer_file),
        route("/events", _events, "GET"),
        route("/timeline", _redirect_timeline, "GET"),
        route("/theme", _theme),
        route("/project", _project),
        route("/undo", partial(_reverse, "undo")),
        route("/redo", partial(_reverse, "redo")),
        *(route(page.path, partial(_show, page), "GET") for page in PAGES),
        *(route(act.path, partial(_do, act)) for act in ACTS),
    ]
    return Loopback(
        ExceptionMiddleware(Router(routes), {HTTPException: partial(_refuse, site)}),
        site.port,
        LARGEST_BODY,
        headers=HEADERS | {"content-security-policy": POLICY},
        on_error=partial(_error, site),
    )


async def _let_in(site: Site, handler: Handler, request: Request) -> Response:
    """Let in browsers with the cookie, and acts with the token of a page."""
    token = site.entry.token_of(request.cookies.get(site.cookie, ""))
    if not token:
        return _page(site, request, "enter.html", {"closed": site.entry.is_closed}, 401)
    acts = request.method not in ("GET", "HEAD")
    fields = QueryParams((await request.body()).decode("utf-8", "replace") if acts else "")
    request.state.token, request.state.form = token, dict(fields)
    given = request.state.form.get("csrf") or request.headers.get("x-csrf", "")
    known, _, number = given.rpartition(".")
    if known == token:
        request.state.shown = number
    elif acts:
        raise HTTPException(403, "the form is of an older page: load it again")
    request.state.parsed = PageRequest(
        path=dict(request.path_params),
        query=dict(request.query_params),
        form=request.state.form,
        lists={name: fields.getlist(name) for name in fields},
        site=site,
        project=_choose_project(site, request),
    )
    return await handler(site, request)


async def _enter(site: Site, request: Request) -> Response:
    cookie = site.entry.redeem(request.query_params.get("code", ""))
    if not cookie:
        return _page(site, request, "enter.html", {"closed": site.entry.is_closed}, 401)
    response = RedirectResponse("/", 303)
    response.set_cookie(site.cookie, cookie, httponly=True, samesite="strict")
    return response


async def _theme(site: Site, request: Request) -> Response:
    theme = request.state.form.get("theme", "")
    response = _back(site, request)
    name = f"{site.cookie}_theme"
    if theme in THEMES:
        response.set_cookie(name, theme, 365 * 86400, httponly=True, samesite="strict")
    else:
        response.delete_cookie(name, httponly=True, samesite="strict")
    return response


async def _project(site: Site, request: Request) -> Response:
    response = RedirectResponse("/", 303)
    names, chosen = list(site.projects), request.state.form.get("project", "")
    _keep_project(site, response, names.index(chosen) if chosen in names else 0)
    return response


async def _show(page: Page, site: Site, request: Request) -> Response:
    parsed: PageRequest = request.state.parsed
    project = parsed.project
    stacks = project.done, project.undone
    labels: dict[int, str] = {}

    def read(memories: Runtime) -> dict[str, Any]:
        for stack in stacks:
            labels.update({it.number: name_again(it, memories).label for it in tuple(stack)})
        event = project.live.look(memories)
        head = head_of(memories)
        return {"head": head, "event": event, "live": page.live, **page.read(memories, parsed)}

    try:
        values = await project.reads.call_until(_wait_for_end(request), read)
    finally:  # here, as acts change the stacks in this thread
        for stack in stacks:
            stack[:] = [replace(it, label=labels.get(it.number, it.label)) for it in stack]
    if values is None:
        return Response(status_code=499)  # for a log; the browser that would get it has gone
    if isinstance(raw := values.get("raw"), str):
        return Response(raw, media_type="text/plain")
    part = page.part if "hx-request" in request.headers else ""
    response = _page(site, request, part or page.template, values)
    response.headers["x-event"] = str(values["event"])
    return response


async def _redirect_timeline(_site: Site, request: Request) -> Response:
    """Lead an address of before to the sessions, with its filters."""
    query = request.url.query
    return RedirectResponse(f"/sessions?{query}" if query else "/sessions", 303)


async def _wait_for_end(request: Request) -> None:
    """Wait until the browser is gone, as after each key of a search as you type."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _events(site: Site, request: Request) -> Response:
    after = row_number(request.headers.get("last-event-id") or request.query_params.get("last", ""))
    shown = site.projects.get(request.query_params.get("project", ""))
    project = shown or _choose_project(site, request)
    events = project.live.stream(after, lambda: site.is_ending())
    return StreamingResponse(events, media_type="text/event-stream")


async def _do(act: Act, site: Site, request: Request) -> Response:
    parsed: PageRequest = request.state.parsed
    project = parsed.project
    if site.read_only and act.decides:
        raise NotAllowed(f"this page is read-only: {site.read_only}")

    def do(memories: Runtime) -> Done | Response | dict[str, Any] | None:
        done = act.do(memories, parsed)
        return record(memories, done) if isinstance(done, Done) else done

    done = await project.acts.call(do)
    if isinstance(done, Response):
        return done
    if isinstance(done, dict):
        head = await project.reads.call(head_of)
        return _page(site, request, act.template, {"head": head, **done})
    if done:
        project.done.append(done)
        project.undone.clear()
    return _back(site, request)


async def _reverse(name: str, site: Site, request: Request) -> Response:
    project = _choose_project(site, request)
    if site.read_only:
        raise NotAllowed(f"this page is read-only: {site.read_only}")
    stacks = project.done, project.undone
    source, target = stacks if name == "undo" else stacks[::-1]
    if number := request.state.form.get("act", ""):
        recorded = await project.acts.call(list_recorded)
        same = (done for done in (*source, *recorded) if str(done.number) == number)
        chosen = next((done for done in same if done.is_undone == (name == "redo")), None)
        if chosen is None:
            raise Conflict(f"there is no such act to {name}", "load the page again")
    elif source:
        chosen = source[-1]
    else:
        return _back(site, request)
    try:
        turned = await project.acts.call(partial(reverse, done=chosen))
    except Exception as error:  # it can be tried again
        source[:] = [
            refused(done, error) if done.number == chosen.number else done for done in source
        ]
        raise
    source[:] = [done for done in source if done.number != chosen.number]
    target.append(turned)
    return _back(site, request)


def _back(site: Site, request: Request) -> Response:
    """Send the browser to the page that the form names, in the project of the form."""
    there = request.state.form.get("next", "/")
    is_ours = there.startswith("/") and not there.startswith(("//", "/\\"))
    response = RedirectResponse(there if is_ours and there.isprintable() else "/", 303)
    if len(site.projects) > 1:
        _keep_project(site, response, _number(site, request))
    return response


def _keep_project(site: Site, response: Response, number: int) -> None:
    name = f"{site.cookie}_project"
    response.set_cookie(name, str(number), httponly=True, samesite="strict")


def _choose_project(site: Site, request: Request) -> OpenProject:
    return list(site.projects.values())[_number(site, request)]


def _number(site: Site, request: Request) -> int:
    """Return the place of the project that the window shows; of another request, the last choice.

    The windows of a browser share its cookies, so the pages have the place in their token.
    """
    chosen = request.cookies.get(f"{site.cookie}_project", "")
    number = row_number(getattr(request.state, "shown", chosen)) or 0
    return number if number < len(site.projects) else 0


def _page(
    site: Site, request: Request, template: str, values: dict[str, Any], status: int = 200
) -> Response:
    theme = request.cookies.get(f"{site.cookie}_theme", "")
    token, project = getattr(request.state, "token", ""), _choose_project(site, request)
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    shared = {
        "head": None,
        "event": "",
        "live": "",
        "theme": theme if theme in THEMES else "",
        "token": f"{token}.{_number(site, request)}" if token else "",
        "here": here if request.method == "GET" else "/",
        "path": request.url.path,
        "q": request.query_params.get("q", ""),
        "projects": list(site.projects) if token else [],
        "project": project.name if token else "",
        "read_only": site.read_only,
        "last": project.done[-1] if token and project.done else None,
        "nav": PLACES,
        "nav_more": list_more(),
        "all_keys": list_keys(request.url.path),
        "next_redo": project.undone[-1] if token and project.undone else None,
    }
    return HTMLResponse(render(template, shared | values), status)


def _error(site: Site, scope: Scope, status: int, facts: dict[str, str]) -> Response:
    request = Request(scope)
    form = getattr(request.state, "form", {})
    mine = [form[name] for name in ("content", "when") if form.get(name)]
    why, hint = facts["why"], facts["next"]
    if facts.get("rule") == "internal":
        why = UNFORESEEN
    elif facts.get("rule") == "store" and "`ademem " not in hint:
        hint = f"{hint}; `ademem doctor` checks it"
    values = {"message": why, "hint": hint, "mine": mine}
    template = "problem.html" if "hx-request" in request.headers else "error.html"
    return _page(site, request, template, values, status)


async def _refuse(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "there is no such page", 405: "this address takes no such request"}
    facts = {"why": message.get(error.status_code, error.detail), "next": ""}
    return _error(site, request.scope, error.status_code, facts)


def find_running(project: Project) -> dict[str, Any] | None:
    """Return `pid` and `port` of the page of this database; None where none runs."""
    path = _run_file(project)
    if not shared_files.is_held(f"{path}.lock", root=project.home_root):
        return None
    text = confined.read_text(project.home_root, path, 4096)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found if isinstance(found.get("pid"), int) else None


def stop(project: Project) -> int | None:
    found = find_running(project)
    if found is None:
        return None
    os.kill(found["pid"], signal.SIGTERM)
    return int(found["pid"])


def show_again(found: Mapping[str, Any], by: Who) -> str:
    """Have the running page show a new address where it runs; return a line about it."""
    where = f"the page runs at http://{ADDRESS}:{found['port']} (process {found['pid']})"
    if not by.is_person:
        return where
    os.kill(found["pid"], signal.SIGUSR1)
    return f"{where}; its terminal shows a new address, and `ademem web --stop` ends it"


def serve(
    roots: Sequence[str],
    environment: Mapping[str, str],
    *,
    port: int = 0,
    opens_browser: bool = True,
    read_only: bool = False,
    idle_s: float = 3600.0,
    echo: Callable[[str], None],
    by: Who = NOT_ASKED,
) -> None:
    """Serve until a signal or an idle hour.

    Raises UsageError for a port that is taken, and AdememError where nobody could open the page.
    """
    is_seen = sys.stderr.isatty()
    displays = (environment.get("DISPLAY"), environment.get("WAYLAND_DISPLAY"))
    has_desktop = sys.platform == "darwin" or any(displays)
    opens = opens_browser and has_desktop and by.is_person
    if not is_seen and not opens:
        why = "the page's address has a code, which only a terminal shows, and this is none"
        raise AdememError(why, "run `ademem web` in a terminal of yours")
    first = project_.find(roots[0], environment, os.getcwd())
    path = _run_file(first)
    with shared_files.locked(f"{path}.lock", root=first.home_root, wait=False) as is_first:
        if not is_first:
            return echo("the page of this database starts in another process")
        listening = bind(port)
        port = listening.getsockname()[1]
        site = Site(
            list(roots),
            environment,
            port=port,
            by=by,
            read_only=forbid_reason(by) or "it was started with --read-only" * read_only,
            show_digits=(lambda id, digits: echo(f"digits to approve {id}: {digits}"))
            if is_seen and by.is_person
            else None,
        )
        for each in site.projects.values():
            each.acts.open()

        def show_address(*_: object) -> None:
            if site.entry.is_closed:
                return echo("too many wrong codes were tried: end the page and start it again")
            address = f"http://{ADDRESS}:{site.port}/enter?code={site.entry.new_code()}"
            if is_seen:
                echo(f"{address}\n(opens once within {CODE_S} seconds; Ctrl-C ends the page)")
            if opens:
                webbrowser.open(address)
            return None

        signal.signal(signal.SIGUSR1, show_address)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the server takes it
        text = json.dumps({"pid": os.getpid(), "port": port})
        confined.write_text(first.home_root, path, text, mode=0o600)
        show_address()
        running = Server(make(site), idle_s, lifespan="off")
        site.is_ending = lambda: running.should_exit
        running.run(sockets=[listening])
        site.close()
        confined.remove(first.home_root, path)
    return None


def _run_file(project: Project) -> str:
    return os.path.join(project.home, "run", "web.json")
