"""``vlgate models``: the list, which needs no model and no network."""

import argparse
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from vlgate.cli import add_options, models
from vlgate.errors import UnknownNameError
from vlgate.models import load
from vlgate.models.loading.catalogue import ModelEntry, Offered, cached_weights, catalogue
from vlgate.models.loading.registry import METHODS
from vlgate.models.specs import registered

ROOT = Path(__file__).parents[2]
CAN = {"match", "encode", "answer", "compare", "perplexity"}
REFERENCES = ("bag-of-words", "blind", "constant", "oracle", "random", "reader")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was asked"))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Make the terminal wide enough for every row; the tests' own terminal may have any width."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return a function that puts a repository's file into a hub cache, which is empty at first."""
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))

    def put(repository, file="model.safetensors", size=3_000_000):
        here = folder / f"models--{repository.replace('/', '--')}"
        blob, link = here / "blobs" / "0" / file, here / "snapshots" / ("c" * 40) / file
        for one in (blob, link):
            one.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(b"0" * size)
        link.symlink_to(blob)
        return folder

    return put


def said(capsys, *arguments):
    parser = argparse.ArgumentParser()
    add_options(parser, "models")
    assert models.run(parser.parse_args(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", registered())
def test_a_registered_model_is_described_in_full(name):
    model = registered()[name]
    assert model.can
    assert set(model.can) <= CAN
    assert not (model.weights and model.form)
    assert bool(model.weights) == (model.millions is not None)
    assert model.weights or not model.licence
    assert bool(model.packages) == bool(model.extra)


@pytest.mark.parametrize("name", registered())
def test_an_option_has_values_or_a_form(name):
    for option in registered()[name].options.values():
        assert bool(option.values) != bool(option.form)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_model_can_do_what_is_listed(name, tmp_path):
    model = load(name, folder=tmp_path).model
    has = [
        methods[0].removesuffix("_images") for methods in METHODS if all(hasattr(model, method) for method in methods)
    ]
    assert sorted(registered()[name].can) == sorted(has)


def test_only_what_can_be_loaded_is_listed(capsys):
    listed = [entry["name"] for entry in json.loads(said(capsys, "--json")) if not entry["offered_by"]]
    assert listed == sorted(registered())


def test_the_table(capsys, cache):
    cache("google/siglip-base-patch16-224")
    lines = said(capsys).splitlines()
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in lines}
    assert lines[0].split() == ["model", "can", "default", "weights", "licence", "parameters", "here"]
    siglip = "siglip encode google/siglip-base-patch16-224 apache-2.0 (unconfirmed) 203 M in the cache, 0.00 GB"
    assert rows["siglip"] == siglip
    assert rows["align"] == "align encode kakaobrain/align-base unknown 172 M not in the cache"
    assert rows["oracle"] == "oracle match, answer, compare none - - -"
    assert rows["vlm"].startswith("vlm match, answer, compare required")
    note = "openai: --model=openai:WEIGHTS; WEIGHTS is URL#MODEL of a chat-completions service"
    assert note not in lines
    assert len(lines) == len(registered()) + 3
    assert "--notes" in lines[-1]
    assert note in said(capsys, "--notes").splitlines()


@pytest.mark.usefixtures("cache")
def test_rows_that_are_wider_than_the_terminal_become_paragraphs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == sorted(registered())
    start = lines.index("blip2: match")
    assert lines[start + 1 : start + 3] == [
        "    weights: Salesforce/blip2-itm-vit-g", "    licence: mit; parameters: 1,172 M; not in the cache",
    ]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "200")
    assert said(capsys).splitlines()[0].split()[:2] == ["model", "can"]


@pytest.mark.usefixtures("cache")
def test_models_that_are_named(capsys):
    text = said(capsys, "siglip", "oracle")
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "oracle: match, answer, compare",
        "siglip: encode",
    ]
    assert "    card: https://huggingface.co/google/siglip-base-patch16-224\n" in text
    assert [entry["name"] for entry in json.loads(said(capsys, "siglip", "--json"))] == ["siglip"]
    with pytest.raises(UnknownNameError, match="'siglib'; did you mean 'siglip'"):
        said(capsys, "siglip", "siglib")


def test_other_weights_in_the_cache_are_listed(capsys, cache, monkeypatch):
    cache("google/siglip-base-patch16-224")
    cache("Org/some-vlm", size=12_000_000)
    assert said(capsys, "--notes").splitlines()[-1] == "also in the hub's cache: Org/some-vlm, 0.01 GB"
    assert "some-vlm" not in said(capsys, "siglip")
    assert "some-vlm" not in said(capsys)
    monkeypatch.setenv("COLUMNS", "80")
    assert said(capsys, "--notes").splitlines()[-1] == "also in the hub's cache: Org/some-vlm, 0.01 GB"


@pytest.mark.usefixtures("cache")
def test_what_is_not_installed_is_named_with_its_remedy(capsys, monkeypatch):
    monkeypatch.setattr("vlgate.models.loading.catalogue.find_spec", lambda name: None if name == "open_clip" else name)
    rows = {entry["name"]: entry for entry in json.loads(said(capsys, "--json"))}
    assert rows["open_clip"]["lacking"] == ["open_clip"]
    assert rows["siglip"]["lacking"] == []
    assert "no open_clip: pip install 'vlgate[clip]'" in said(capsys)


def test_the_cache_is_searched_for_weights(cache):
    folder = cache("org/whole", size=1234)
    cache("org/config-only", file="config.json")
    assert cached_weights() == {"org/whole": 1234}
    (folder / "models--org--torn").mkdir()
    assert cached_weights() == {"org/whole": 1234}


def test_a_missing_cache_is_empty(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "nowhere"))
    assert cached_weights() == {}


def test_without_the_hubs_package_the_cache_is_unknown(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert cached_weights() is None
    assert "the hub's cache cannot be read" in said(capsys)


def test_models_of_other_packages_are_listed_and_not_loaded(monkeypatch, capsys):
    theirs = [Offered(name=name, target="no_such_module:build", by=by) for name, by in [
        ("oracle", "one 1.0"), ("their-model", "one 1.0"), ("twice", "one 1.0"), ("twice", "two 2.0"),
    ]]  # fmt: skip
    monkeypatch.setattr("vlgate.models.loading.catalogue.all_offered", lambda: theirs)
    found = [entry for entry in catalogue({}) if entry.offered_by]
    assert found[1] == ModelEntry(name="their-model", offered_by="one 1.0", target="no_such_module:build")
    text = said(capsys, "--notes")
    assert "oracle: cannot be used: its name is vlgate's own" in text
    assert text.count("twice: cannot be used: two packages offer it") == 2
    assert "from one 1.0" in text


def test_no_framework_is_loaded_for_it():
    code = (
        "import argparse, sys; from vlgate.cli import models\n"
        "models.run(argparse.Namespace(names=[], notes=False, json=True))\n"
        "print({'torch', 'transformers', 'open_clip', 'sklearn'} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stderr == "set()\n"
    assert {entry["name"] for entry in json.loads(ended.stdout)} >= set(registered())


@pytest.mark.parametrize("redirected", ["| sleep 0", ">&-"])
def test_a_closed_pipe_is_not_an_error(redirected):
    command = f"set -o pipefail; {sys.executable} -c 'from vlgate.cli import main; raise SystemExit(main())' models"
    ended = subprocess.run(
        ["bash", "-c", f"{command} {redirected}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_reader_that_leaves_early_does_not_change_the_exit_status():
    program = (
        "from vlgate.cli import patient_output\n"
        "with patient_output():\n"
        "    for _ in range(9999): print('a line that nobody reads')\n"
        "raise SystemExit(3)"
    )
    ended = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -c "$1" | true', sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (3, "")
