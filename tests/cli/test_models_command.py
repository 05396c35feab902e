"""``vlgate models``: what it lists, and that it loads and asks nothing for it."""

import argparse
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from vlgate.cli import models
from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.models.catalogue import Entry, cached_weights, catalogue, facts
from vlgate.models.entry_points import Offered
from vlgate.models.registered import REGISTRY
from vlgate.models.resolve import WAYS

ROOT = Path(__file__).parents[2]
KEYS = {"ways", "weights", "form", "licence", "millions", "packages", "extra", "note"}
CAN = {"match", "encode", "answer", "perplexity"}
REFERENCES = ("bag-of-words", "blind", "constant", "oracle", "random")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was asked"))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal in which every row fits; the tests' own may be of any width."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty hub cache, and what puts a repository's file into it."""
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


@pytest.fixture
def registered(monkeypatch):
    """A registry of every name that there are facts of."""
    monkeypatch.setattr("vlgate.models.catalogue.REGISTRY", dict.fromkeys(facts(), "vlgate.models.x:build"))


def said(capsys, *arguments):
    parser = argparse.ArgumentParser()
    models.add(parser)
    assert models.run(parser.parse_args(arguments)) == 0
    return capsys.readouterr().out


def test_every_registered_name_has_its_facts():
    assert set(REGISTRY) <= set(facts())


@pytest.mark.parametrize("name", facts())
def test_the_facts_are_well_formed(name):
    row = facts()[name]
    assert set(row) <= KEYS
    assert row["ways"]
    assert set(row["ways"]) <= CAN
    assert not ("weights" in row and "form" in row)
    assert ("weights" in row) == ("millions" in row)
    assert "weights" in row or "licence" not in row
    assert ("packages" in row) == ("extra" in row)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_default_weights_are_those_that_the_adapter_takes(name):
    weights = facts()[name].get("weights")
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "vlgate" / "models").rglob("*.py"))
    assert weights is None or f'"{weights}"' in sources


@pytest.mark.parametrize("name", REFERENCES)
def test_ways_are_those_that_a_model_has(name, tmp_path):
    model = load(name, folder=tmp_path).model
    has = [way[0].removesuffix("_images") for way in WAYS if all(hasattr(model, method) for method in way)]
    assert sorted(facts()[name]["ways"]) == sorted(has)


def test_only_what_can_be_loaded_is_listed(capsys):
    listed = [entry["name"] for entry in json.loads(said(capsys, "--json")) if not entry["offered_by"]]
    assert listed == sorted(REGISTRY)


@pytest.mark.usefixtures("registered")
def test_the_table(capsys, cache):
    cache("google/siglip-base-patch16-224")
    lines = said(capsys).splitlines()
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in lines}
    assert lines[0].split() == ["model", "can", "default", "weights", "licence", "parameters", "here"]
    siglip = "siglip encode google/siglip-base-patch16-224 apache-2.0 (unconfirmed) 203 M in the cache, 0.00 GB"
    assert rows["siglip"] == siglip
    assert rows["align"] == "align encode kakaobrain/align-base unknown 172 M not in the cache"
    assert rows["oracle"] == "oracle match, answer none - - -"
    assert rows["vlm"].startswith("vlm match, answer to be named")
    assert "openai: --model=openai:WEIGHTS, where WEIGHTS is URL#MODEL of a chat-completions service" in lines


@pytest.mark.usefixtures("registered", "cache")
def test_where_a_row_is_wider_than_the_terminal_it_is_a_paragraph(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = said(capsys).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == sorted(facts())
    start = lines.index("blip2: match")
    assert lines[start + 1 : start + 3] == [
        "    weights: Salesforce/blip2-itm-vit-g", "    licence: mit; parameters: 1,172 M; not in the cache",
    ]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "200")
    assert said(capsys).splitlines()[0].split()[:2] == ["model", "can"]


@pytest.mark.usefixtures("registered", "cache")
def test_models_that_are_named(capsys):
    text = said(capsys, "siglip", "oracle")
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "oracle: match, answer",
        "siglip: encode",
    ]
    assert "    card: https://huggingface.co/google/siglip-base-patch16-224\n" in text
    assert [entry["name"] for entry in json.loads(said(capsys, "siglip", "--json"))] == ["siglip"]
    with pytest.raises(ModelLoadError, match="no model 'siglib'; did you mean 'siglip'"):
        said(capsys, "siglip", "siglib")


@pytest.mark.usefixtures("registered")
def test_what_else_is_in_the_cache_is_told(capsys, cache, monkeypatch):
    cache("google/siglip-base-patch16-224")
    cache("Org/some-vlm", size=12_000_000)
    assert said(capsys).splitlines()[-1] == "in the hub's cache besides: Org/some-vlm, 0.01 GB"
    assert "some-vlm" not in said(capsys, "siglip")
    monkeypatch.setenv("COLUMNS", "80")
    assert said(capsys).splitlines()[-1] == "in the hub's cache besides: Org/some-vlm, 0.01 GB"


@pytest.mark.usefixtures("registered", "cache")
def test_what_is_not_installed_is_named_with_its_remedy(capsys, monkeypatch):
    monkeypatch.setattr("vlgate.models.catalogue.find_spec", lambda name: None if name == "open_clip" else name)
    rows = {entry["name"]: entry for entry in json.loads(said(capsys, "--json"))}
    assert rows["open_clip"]["lacking"] == ["open_clip"]
    assert rows["siglip"]["lacking"] == []
    assert "no open_clip: pip install 'vlgate[clip]'" in said(capsys)


def test_the_cache_is_looked_at_for_weights(cache):
    folder = cache("org/whole", size=1234)
    cache("org/config-only", file="config.json")
    assert cached_weights() == {"org/whole": 1234}
    (folder / "models--org--torn").mkdir()
    assert cached_weights() == {"org/whole": 1234}


def test_a_cache_that_is_not_there_is_empty(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "nowhere"))
    assert cached_weights() == {}


@pytest.mark.usefixtures("registered")
def test_without_the_hubs_package_nobody_knows(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert cached_weights() is None
    assert "the hub's cache cannot be read" in said(capsys)


def test_models_of_other_packages_are_listed_and_not_loaded(monkeypatch, capsys):
    theirs = [Offered(name=name, target="no_such_module:build", by=by) for name, by in [
        ("oracle", "one 1.0"), ("their-model", "one 1.0"), ("twice", "one 1.0"), ("twice", "two 2.0"),
    ]]  # fmt: skip
    monkeypatch.setattr("vlgate.models.catalogue.all_offered", lambda: theirs)
    found = [entry for entry in catalogue({}) if entry.offered_by]
    assert found[1] == Entry(name="their-model", offered_by="one 1.0", target="no_such_module:build")
    text = said(capsys)
    assert "oracle: cannot be used: its name is vlgate's own" in text
    assert text.count("twice: cannot be used: two packages offer it") == 2
    assert "of one 1.0" in text


def test_no_framework_is_loaded_for_it():
    code = (
        "import argparse, sys; from vlgate.cli import models; models.run(argparse.Namespace(names=[], json=True)); "
        "print({'torch', 'transformers', 'open_clip', 'sklearn'} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stderr == "set()\n"
    assert {entry["name"] for entry in json.loads(ended.stdout)} >= set(REGISTRY)


@pytest.mark.parametrize("redirected", ["| sleep 0", ">&-"])
def test_nobody_who_reads_is_no_error(redirected):
    command = f"set -o pipefail; {sys.executable} -c 'from vlgate.cli import main; raise SystemExit(main())' models"
    ended = subprocess.run(
        ["bash", "-c", f"{command} {redirected}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
