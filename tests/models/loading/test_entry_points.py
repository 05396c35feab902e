import importlib
import sys

import numpy as np
import pytest

from vlgate.errors import ModelLoadError
from vlgate.models import check, load
from vlgate.models.loading.catalogue import all_offered
from vlgate.models.loading.registry import takes

SOURCE = """
import numpy as np
class Model:
    def match(self, pairs):
        return np.full(len(pairs), 3.0)
def build(weights="none", dtype="float32"):
    return Model()
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution that offers models, with the files that pip would write."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    modules = set(sys.modules)

    def write(points, *, name="their-package", version="1.2", source=SOURCE, module="their_module"):
        folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = "\n".join(f"{point} = {target}" for point, target in points.items())
        (folder / "entry_points.txt").write_text(f"[vlgate.models]\n{lines}\n")
        (site / f"{module}.py").write_text(source)
        importlib.invalidate_caches()
        return folder

    yield write
    for new in set(sys.modules) - modules:
        if new.startswith("their_"):
            del sys.modules[new]


def refused(ask, spec, tmp_path):
    with pytest.raises(ModelLoadError) as caught:
        ask(spec, folder=tmp_path)
    return str(caught.value)


def test_a_model_of_an_installed_package(install, tmp_path):
    install({"their-model": "their_module:build"})
    check("their-model", folder=tmp_path)
    assert "their_module" not in sys.modules  # it is imported only if it is loaded
    loaded = load("their-model:small", folder=tmp_path, device="cpu")
    assert (loaded.name, loaded.weights) == ("their-model", "small")
    assert np.array_equal(loaded.model.match([1, 2]), [3.0, 3.0])
    assert str(tmp_path) not in sys.path
    assert [(one.name, one.by) for one in all_offered() if one.name == "their-model"] == [
        ("their-model", "their-package 1.2")
    ]


def test_the_fingerprint_follows_the_packages_version(install, tmp_path):
    folder = install({"their-model": "their_module:build"})
    first = load("their-model", folder=tmp_path).fingerprint
    assert (
        first == load("their-model", folder=tmp_path).fingerprint != load("their-model:w", folder=tmp_path).fingerprint
    )
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.3\n")
    assert load("their-model", folder=tmp_path).fingerprint != first


def test_a_name_of_vlgates_own_is_refused_with_the_packages_name(install, tmp_path):
    install({"oracle": "their_module:build"})
    for ask in (check, load):
        message = refused(ask, "oracle", tmp_path)
        assert "their-package 1.2" in message
        assert "their_module:build" in message
    check("constant", folder=tmp_path)  # the others are not touched by it
    check("their_module:build", folder=tmp_path)


def test_a_name_that_two_packages_offer(install, tmp_path):
    install({"their-model": "their_module:build"})
    install({"their-model": "their_other:build"}, name="other-package", module="their_other")
    message = refused(check, "their-model", tmp_path)
    for words in ("other-package 1.2", "their-package 1.2", "their_other:build", "their_module:build"):
        assert words in message


@pytest.mark.parametrize(("target", "source", "why"), [
    ("their_module", SOURCE, "expected package.module:callable"),
    ("their_module:bu ild", SOURCE, "expected package.module:callable"),
    ("their_nothing:build", SOURCE, "no module 'their_nothing'"),
    ("their_module:build", "import no_such_thing", "'no_such_thing'"),
    ("their_module:build", "1 / 0", "ZeroDivisionError"),
    ("their_module:biuld", SOURCE, "did you mean 'build'"),
])  # fmt: skip
def test_a_broken_one_is_reported_only_if_it_is_asked_for(install, tmp_path, target, source, why):
    install({"their-model": target}, source=source)
    message = refused(load, "their-model", tmp_path)
    assert why in message
    assert "their-package 1.2" in message
    load("constant", folder=tmp_path)


def test_an_unknown_name_gives_the_nearest_of_theirs_too(install, tmp_path):
    install({"their-model": "their_module:build"})
    assert "did you mean 'their-model'" in refused(check, "their-modle", tmp_path)


def test_what_a_model_is_built_with(install, tmp_path):
    install({"their-model": "their_module:build"})
    assert takes("their-model", "dtype", folder=tmp_path)
    assert not takes("their-model", "seed", folder=tmp_path)
    assert not takes("their_module:Model", "dtype", folder=tmp_path)
