"""One set: the same seed gives the same bytes, a run that is killed goes on, what is dropped is counted."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import read_lines, write_lines
from PIL import Image

from vlgate.errors import DataError, OptionError
from vlgate.making.kinds.kind import Made, Selected
from vlgate.making.sets import candidates
from vlgate.making.sets.blind import Reached
from vlgate.making.sets.run import Settings, make_set
from vlgate.perturb.foils.candidates import Foil, Perturbed, SentenceSet, Swap
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Metric


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(candidates, "BLOCK", 100)


@pytest.fixture
def made(sides, captions_file, tmp_path):
    def make(kind=sides, out="set", files=None, **options):
        said = []
        files = files or (captions_file(),)
        make_set(kind, Settings(files=files, out=tmp_path / out, **options), said.append)
        return tmp_path / out, said

    return make


def content(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def report(folder):
    return json.loads((folder / "bias.json").read_text())


def read(folder, task="made/sides"):
    [found] = cases.read(ReadOptions(folders=(folder,), seed=0, wanted=task.__eq__))
    return found


def test_a_set_is_cases_reasons_and_a_report_and_our_reader_reads_it(made):
    folder, said = made()
    assert set(content(folder)) == {"bias.json", "bias.md", "cases/sides.jsonl", "why.jsonl"}
    task = read(folder)
    assert task.shape == "pair"
    assert len(task.cases) == report(folder)["cases"] == 600
    assert task.cases[0].tags == {"word": task.cases[0].requests[0].text.split()[5]}
    why = read_lines(folder / "why.jsonl")
    assert [row["id"] for row in why] == [case.id for case in task.cases]
    assert why[0]["classes"] in (["left", "right"], ["right", "left"])
    assert why[0]["origin"].startswith("captions.jsonl, on line ")
    assert said[-1] == "600 of 600 captions: 600 candidates"


def test_a_balanced_set_is_at_chance_and_loses_nothing(made):
    found = report(made()[0])
    assert abs(found["blind"]["value"] - 0.5) <= 0.05
    assert found["dropped"] == {}
    assert found["classes"]["distance"] == 0
    assert found["classes"]["phrases"] == {"left": [300, 300], "right": [300, 300]}
    assert found["changed_words"] == {"median": 1, "most": 1}


def test_foils_that_text_gives_away_are_dropped_and_counted(made, captions_file):
    extra = [f"a chair is on the left of {index + 5000}." for index in range(300)]
    folder, _ = made(files=(captions_file(600, extra),))
    found = report(folder)
    assert found["blind"]["before"] > 0.6
    assert found["blind"]["value"] <= 0.55
    assert found["plausibility"]["value"] <= 0.55
    told = ("found by its text alone", "its true text is the likelier one")
    assert sum(found["dropped"].get(reason, 0) for reason in told) == 900 - found["cases"]
    assert 500 < found["cases"] < 900
    assert "It was 0." in (folder / "bias.md").read_text()


@pytest.mark.slow
def test_pruning_ends_with_every_probe_at_chance_and_says_what_it_dropped(made, captions_file):
    extra = [f"a chair is on the left of {index + 5000}." for index in range(300)]
    files = (captions_file(600, extra),)
    plain = report(made(files=files)[0])
    folder, _ = made(files=files, out="pruned", balance="pruned")
    found = report(folder)
    assert "shortcuts" not in plain
    assert found["shortcuts"]["why"] == "not above chance: the interval of no probe is above it"
    probes = found["shortcuts"]["probes"]
    assert probes["words"]["before"] > 0.6
    assert all(probe["low"] <= 0.5 for probe in probes.values())
    dropped = found["dropped"]["solved by its text alone (--prune-shortcuts)"]
    assert found["shortcuts"]["dropped"] == dropped == plain["cases"] - found["cases"] > 0
    assert f"{dropped:,} cases were dropped. Text alone is not above chance" in (folder / "bias.md").read_text()


def test_pruning_leaves_a_set_alone_that_text_tells_to_the_end(made, captions_file):
    file = captions_file(0, [f"a cup is on the left of {index}." for index in range(200)])
    found = report(made(files=(file,), balance="pruned")[0])
    assert (found["cases"], found["shortcuts"]["dropped"]) == (200, 0)
    assert found["shortcuts"]["why"].startswith("above chance, by words")


def test_a_probe_below_chance_is_named_and_not_called_at_chance():
    probes = {
        "words": Metric(value=0.4, low=0.35, high=0.45, n=200),
        "order": Metric(value=0.5, low=0.4, high=0.6, n=200),
    }
    expected = "not above chance: the interval of no probe is above it, and that of words is below it"
    assert Reached(probes=probes, chance=0.5).why == expected


def test_if_dropping_cannot_help_nothing_is_dropped_and_the_report_says_so(made, captions_file):
    file = captions_file(0, [f"a cup is on the left of {index}." for index in range(400)])
    folder, _ = made(files=(file,))
    found = report(folder)
    assert found["cases"] == 400
    assert found["blind"]["value"] == 1
    assert (
        "is more than 0.05 above chance: it stays so until fewer than 100 of 400 cases are left."
        in (folder / "bias.md").read_text()
    )


def test_the_seed_decides_the_bytes(made, captions_file):
    files = (captions_file(),)
    a, b, c = (
        content(made(files=files, out=name, seed=seed, limit=50)[0]) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert a == b
    assert a["cases/sides.jsonl"] != c["cases/sides.jsonl"]


def test_a_limit_is_kept_and_the_rest_of_the_inputs_is_not_used(made):
    folder, _ = made(limit=30)
    found = report(folder)
    assert found["cases"] == 30
    assert found["inputs"] == {
        "name": "captions",
        "given": 600,
        "unread": 0,
        "used": 100,
        "with_case": 30,
        "left_out": {},
        "images": 600,
        "images_found": None,
    }
    assert found["dropped"]["beyond --limit"] == 70


def test_the_release_format_is_written_by_the_kind(made):
    folder, _ = made(form="release", limit=20)
    assert not (folder / "cases").exists()
    assert set(json.loads((folder / "sides/sides.json").read_text()).values()) == {"left", "right"}
    assert report(folder)["files"] == ["sides/sides.json", "why.jsonl"]


def test_a_kind_of_no_benchmark_has_no_release_format(made, sides):
    with pytest.raises(OptionError, match="--format release: no benchmark releases sides; take cases"):
        made(replace(sides, release=None), form="release")
    assert made(replace(sides, release=None), limit=20)[0].is_dir()


def test_a_folder_with_a_set_is_refused_unless_it_is_overwritten(made):
    folder, _ = made(limit=20)
    before = content(folder)
    with pytest.raises(OptionError, match=r"holds bias\.json of an earlier set; replace it with --overwrite"):
        made(limit=20, seed=1)
    assert content(folder) == before
    made(limit=20, seed=1, form="release", overwrite=True)
    assert set(content(folder)) == {"bias.json", "bias.md", "sides/sides.json", "why.jsonl"}


@pytest.mark.slow
def test_a_file_of_ones_own_is_not_replaced(made, tmp_path):
    mine = tmp_path / "set/cases/sides.jsonl"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(OptionError, match=r"cases/sides\.jsonl is there already"):
        made()
    assert mine.read_text() == "mine"


def test_the_kind_selects_and_its_reasons_are_counted(made, sides):
    def one_word(items, _):
        kept = tuple(item for item in items if item.candidate.classes[0] == "left")
        return Selected(items=kept, dropped={"the word is right": len(items) - len(kept)})

    found = report(made(replace(sides, select=one_word))[0])
    assert found["dropped"]["the word is right"] == 300
    assert found["cases"] == 300


def failing(kind, after):
    """The kind, whose function raises after so many blocks."""
    blocks = iter(range(after))

    def start(work):
        make_some = kind.start(work)

        def some(inputs):
            if next(blocks, None) is None:
                raise RuntimeError("stopped")
            return make_some(inputs)

        return some

    return replace(kind, start=start)


def test_a_run_that_stopped_goes_on_with_the_next_block(made, sides, captions_file):
    files = (captions_file(),)
    whole, _ = made(out="whole", files=files)
    with pytest.raises(RuntimeError, match="stopped"):
        made(failing(sides, 4), files=files)
    folder, said = made(failing(sides, 2), files=files)
    assert said[0] == "an interrupted run goes on"
    assert content(folder) == content(whole)


def test_other_options_do_not_go_on_with_the_work_of_an_interrupted_run(made, sides, captions_file):
    files = (captions_file(),)
    with pytest.raises(RuntimeError):
        made(failing(sides, 4), files=files)
    with pytest.raises(OptionError, match="an interrupted run with other options left its work here"):
        made(files=files, seed=1)
    folder, said = made(files=files, seed=1, overwrite=True)
    assert said[0] != "an interrupted run goes on"
    assert content(folder) == content(made(files=files, seed=1, out="other")[0])


def test_a_block_that_is_damaged_is_made_again(made, sides, captions_file, tmp_path):
    files = (captions_file(),)
    with pytest.raises(RuntimeError):
        made(failing(sides, 3), files=files)
    blocks = sorted((tmp_path / "set/.making").glob("0*.json"))
    blocks[0].write_text("{}")
    blocks[1].write_text(blocks[1].read_text()[:-9])
    folder, _ = made(files=files)
    assert content(folder) == content(made(files=files, out="other")[0])


PROGRAM = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import conftest
from dataclasses import replace
from vlgate.making.kinds.kind import Kind
from vlgate.making.sets import candidates
from vlgate.making.sets.run import make_set
from vlgate.making.sets.run import Settings
candidates.BLOCK = 100
def start(work):
    make_some = conftest.start(work)
    def some(inputs):
        time.sleep(float(os.environ.get("SECONDS_A_BLOCK", "0.1")))
        return make_some(inputs)
    return some
kind = Kind(name="sides", sentence="x", takes=("captions",), shape="pair", start=start, release=conftest.release)
make_set(kind, Settings(files=(Path(sys.argv[2]),), out=Path(sys.argv[3])), print)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_half_file_and_goes_on(made, captions_file, tmp_path):
    file = captions_file()
    whole, _ = made(files=(file,), out="whole")
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(file), str(tmp_path / "set")]
    for kept in (1, 3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while len(list(tmp_path.glob("set/.making/0*.json"))) < kept and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "set/cases").exists()
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=os.environ)
    assert "an interrupted run goes on" in ended.stdout
    left = content(tmp_path / "set")
    assert left == content(whole)


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background processes with it ignored
import vlgate.cli.make as command
from vlgate.cli import main
command.kind = lambda name: kind
options = ["--from", sys.argv[2], "--out", sys.argv[3]]
sys.exit(main(["make", "existence", *options]))
"""


@pytest.mark.slow
def test_ctrl_c_ends_with_a_line_and_leaves_no_half_file(made, captions_file, tmp_path):
    file = captions_file()
    whole, _ = made(files=(file,), out="whole")
    program = PROGRAM.rpartition("make_set(")[0] + INTERRUPTED
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(file), str(tmp_path / "set")]
    slow = {**os.environ, "SECONDS_A_BLOCK": "2"}  # so that it cannot end before the signal comes
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=slow)
    while not list(tmp_path.glob("set/.making/0*.json")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted; run the same command again to go on"
    assert "Traceback" not in said
    left = [file.name for file in (tmp_path / "set").rglob("*") if file.is_file()]
    assert all(name == "options.json" or name.removesuffix(".json").isdigit() for name in left)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "an interrupted run goes on" in ended.stderr
    assert content(tmp_path / "set") == content(whole)


DROPPED = """
import os, sys
from vlgate.cli import main
options = ["make", "relation", "--from", sys.argv[1], "--out"]
assert main([*options, sys.argv[2]]) == 0
if os.getuid() == 0:  # every folder can be written
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main([*options, sys.argv[3]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs os.setuid, which Windows lacks")
def test_a_folder_that_cannot_be_written_is_one_line():
    with TemporaryDirectory() as name:  # pytest's own folders can only be read by their user
        folder = Path(name)
        folder.chmod(0o755)
        objects = {
            "1": {"name": "man", "x": 0, "y": 0, "w": 9, "h": 9, "relations": [{"name": "riding", "object": "2"}]},
            "2": {"name": "horse", "x": 0, "y": 5, "w": 9, "h": 9},
        }
        (folder / "graphs.json").write_text(json.dumps({"1": {"objects": objects}}))
        (folder / "shut").mkdir(mode=0o555)
        for out in ("shut", "shut/set"):
            files = [str(folder / one) for one in ("graphs.json", f"set of {out.replace('/', ' ')}", out)]
            command = [sys.executable, "-c", DROPPED, *files]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            if "Operation not permitted" in ended.stderr:
                pytest.skip("this user may not become another one")
            assert ended.returncode == 4, ended.stderr
            said = f"vlgate make: --out {folder / out}: cannot be written (Permission denied); name another folder"
            assert ended.stderr.splitlines()[-1] == said
            assert not any((folder / "shut").iterdir())


def test_a_folder_that_has_none_of_the_images_is_an_error(made, captions_file, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "else.jpg").touch()
    with pytest.raises(OptionError) as raised:
        made(files=(captions_file(3),), images=tmp_path / "photos")
    looked = "has none of the 3 images of the inputs (looked for 0.jpg and 0.* in it); name the folder that holds them"
    assert str(raised.value) == f"--images {tmp_path / 'photos'}: {looked}"
    assert not (tmp_path / "set").exists()


def test_images_that_a_folder_lacks_are_counted(made, captions_file, tmp_path):
    (tmp_path / "photos").mkdir()
    for name in ("0.jpg", "1.png"):
        (tmp_path / "photos" / name).touch()
    folder, _ = made(files=(captions_file(3),), images=tmp_path / "photos")
    assert (report(folder)["inputs"]["images"], report(folder)["inputs"]["images_found"]) == (3, 2)
    assert "The folder of images has 2 of the 3 images." in (folder / "bias.md").read_text()


def test_nothing_is_left_if_no_case_is_made(made, captions_file, tmp_path):
    with pytest.raises(
        OptionError, match=r"gives no case of sides \(12 x no left or right\); how many captions a gate of "
    ):
        made(files=(captions_file(0, ["a cup"] * 12),))
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("number", [1, 2])
def test_no_case_for_want_of_other_captions_asks_for_two_captions_of_an_image(made, sides, captions_file, number):
    def start(_):
        why = Perturbed.of("no other caption speaks of one")
        return lambda inputs: [Made(image=one.image, origin=one.origin, found=why) for one in inputs]

    rows = [{"image": f"{n % (6 // number)}.jpg", "caption": f"a cup {n}"} for n in range(6)]
    file = captions_file(1)
    write_lines(file, rows)
    with pytest.raises(OptionError) as raised:
        made(kind=replace(sides, start=start), files=(file,))
    asked = "; each image has only one caption: give two or more captions of an image"
    assert str(raised.value).endswith(asked) is (number == 1)


BAD = ["", "   ", "A dog.\ud800", "<p>A dog on the left.</p>", "word " * 10_000, "🐶🐶🐶", "一只狗在左边", "A dog."]


def test_captions_that_cannot_be_used_are_counted_by_reason(made, captions_file):
    found = report(made(files=(captions_file(20, BAD),))[0])
    assert found["inputs"]["left_out"] == {
        "the text has no Latin letter": 2,
        "the text is empty": 2,
        "the text has more than 2,000 characters": 1,
        "the text holds half of a surrogate pair": 1,
        "the text holds markup": 1,
    }
    assert found["refused"] == {"no left or right": 1}


def test_a_file_of_another_input_is_named(made, tmp_path):
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps({"1": {"objects": {"1": {"name": "cup", "x": 0, "y": 0, "w": 9, "h": 9}}}}))
    with pytest.raises(DataError, match=r"graphs\.json: holds graphs; this kind takes captions"):
        made(files=(file,))


def test_sets_and_swaps_are_read_back_in_their_shapes(made, sides):
    def of(candidate):
        def start(_):
            return lambda inputs: [
                Made(image=input_.image, origin=input_.origin, found=Perturbed.of(candidate(input_)))
                for input_ in inputs
            ]

        return start

    sets = of(lambda one: SentenceSet(true=(one.text, "a"), false=(f"no {one.text}", f"b {one.text}"), why="w"))
    swaps = of(lambda one: Swap(images=(one.image, f"x{one.image}"), captions=(one.text, f"so {one.text}"), why="w"))
    for name, shape, begin in (("made-set", "set", sets), ("swap", "quad", swaps)):
        folder, _ = made(replace(sides, name=name, shape=shape, start=begin), out=name, limit=40)
        task = read(folder, f"made/{name}")
        assert task.shape == shape
        assert len(task.cases) == 40
        assert report(folder)["blind"]["n"] == 80


def test_equal_texts_rewritten_ones_and_duplicates_are_dropped(made, sides, captions_file):
    texts = ["One cup on the left.", "one  cup, on the left", "many large red cars are here", "A cup on the right."]

    def start(_):
        def some(inputs):
            foils = [Foil(caption="One cup on the left.", foil=text, classes=("a", "b"), why="") for text in texts]
            one = inputs[0]
            yield Made(image=one.image, origin=one.origin, found=Perturbed.of(*foils, foils[-1]))

        return some

    folder, _ = made(replace(sides, start=start, whole=True), files=(captions_file(3),))
    assert report(folder)["dropped"] == {
        "the foil is the caption": 2,
        "the foil keeps less than 50% of the caption's words": 1,
        "the same case again": 1,
    }
    assert report(folder)["blind"]["why"] == "not measured: fewer than ten images"


def test_a_folder_of_images_gives_names_their_extensions_and_graphs_their_sizes(made, sides, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    Image.new("RGB", (60, 40)).save(photos / "2.png")
    graphs = {name: {"objects": {"1": {"name": "cup", "x": 0, "y": 0, "w": 9, "h": 9}}} for name in ("2", "3")}
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps(graphs))

    def start(_):
        def some(graphs):
            for graph in graphs:
                text = f"{graph.width} by {graph.height}"
                foil = Foil(caption=text, foil=f"not {text}", classes=("a", "b"), why="")
                yield Made(image=graph.id, origin=graph.id, found=Perturbed.of(foil))

        return some

    folder, _ = made(replace(sides, start=start, takes=("graphs",)), files=(file,), images=photos)
    cases = read_lines(folder / "cases/sides.jsonl")
    assert {(case["image"], case["caption"]) for case in cases} == {("2.png", "60 by 40"), ("3", "None by None")}
