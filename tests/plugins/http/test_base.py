"""What every door over HTTP lets in, and how it ends."""

import asyncio
import socket
import stat

import pytest
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from ademem import operations
from ademem.core import project
from ademem.core.errors import AdememError, UsageError
from ademem.plugins.http.loopback import Loopback, Server, bind, parse_port, read_token
from tests.plugins.http.asking import ask

ME = "127.0.0.1:8000"


async def _echo(request):
    return JSONResponse({"bytes": len(await request.body())})


async def _fail(request):
    raise ValueError("a detail that is nobody's business")


async def _refuse(request):
    raise AdememError("the pot is empty", "fill it")


ROUTES = [
    Route("/echo", _echo, methods=["GET", "POST"]),
    Route("/fail", _fail),
    Route("/refuse", _refuse),
]


def door(largest=1000, **options):
    return Loopback(Router(ROUTES), 8000, largest, **options)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="a program"),
        pytest.param({"host": "localhost:8000"}, 200, id="by the other name"),
        pytest.param({"host": "memory.example"}, 421, id="a name that was bent to this machine"),
        pytest.param({"host": "127.0.0.1:8001"}, 421, id="another port"),
        pytest.param({"host": ""}, 421, id="no name"),
        pytest.param([("host", ME), ("host", "memory.example")], 421, id="two names"),
        pytest.param({"origin": f"http://{ME}"}, 200, id="its own page"),
        pytest.param({"origin": "null"}, 403, id="a page without an address"),
        pytest.param({"origin": "http://127.0.0.1:8001"}, 403, id="a page of another port"),
        pytest.param({"origin": f"https://{ME}"}, 403, id="a page of another scheme"),
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="caused by another site"),
        pytest.param({"sec-fetch-site": "same-site"}, 403, id="caused by another port"),
        pytest.param({"sec-fetch-site": "none"}, 200, id="typed by a person"),
        pytest.param({"sec-fetch-site": "same-origin"}, 200, id="caused by its own page"),
    ],
)
def test_only_programs_of_this_machine_and_own_pages_get_in(headers, status):
    answer = ask(door(), "/echo", headers=headers)

    assert answer.status == status
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param("Bearer sesame", 200, id="right"),
        pytest.param("bearer sesame", 200, id="other case"),
        pytest.param("Bearer Sesame", 401, id="wrong"),
        pytest.param("Bearer ", 401, id="empty"),
        pytest.param("Basic sesame", 401, id="another scheme"),
        pytest.param("Bearer \xff", 401, id="no ASCII"),
        pytest.param(None, 401, id="none"),
    ],
)
def test_a_token_is_asked_for(given, status):
    asked = door(token="sesame")
    answer = ask(asked, "/echo", headers={"authorization": given} if given is not None else {})

    assert answer.status == status
    assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"x" * 10, 200, id="as long as allowed"),
        pytest.param(b"x" * 11, 413, id="too long"),
        pytest.param([b"x" * 6, b"x" * 6], 413, id="too long in parts"),
    ],
)
def test_a_long_body_is_refused(body, status):
    answer = ask(door(10), "/echo", "POST", body=body)

    assert answer.status == status
    assert status != 200 or answer.json() == {"bytes": 10}


def test_an_error_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    refused, failed = ask(door(), "/refuse"), ask(door(), "/fail")
    assert refused.status == 409
    assert refused.json() == {
        "error": "the pot is empty",
        "rule": "conflict",
        "why": "the pot is empty",
        "next": "fill it",
    }
    assert failed.status == 500
    assert "Traceback" not in failed.text
    assert failed.json()["next"].startswith("see ")


@pytest.mark.parametrize(
    ("text", "port"),
    [("", 7437), ("80", 80), ("127.0.0.1:80", 80), ("localhost:0", 0), ("localhost:", 7437)],
)
def test_an_address_is_of_this_machine(text, port):
    assert parse_port(text, 7437) == port


@pytest.mark.parametrize("text", ["0.0.0.0:80", "build.example:80", "[::]:80", "70000", "web"])
def test_other_addresses_are_refused(text):
    with pytest.raises(UsageError):
        parse_port(text, 7437)


@pytest.mark.parametrize("host", ["::1", "[::1]", "127.0.0.2"])
def test_another_address_of_this_machine_is_not_said_to_be_reached_from_elsewhere(host):
    with pytest.raises(UsageError, match=r"at 127\.0\.0\.1 alone, not at") as error:
        parse_port(f"{host}:80", 7437)

    assert error.value.hint == "leave the host out"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]"])
def test_the_way_there_names_no_address_that_is_none(host):
    with pytest.raises(UsageError, match="can be reached from elsewhere") as error:
        parse_port(f"{host}:80", 7437)

    assert error.value.hint.endswith(":80 HOST")


def test_an_address_elsewhere_is_refused_with_the_way_there():
    with pytest.raises(UsageError) as error:
        parse_port("build.example:80", 7437)

    assert error.value.hint == "on the other machine: ssh -L 80:127.0.0.1:80 build.example"


@pytest.fixture
def found(tmp_path):
    operations.init(str(tmp_path))
    return project.at(str(tmp_path))


def test_a_token_stays_and_is_its_owners_alone(found, tmp_path):
    token, path = read_token(found), tmp_path / ".ade/run/http.token"

    assert len(token) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_token(found) == token


@pytest.mark.parametrize(("mode", "text"), [(0o644, "a" * 64), (0o600, "guess"), (0o600, "")])
def test_a_token_that_others_read_or_guess_is_replaced(found, tmp_path, mode, text):
    path = tmp_path / ".ade/run/http.token"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)

    assert read_token(found) not in ("", text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_behind_a_link_is_refused(found, tmp_path):
    (tmp_path / ".ade/run").mkdir(exist_ok=True)
    (tmp_path / "elsewhere").write_text("a" * 64)
    (tmp_path / ".ade/run/http.token").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(AdememError):
        read_token(found)


def test_a_port_is_this_machines_alone_and_taken_once():
    with bind(0) as listener:
        address, port = listener.getsockname()

        assert address == "127.0.0.1"
        socket.create_connection((address, port)).close()
        with pytest.raises(UsageError, match=f"port {port} cannot be used"):
            bind(port)


@pytest.mark.parametrize(
    ("idle_s", "ends"),
    [
        pytest.param(59, True, id="nothing asked for that long"),
        pytest.param(3600, False, id="it was asked since"),
        pytest.param(0, False, id="it may be idle"),
    ],
)
def test_a_server_ends_when_nothing_asks_any_more(idle_s, ends):
    guarded = door()
    guarded.last_request -= 60
    server = Server(guarded, idle_s=idle_s)

    async def serve():
        with bind(0) as listener:
            serving = asyncio.create_task(server.serve([listener]))
            await asyncio.wait([serving], timeout=10 if ends else 1)
            has_ended, server.should_exit = serving.done(), True
            await serving
            return has_ended

    assert asyncio.run(serve()) is ends
