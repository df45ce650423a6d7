"""The page of the hub's server: one project for its owner, who reads and decides nothing here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ademem.core.value import Value
from ademem.plugins.http.loopback import HEADERS, Refused, check_site
from ademem.plugins.page.entry import Entry
from ademem.plugins.page.rendering import POLICY, answer_file, render

COOKIE = "ademem_hub"


class Visit(Value):
    token: bytes
    """Digest of the person's token."""
    project: str
    host: str


Read = Callable[[Visit], Awaitable[dict[str, Any]]]
"""Reads what the page shows; raises Refused if the token or the role has ended."""


class HubPage:
    def __init__(self, read: Read, *, scheme_of: Callable[[Request], str]) -> None:
        self.entry = Entry()
        self._read, self._scheme_of = read, scheme_of
        self._visits: dict[str, Visit] = {}
        """By code until it is used, then by cookie."""
        self.routes = [
            Route("/", partial(self._answer, self._show)),
            Route("/enter", partial(self._answer, self._enter)),
            Route("/static/{digest}/{name:path}", answer_file),
        ]

    def invite(self, visit: Visit) -> str:
        """Return the path that opens the page once, within a minute."""
        code = self.entry.new_code()
        self._visits[code] = visit
        return f"/enter?code={code}"

    async def _answer(
        self, show: Callable[[Request], Awaitable[Response]], request: Request
    ) -> Response:
        try:
            host = request.headers.get("host", "").lower()
            check_site(request.headers, {f"{self._scheme_of(request)}://{host}"})
            response = await show(request)
        except Refused as error:
            values = {"message": str(error), "hint": error.hint}
            response = _page("error.html", values, error.status)
        response.headers.update(HEADERS | {"content-security-policy": POLICY})
        return response

    async def _enter(self, request: Request) -> Response:
        code = request.query_params.get("code", "")
        cookie = self.entry.redeem(code)
        if not cookie:
            raise self._no_entry()
        self._visits[cookie] = self._visits.pop(code)
        response = RedirectResponse("/", 303)
        secure = self._scheme_of(request) == "https"
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=secure)
        return response

    async def _show(self, request: Request) -> Response:
        cookie = request.cookies.get(COOKIE, "")
        if not self.entry.token_of(cookie):
            raise self._no_entry()
        visit = self._visits[cookie]
        if request.headers.get("host") != visit.host:
            raise Refused("host", "this address is not the one that was opened", visit.host)
        return _page("hub.html", await self._read(visit))

    def _no_entry(self) -> Refused:
        hint = "an owner runs `ademem hub page` in the project; its address opens once"
        if self.entry.is_closed:
            hint = "too many wrong codes were tried: restart the server"
        return Refused("token", "this page opens with a code", hint)


def _page(template: str, values: dict[str, Any], status: int = 200) -> Response:
    shared = {"head": None, "theme": "", "token": "", "here": "/"}
    return HTMLResponse(render(template, shared | values), status)
