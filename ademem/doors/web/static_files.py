"""Answers with static files, and the policy of every page that loads them."""

from __future__ import annotations

import os.path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ademem.doors.web.rendering import TYPES, static_files, static_url

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
FOREVER = "private, max-age=31536000, immutable"
"""Of static files, whose addresses change with their content."""


async def answer_file(request: Request) -> Response:
    name = request.path_params["name"]
    content = static_files().get(name)
    if content is None:
        raise HTTPException(404)
    headers = {"cache-control": FOREVER} if static_url(name) == request.url.path else {}
    kind = TYPES[os.path.splitext(name)[1]]
    return Response(content, media_type=kind, headers=headers)
