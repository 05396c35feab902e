"""The command ``vlgate`` itself, and what lists something: ``tasks``, ``cache``, ``models``."""

import argparse
import json
import socket
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from builders import table
from huggingface_hub import constants

from vlgate import __version__
from vlgate.asking.cache.store import NAME, Store, connect
from vlgate.cli import COMMANDS, add_options, main, models
from vlgate.errors import UnknownNameError
from vlgate.metrics.shapes import SHAPES
from vlgate.models import load
from vlgate.models.loading.catalogue import ModelEntry, Offered, cached_weights, catalogue
from vlgate.models.loading.registry import METHODS
from vlgate.models.specs import ModelSpec, registered
from vlgate.sources.registry import measures, sentences, shapes

ROOT = Path(__file__).parents[2]


def test_it_is_installed_under_its_name():
    command = Path(sys.executable).with_name("vlgate")
    if not command.exists():
        pytest.skip("vlgate is not installed")
    ended = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, f"vlgate {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "status", "out", "err"),
    [
        (["--version"], 0, f"vlgate {__version__}\n", ""),
        (["models", "siglib"], 4, "", "did you mean 'siglip'"),
        ([], 4, "", "usage: vlgate"),
    ],
)
def test_python_m_vlgate_is_the_same_command(arguments, status, out, err):
    command = [sys.executable, "-m", "vlgate", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (status, out)
    assert err in ended.stderr


def test_a_place_that_cannot_be_written_is_an_error_in_one_line(tmp_path, monkeypatch, capsys, vlgate):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(["init"]) == 0
    monkeypatch.setattr("vlgate.cli.init.run", lambda _: (tmp_path / "file" / "inner").mkdir())
    capsys.readouterr()
    said = vlgate("init", status=4)
    assert said.count("\n") == 1
    assert str(tmp_path / "file" / "inner") in said


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_is_none_ends_every_command_with_4(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--no-such-option"])
    assert ended.value.code == 4
    said = capsys.readouterr().err
    assert said.startswith(f"usage: vlgate {name} ")
    assert f"vlgate {name}: error: " in said


@pytest.mark.parametrize(("arguments", "says"), table(Path(__file__).with_name("wrong_options.tsv")))
def test_what_cannot_be_used_ends_a_command_with_4(arguments, says, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(arguments.format(run=folder).split())
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr().err
    assert (status, says in said, "Traceback" in said) == (4, True, False), said
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("variable", "command"), [("VLGATE_DATA", "check"), ("VLGATE_CACHE", "cache")])
def test_a_variable_that_can_be_no_path_ends_a_command_with_4(variable, command, monkeypatch, vlgate):
    monkeypatch.setenv(variable, "~no-such-user/x")
    assert f"{variable}=~no-such-user/x: cannot be a path" in vlgate(command, status=4)


PAIR = {"task": "mine/pairs", "image": "1.jpg", "caption": "a cup", "foil": "a dog"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    rows = [PAIR | {"caption": f"cup {n}"} for n in range(300)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.mark.parametrize("task", shapes())
def test_every_task_that_a_source_can_make_has_a_sentence(task):
    assert measures(task).endswith((".", "?"))
    assert 20 <= len(measures(task)) <= 110


def test_every_sentence_belongs_to_a_task_and_an_own_task_has_none():
    assert not [key for key in sentences() if not any(fnmatchcase(task, key) for task in shapes())]
    assert measures("mine/order-inv") == ""


def test_rates_and_seconds_give_the_time_and_the_gpus_and_what_tasks_share_counts_once(data, vlgate):
    [entry] = json.loads(vlgate("tasks", "--data", data, "--rate", "0.5", "--json"))
    assert (entry["task"], entry["measures"], entry["shape"]) == ("mine/pairs", "", "pair")
    assert entry["metrics"] == list(SHAPES["pair"].metrics)
    assert entry["chance"] == SHAPES["pair"].chance
    assert (entry["cases"], entry["images"], entry["requests"]) == (300, 0, 301)
    assert entry["seconds"] == 602
    assert "10 min" in vlgate("tasks", "--data", data, "--rate", "0.5")
    per = ["--per-image", "10", "--per-text", "2", "--per-pair", "0.5"]
    [entry] = json.loads(vlgate("tasks", "--data", data, *per, "--json"))
    assert (entry["different_images"], entry["texts"], entry["requests"]) == (1, 301, 301)
    assert entry["seconds"] == 10 + 2 * 301 + 0.5 * 301
    assert "3.0 h; 7 GPUs finish within 0.5 h" in vlgate("tasks", "--data", data, "--per-text", "36", "--within", "0.5")
    rows = [PAIR | {"task": f"mine/{name}", "caption": f"cup {n}"} for name in "ab" for n in range(100)]
    (data / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = vlgate("tasks", "--data", data, "--per-image", "60").splitlines()
    assert lines[-1].endswith(" 1 min")


def test_the_metrics_of_released_scorers_are_listed_with_how_they_differ(tmp_path, vlgate):
    (tmp_path / "pope").mkdir()
    asked = {"question_id": 1, "image": "COCO_val2014_000000310196.jpg", "text": "Is there a cup?", "label": "no"}
    (tmp_path / "pope/coco_pope_random.json").write_text(json.dumps(asked))
    [entry] = json.loads(vlgate("tasks", "--data", tmp_path, "--json"))
    assert list(entry["variants"]) == [
        f"{name}@{variant}"
        for variant in ("release", "pope_release")
        for name in ("accuracy", "precision", "recall", "f1", "yes_share")
    ]
    text = " ".join(vlgate("tasks", "--data", tmp_path).split())
    assert "with --protocol=release, for published figures: accuracy@release, precision@release," in text
    assert "even an empty one" in text


CLIP, LXMERT = "clip 0123456789ab float32 cpu", "lxmert ba9876543210 float32 cpu"


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.put(CLIP, {bytes([n]) * 16: b"a reply" for n in range(200)})
    store.put(LXMERT, {bytes([n]) * 16: b"another" for n in range(200, 210)})
    store.close()
    return tmp_path


def rows(store, capsys, *arguments):
    capsys.readouterr()
    assert main(["cache", "--dir", str(store), "--json", *arguments]) == 0
    return {row["model"]: row["replies"] for row in json.loads(capsys.readouterr().out)}


def test_the_list_and_how_replies_of_one_model_old_ones_and_files_that_no_run_reads_are_cleared(store, capsys, vlgate):
    shown = vlgate("cache", "--dir", store).splitlines()
    assert shown[0].split() == ["model", "replies", "size", "oldest", "newest"]
    assert shown[1].split()[4:7] == ["200", "6.2", "kB"], shown[1]
    assert shown[1].startswith(CLIP)
    assert shown[-1] == f"210 replies of 2 models in {store}"
    assert rows(store, capsys, "--model=lxm") == {LXMERT: 10}
    assert vlgate("cache", "--dir", store, "--model=clip").splitlines()[-1] == f"200 replies of 1 model in {store}"
    with connect(store / NAME) as opened:
        opened.execute("UPDATE replies SET at = ? WHERE id <= 50", (int(time.time()) - 3 * 86_400,))
    opened.close()
    assert main(["cache", "clear", "--dir", str(store), "--older-than=2d"]) == 0
    assert rows(store, capsys) == {CLIP: 150, LXMERT: 10}
    assert "150 replies removed" in vlgate("cache", "clear", "--dir", store, "--model=clip")
    assert rows(store, capsys) == {LXMERT: 10}
    (store / "replies-v0.sqlite").write_bytes(b"of another version")
    (store / "replies-v1-damaged-1.sqlite").write_bytes(b"damaged")
    (store / "replies-v1-damaged-1.sqlite-wal").write_bytes(b"and its log")
    assert main(["cache", "--dir", str(store)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "of another version: replies-v0.sqlite, 18 B; vlgate cache clear removes it",
        "damaged, set aside: replies-v1-damaged-1.sqlite, 18 B; vlgate cache clear removes it",
    ]
    main(["cache", "--dir", str(store), "--json"])
    found = [(row["file"], row["size"]) for row in json.loads(capsys.readouterr().out) if not row["model"]]
    assert found == [("replies-v0.sqlite", 18), ("replies-v1-damaged-1.sqlite", 18)]
    assert main(["cache", "clear", "--dir", str(store)]) == 0
    assert rows(store, capsys) == {}
    assert [file.name for file in store.iterdir() if file.stat().st_size and file.suffix == ".sqlite"] == [NAME]


@pytest.mark.parametrize("action", ["list", "clear"])
def test_a_name_that_no_model_has(store, capsys, action):
    assert main(["cache", action, "--dir", str(store), "--model=nosuch"]) == 0
    said = capsys.readouterr()
    assert said.err == f"nothing matched --model=nosuch: the models are {CLIP}; {LXMERT}\n"
    assert rows(store, capsys) == {CLIP: 200, LXMERT: 10}


@pytest.mark.parametrize("action", ["list", "clear"])
def test_a_folder_that_is_no_cache(tmp_path, vlgate, monkeypatch, action):
    assert vlgate("cache", action, "--dir", tmp_path, status=4) == (
        f"vlgate cache: --dir={tmp_path}: is not a cache, because it holds no {NAME}; name the folder of a cache\n"
    )
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("VLGATE_CACHE", str(tmp_path / "none"))
    assert vlgate("cache") == f"no replies in {tmp_path / 'none'}\n"
    assert not (tmp_path / "none").exists()
    file = tmp_path / "file"
    file.write_text("no folder")
    said = "is a file, not a folder; name the folder of a cache"
    assert said in vlgate("cache", "--dir", file, status=4)
    monkeypatch.setenv("VLGATE_CACHE", str(file))
    assert said in vlgate("cache", status=4)


def test_a_damaged_file(tmp_path, capsys, vlgate):
    (tmp_path / NAME).write_bytes(b"no database at all" * 100)
    assert main(["cache", "--dir", str(tmp_path)]) == 4
    assert "cannot be used (file is not a database); the next run sets it aside" in capsys.readouterr().err
    assert main(["cache", "clear", "--dir", str(tmp_path), "--model=clip"]) == 4
    assert main(["cache", "clear", "--dir", str(tmp_path), "--older-than=1d"]) == 4
    assert (tmp_path / NAME).exists()
    assert vlgate("cache", "clear", "--dir", tmp_path) == f"0 replies removed from {tmp_path}, 1.8 kB freed\n"
    assert not list(tmp_path.iterdir())


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


def listed_(capsys, *arguments):
    parser = argparse.ArgumentParser()
    add_options(parser, "models")
    assert models.run(parser.parse_args(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", registered())
def test_a_registered_model_is_described_in_full(name):
    model = registered()[name]
    assert model.can
    assert set(model.can) <= {"match", "encode", "answer", "compare", "perplexity"}
    assert not (model.weights and model.form)
    assert bool(model.weights) == (model.millions is not None)
    assert model.weights or not model.licence
    assert bool(model.packages) == bool(model.extra)
    assert all(bool(option.values) != bool(option.form) for option in model.options.values())


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_model_can_do_what_is_listed(name, tmp_path):
    model = load(name, folder=tmp_path).model
    has = [methods[0] for methods in METHODS if all(hasattr(model, method) for method in methods)]
    assert sorted(registered()[name].can) == sorted(method.removesuffix("_images") for method in has)


def test_the_table_lists_only_what_can_be_loaded(capsys, cache):
    cache("google/siglip-base-patch16-224")
    lines = listed_(capsys).splitlines()
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
    assert note in listed_(capsys, "--notes").splitlines()
    listed = [entry["name"] for entry in json.loads(listed_(capsys, "--json")) if not entry["offered_by"]]
    assert listed == sorted(registered())
    assert "vlgate." not in listed_(capsys, "--json")  # where a model is built is of no use to a user


@pytest.mark.usefixtures("cache")
def test_rows_that_are_wider_than_the_terminal_become_paragraphs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = listed_(capsys).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == sorted(registered())
    start = lines.index("blip2: match")
    assert lines[start + 1 : start + 3] == [
        "    weights: Salesforce/blip2-itm-vit-g", "    licence: mit; parameters: 1,172 M; not in the cache",
    ]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "200")
    assert listed_(capsys).splitlines()[0].split()[:2] == ["model", "can"]


@pytest.mark.usefixtures("cache")
def test_models_that_are_named(capsys):
    text = listed_(capsys, "siglip", "oracle")
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "oracle: match, answer, compare",
        "siglip: encode",
    ]
    assert "    card: https://huggingface.co/google/siglip-base-patch16-224\n" in text
    assert [entry["name"] for entry in json.loads(listed_(capsys, "siglip", "--json"))] == ["siglip"]
    with pytest.raises(UnknownNameError, match="'siglib'; did you mean 'siglip'"):
        listed_(capsys, "siglip", "siglib")


@pytest.mark.usefixtures("cache")
def test_what_is_not_installed_is_named_and_other_weights_in_the_cache_are_listed(capsys, monkeypatch, cache):
    monkeypatch.setattr("vlgate.models.loading.catalogue.find_spec", lambda name: None if name == "open_clip" else name)
    rows = {entry["name"]: entry for entry in json.loads(listed_(capsys, "--json"))}
    assert rows["open_clip"]["lacking"] == ["open_clip"]
    assert rows["siglip"]["lacking"] == []
    assert "no open_clip: pip install 'vlgate[clip]'" in listed_(capsys)
    cache("google/siglip-base-patch16-224")
    cache("Org/some-vlm", size=12_000_000)
    assert listed_(capsys, "--notes").splitlines()[-1] == "also in the hub's cache: Org/some-vlm, 0.01 GB"
    assert "some-vlm" not in listed_(capsys, "siglip")
    assert "some-vlm" not in listed_(capsys)
    monkeypatch.setenv("COLUMNS", "80")
    assert listed_(capsys, "--notes").splitlines()[-1] == "also in the hub's cache: Org/some-vlm, 0.01 GB"


def test_the_cache_is_searched_for_weights(cache, tmp_path, monkeypatch, capsys):
    folder = cache("org/whole", size=1234)
    cache("org/config-only", file="config.json")
    (folder / "models--org--torn").mkdir()
    assert cached_weights() == {"org/whole": 1234}
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "nowhere"))
    assert cached_weights() == {}
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert cached_weights() is None
    assert "the hub's cache cannot be read" in listed_(capsys)


def test_models_of_other_packages_are_listed_and_not_loaded(monkeypatch, capsys):
    offers = [("oracle", "one 1.0"), ("their-model", "one 1.0"), ("twice", "one 1.0"), ("twice", "two 2.0")]
    theirs = [Offered(name=name, target="no_such_module:build", by=by) for name, by in offers]
    monkeypatch.setattr("vlgate.models.loading.catalogue.all_offered", lambda: theirs)
    found = [entry for entry in catalogue({}) if entry.offered_by]
    assert found[1] == ModelEntry(
        spec=ModelSpec(name="their-model", build="no_such_module:build"), offered_by="one 1.0"
    )
    text = listed_(capsys, "--notes")
    assert "oracle: cannot be used: its name is vlgate's own" in text
    assert text.count("twice: cannot be used: two packages offer it; write --model=no_such_module:build") == 2
    assert "from one 1.0" in text


MAIN = "from vlgate.cli import main; raise SystemExit(main())"
EARLY = """
from vlgate.cli import patient_output
with patient_output():
    for _ in range(9999): print('a line that nobody reads')
raise SystemExit(3)
"""


@pytest.mark.parametrize(
    ("program", "redirected", "status"), [(MAIN, "| sleep 0", 0), (MAIN, ">&-", 0), (EARLY, "| true", 3)]
)
def test_a_closed_pipe_and_a_reader_that_leaves_early_are_no_errors(program, redirected, status):
    command = ["bash", "-c", f'set -o pipefail; "$0" -c "$1" models {redirected}', sys.executable, program]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (status, "")
