"""Every reader of a user's file: how small files are made in the formats of the releases, and how they are read."""

import io
import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import region_file_forms as forms
import releases
from frcnn_tiny import config_yaml
from own_case_lines import EVERY
from own_case_lines import table as cells
from PIL import Image

from tests.report.page.page_runs import result_of
from vlgate.asking.checks.check import Check
from vlgate.audit.label_fixes import read_disputes
from vlgate.errors import DataError
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.gates.must_hold import read_must_hold
from vlgate.gates.thresholds import read_thresholds, thresholds_errors
from vlgate.judging.verdicts import judge
from vlgate.making.inputs.reading import read_inputs
from vlgate.making.votes.form import digest as form_of
from vlgate.making.votes.form import items_of
from vlgate.making.votes.outcome import read_votes
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.models.cross.answer_lists import read_answers
from vlgate.models.reference.replay import read_rows
from vlgate.models.regions.detector_network import read_config
from vlgate.models.regions.feature_file import feature_file
from vlgate.models.regions.volta.config import parse, read_json
from vlgate.models.regions.volta.sources import published
from vlgate.probes.controls.control import Controlled
from vlgate.record import replies
from vlgate.record.cases import read_cases
from vlgate.record.comparison import finished_run
from vlgate.record.digests import Digests, digest, rows_digest
from vlgate.record.folder import read_run
from vlgate.record.judging_again import judge_again
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.verdict import read_verdict
from vlgate.report.exports import every_eval_ever, lm_eval
from vlgate.report.exports.rows import csv_lines, exported, json_lines
from vlgate.report.folder import write_figures, write_rows
from vlgate.report.missed import card_of, case_lines, missed_cases, missed_lines, row_of
from vlgate.report.page.page import write_page
from vlgate.run.census import count
from vlgate.run.planning import make_plan
from vlgate.sources.benchmarks.quads import TAGS
from vlgate.sources.graphs.files import graph_faults, read_graphs, read_words, vocabulary_of
from vlgate.sources.graphs.question_files import images_in
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source, readable_tasks, shapes_of
from vlgate.types import Batch, Case, LazyImage, Match, Task

DATA = Path(__file__).parents[3] / "shared" / "data"
FILES = json.loads(Path(__file__).with_name("contents.json").read_text())  # of small files in the forms of releases


@dataclass(frozen=True)
class Reader:
    """``make(folder)`` writes the files and returns the one to change; ``read(folder, file)`` reads them.

    ``cost`` is how many times longer a mutant takes than most.
    """

    make: object
    read: object
    cost: int = 1


def read_reply_rows(_, file):
    """Read the replies of a batch of four pairs, as ``vlgate merge`` does."""
    image = LazyImage(key="a.jpg", load=None)
    texts = [(f"There are {number} dogs.", f"There are no {number} dogs.") for number in range(4)]
    pairs = [tuple(Match(image=image, text=text) for text in pair) for pair in texts]
    cases = tuple(Case(id=f"{n}", requests=pair, truths=(True, False)) for n, pair in enumerate(pairs))
    task = Task(id="own/dogs", capability="foil", shape="pair", cases=cases)
    batch = Batch(task=task, positions=(0, 1, 2, 3), ties="strict")
    try:
        rows = replies.read_rows(json.loads(file.read_bytes()) if file.is_file() else None, batch)
        judge(batch, replies.unpack(rows, batch))
    except (ValueError, RecursionError) as error:
        raise DataError(file, None, str(error), "run this part again") from None


@lru_cache(maxsize=1)
def whole_run():
    """The files of a run, and a thresholds file that is about it, by name."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        suite = ("scenes/relations", "scenes/visual-inv")
        options = Options(folder=folder, model="oracle", suite=suite, limit=12, thresholds=None, results=folder)
        result = result_of(make_plan(options).tasks)
        values = {"shown": np.linspace(0, 1, 3), "grey": np.array([0.5, np.nan, 0.0])}
        asked = ControlledTask(
            cases=("a", "b", "c"), images=("1", "1", "2"), columns=values, requests=6,
            figures={"visual_gain": Figure(column="shown", before="grey")},
        )  # fmt: skip
        controls = (Controlled(name="look", limit=3, tasks={"scenes/relations": asked}),)
        rows = rows_digest((one.task.id, one.verdicts) for one in result.results)
        digests = Digests(thresholds=None, must_hold=None, plan=f"blake2b:{0:032x}", rows=rows)
        result = replace(result, controls=controls, digests=digests)
        card = ModelCard(name="oracle", checks=(Check(name="polarity", outcome="ok", why="it is"),))
        assert write_rows(result, options) == []
        assert write_figures(result, card, options, 1) == []
        (folder / "gates.toml").write_text('schema = 1\n[gate."scenes/relations".acc_r]\nmin = 0.1\n')
        return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def run_file(which):
    def make(folder):
        for name, content in whole_run().items():
            (folder / name).write_bytes(content)
        return folder / which

    return make


def read_whole_run(folder, _):
    """Read a run as the commands do."""
    run = read_run(folder, "run")
    table = read_cases(run)
    earlier = finished_run(run)
    read_verdict(run)
    judge_again(run, folder / "gates.toml", earlier)
    missed_lines(missed_cases(run, run.figures["tasks"]), None)
    case_lines(card_of(run, row_of(run, str(table.column("case")[0].as_py()))), colour=False)
    write_page(run, ())
    for export in (csv_lines, json_lines, every_eval_ever.files, lm_eval.files):
        list(export(exported(run, organization="o", relationship="other", source="", datasets={})))


def benchmark(name, pairs=4, protocols=frozenset()):
    def read(folder, _):
        options = ReadOptions(
            folders=(folder,), seed=0, wanted=lambda _: True, pairs=pairs, missing_images="skip", protocols=protocols
        )
        shapes_of(name, (folder,))
        try:
            tasks = list(read_source(name, options))
        except DataError:  # a run leaves out the records that cannot be read
            tasks = readable_tasks(name, options)
        digest(tasks)
        for task in tasks:
            count(task)

    return read


def written(name, content):
    def make(folder):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return file

    return make


def of_file(name, content, read, cost=1):
    return Reader(written(name, content), lambda _, file: read(file), cost)


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def vl_checklist(which):
    def make(folder):
        written(f"vl-checklist/{COLOURS}", FILES["ITEMS"])(folder)
        written(f"vl-checklist/{YAML}", COLOUR_YAML)(folder)
        return folder / "vl-checklist" / which

    return make


def winoground(which):
    def make(folder):
        rows, place = [releases.winoground_line(number) for number in range(4)], folder / "winoground/data"
        if which == "parquet":
            return releases.write(place / "test-00000-of-00001.parquet", releases.with_images(rows))
        releases.winoground_zip(place, 0, 1)
        return {
            "zip": place / "images.zip",
            "lines": releases.write(place / "examples.jsonl", rows),
            "tags": releases.write(folder / TAGS[0], {str(number): ["NonCompositional"] for number in range(4)}),
        }[which]

    return make


def vg_release(which):
    def make(folder):
        (folder / "vg").mkdir()
        things = [{**file, "object_id": n} for n, file in enumerate(FILES["VG"]["objects"], 1)]
        described = [{"object_id": 1, "names": ["cup"], "attributes": ["red"], "x": 1, "y": 1, "w": 9, "h": 9}]
        contents = {
            "objects": [{"image_id": 5, "image_url": "u", "objects": things}],
            "attributes": [{"image_id": 5, "attributes": described}],
            "relationships": [{"image_id": 5, "relationships": FILES["VG"]["relationships"]}],
            "image_data": [{"image_id": 5, "width": 640, "height": 480}],
        }
        for name, content in contents.items():
            (folder / "vg" / f"{name}.json").write_text(json.dumps(content))
        return folder / "vg" / f"{which}.json"

    return make


def twins(folder):
    written("valse/plurals.json", FILES["VALSE"])(folder)
    return written("images/coco_to_vg_ids.json", {"1": [2]})(folder)


def image(ending):
    def make(folder):
        written("cases.jsonl", lines([{**EVERY[0], "image": f"a.{ending}"}]))(folder)
        bytes_io = io.BytesIO()
        Image.new("RGB", (40, 30), (9, 99, 200)).save(bytes_io, "JPEG" if ending == "jpg" else ending.upper())
        return written(f"a.{ending}", bytes_io.getvalue())(folder)

    return make


URI = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7"
    "ljmRAAAAEElEQVR4nGP8z4AATAy4OAAmdgEF5PO41QAAAABJRU5ErkJggg=="
)


def decode(folder, _):
    options = ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True)
    for task in read_source("own", options):
        for request in task.cases[0].requests:
            request.image.load()


def parquet(rows):
    stream = io.BytesIO()
    pq.write_table(rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def released(name, content, **how):
    return Reader(written(name, content), benchmark(name.partition("/")[0], **how))


def features(form):
    def make(folder):
        made = forms.MADE[form](folder)
        return made / "data.mdb" if form == "lmdb" else made

    return make


def read_features(_, file):
    path = file.parent if file.name == "data.mdb" else file
    source = feature_file(path, width=None, count=None)
    for key in list(source._records.keys())[:8]:
        try:
            source._records.read(key)
        except DataError:
            continue


def graphs(_, file):
    list(read_graphs(file, faults="leave out", left_out=Counter()))
    list(graph_faults(file))
    list(read_graphs(file))


def inputs(folder, file):
    """Read a file as ``vlgate make --from`` does, with the files that go with it."""
    others = (folder / name for name in ("swig.json", "space.json", "hake.json", "list.txt"))
    files = [file, *(other for other in others if other.exists() and other != file)]
    takes = ("captions", "answers", "dialogs", "frames", "interactions", "graphs")
    for input_ in read_inputs(files, takes, faults="leave out").inputs:
        assert input_.origin or input_.id


def swig(which):
    def make(folder):
        for name, content in (("swig", FILES["SWIG"]), ("space", FILES["SPACE"])):
            written(f"{name}.json", content)(folder)
        return folder / f"{which}.json"

    return make


def hake(which, content):
    def make(folder):
        written("hake.json", content)(folder)
        written("list.txt", HICO.encode())(folder)
        return folder / which

    return make


def asked():
    """The items of a form, whose images are not there."""
    with TemporaryDirectory() as folder:
        written("cases.jsonl", lines([{**file, "task": "own/votes"} for file in FILES["PAIRS"]]))(Path(folder))
        options = ReadOptions(folders=(Path(folder),), seed=0, wanted=lambda _: True, missing_images="skip")
        return tuple(item for task in cases.read(options) for item in items_of(task, 0))


def votes(ending):
    def make(folder):
        answers = dict(zip((item.id for item in ASKED), ("first", "both", "neither"), strict=False))
        if ending == "json":
            content = {"vlgate_votes": 1, "form": form_of(ASKED), "annotator": "A", "votes": answers}
            return written("votes.json", content)(folder)
        rows = [f"{form_of(ASKED)},{item},{who},{answer}" for who in "AB" for item, answer in answers.items()]
        return written("votes.csv", "\n".join(["form,item,annotator,answer", *rows]).encode())(folder)

    return make


def real(place, name=""):
    """The beginning of a real file: its first records, if it is a list or an object."""

    def make(folder):
        value = json.loads((DATA / place).read_bytes())
        few = value[:3] if isinstance(value, list) else dict(list(value.items())[:4])
        return written(name or place, few)(folder)

    return make


PNG = releases.picture("red")["bytes"]
TESTED = parquet(releases.sugarcrepe_table([("a red cup", "a blue cup", "1.jpg"), ("a dog", "a cat", None)]))
DRAWN = {graph.id: as_gqa(graph) for graph in world_graphs(1, 12)}
THRESHOLDS = b"""schema = 1
[defaults]
confidence = 0.95
basis = "lower"
min_cases = 30
require = ["valse/*"]
[gate."valse/existence".acc_r]
min = 0.6
why = "must see"
[gate."scenes/*".acc_r]
max = 0.9
[checks]
determinism = { allow = true, why = "samples" }
"""
PAIRS = {"valse/existence": "pair", "scenes/foil-it": "pair"}
CHOICE = "action_choice_symmetric_test.json"
ACTIVE = "active_passive_captions.json"
YAML = "corpus/v1/Attribute/color/vg.yaml"
COLOURS = "data/Attribute/vg/color.json"
COLOUR_YAML = f'ANNO_PATH: "{COLOURS}"\nIMG_ROOT: "vg"\nTYPE: "TUPLE_JSON"'.encode()
HICO = "153  motorcycle      race\n154  motorcycle      no_interaction\n"
ASKED = asked()
READERS = {
    "own cases": Reader(written("cases.jsonl", lines(EVERY)), benchmark("own")),
    "own cases as a list": Reader(written("cases.json", [EVERY[0], EVERY[3]]), benchmark("own")),
    "own cases by id": Reader(written("cases/a.json", {"a": EVERY[1], "b": EVERY[5]}), benchmark("own")),
    "own cases as csv": Reader(written("cases.csv", cells(EVERY, ",").encode()), benchmark("own")),
    "own cases as tsv": Reader(written("cases/a.tsv", cells(EVERY, "\t").encode()), benchmark("own")),
    "valse": released("valse/existence.json", FILES["VALSE"]),
    "bla": released(f"bla/annotations/{ACTIVE}", FILES["BLA"]),
    "bla keyed": released(f"bla/annotations/{ACTIVE}", {"2368232": list(FILES["SET"].values())}),
    "sugarcrepe": released("sugarcrepe/data/replace_att.json", {"0": FILES["SUGAR"]}),
    "foil-it": released("foil-it/foilv1.0_test_2017.json", FILES["FOIL_IT"]),
    "carets": released("carets/data/questions/object_verification_template_test.json", FILES["CARETS"]),
    "carets choices": released(
        f"carets/data/questions/{CHOICE}", FILES["CHOICES"], protocols=frozenset({"carets_release"})
    ),
    "vl-checklist yaml": Reader(vl_checklist(YAML), benchmark("vl-checklist")),
    "vl-checklist items": Reader(vl_checklist(COLOURS), benchmark("vl-checklist")),
    "winoground lines": Reader(winoground("lines"), benchmark("winoground")),
    "winoground parquet": Reader(winoground("parquet"), benchmark("winoground")),
    "winoground bytes": released(
        "winoground/a.parquet", parquet([FILES["PAIRED"] | {"image_0": PNG, "image_1": PNG}])
    ),
    "pope parquet": released("pope/test.parquet", parquet([releases.hub_pope(n) for n in range(3)])),
    "sugarcrepe parquet": released("sugarcrepe/swap_obj.parquet", TESTED),
    "naturalbench rows": released("naturalbench/test.parquet", parquet(releases.naturalbench_rows(0))),
    "mmvp parquet": released("mmvp/test.parquet", parquet([releases.hub_mmvp(n) for n in (1, 2)])),
    "winoground zip": Reader(winoground("zip"), benchmark("winoground")),
    "winoground tags": Reader(winoground("tags"), benchmark("winoground")),
    "coco twins": Reader(twins, benchmark("valse")),
    "graphs gqa": Reader(written("g.json", FILES["GQA"]), graphs),
    "graphs vg": Reader(written("g.json", [FILES["VG"]]), graphs),
    "graphs own": Reader(written("g.jsonl", lines([FILES["OWN"], {**FILES["OWN"], "image": "2.jpg"}])), graphs),
    **{
        f"vg release {name}": Reader(vg_release(name), lambda folder, _: graphs(folder, folder / "vg/objects.json"))
        for name in ("objects", "attributes", "relationships", "image_data")
    },
    "generated tasks": Reader(written("scene-graphs/g.json", DRAWN), benchmark("scene-graphs"), cost=8),
    "words": of_file(
        "g.jsonl", lines([FILES["WORDS"], FILES["OWN"]]), lambda file: (read_words(file), vocabulary_of([file])), cost=4
    ),
    "questions": of_file("q.jsonl", lines([{"id": "1", "image": "a", "question": "Is?", "answer": "yes"}]), images_in),
    "questions gqa": of_file("q.json", {"1": {"imageId": "5", "question": "Is it?", "answer": "yes"}}, images_in),
    "replay lines": of_file("r.jsonl", lines(FILES["REPLIES"] + FILES["SAID"]), read_rows),
    "replay parquet": of_file("r.parquet", parquet(FILES["REPLIES"]), read_rows),
    **{
        f"run {name}": Reader(run_file(name), read_whole_run, cost=8)
        for name in ("metrics.json", "environment.json", "verdict.json", "controls.json", "cases.parquet")
    },
    "reply rows": Reader(written("rows.json", FILES["ROWS"]), read_reply_rows),
    "must hold": of_file(
        "held.jsonl", lines([{"task": "valse/existence", "case": str(n)} for n in range(4)]), read_must_hold
    ),
    "disputes": of_file(
        "d.jsonl", lines([{"task": "own/a", "case": "1", "claim": "swapped", "evidence": "seen"}]),
        lambda file: read_disputes([file]),
    ),
    "every error of thresholds": of_file("t.toml", THRESHOLDS, lambda file: thresholds_errors(file, PAIRS)),
    "thresholds": of_file("t.toml", THRESHOLDS, lambda file: read_thresholds(file, PAIRS)),
    "answers": of_file("a.json", ["yes", "no", "2"], read_answers),
    "answers text": of_file("a.txt", b"yes\nno\n2\n", read_answers),
    "detector yaml": of_file("config.yaml", config_yaml().encode(), read_config),
    "volta json": of_file("v.json", published("vilbert"), lambda file: parse(read_json(file), str(file))),
    "captions coco": Reader(written("c.json", FILES["COCO"]), inputs),
    "captions lines": Reader(written("c.jsonl", lines(FILES["CAPTIONS"])), inputs),
    "answered visual7w": Reader(written("a.json", FILES["VISUAL7W"]), inputs),
    "answered lines": Reader(written("a.jsonl", lines(FILES["ANSWERS"])), inputs),
    "dialogs visdial": Reader(written("d.json", FILES["VISDIAL"]), inputs),
    "dialogs lines": Reader(written("d.jsonl", lines(FILES["DIALOGS"])), inputs),
    "frames swig": Reader(swig("swig"), inputs),
    "frames space": Reader(swig("space"), inputs),
    "interactions hake": Reader(hake("hake.json", FILES["HAKE"]), inputs),
    "interactions images": Reader(hake("hake.json", FILES["HAKE_IMAGES"]), inputs),
    "interactions list": Reader(hake("list.txt", FILES["HAKE"]), inputs),
    "frames lines": Reader(written("f.jsonl", lines(FILES["ROLES"])), inputs),
    "votes form": Reader(votes("json"), lambda _, file: read_votes([file], ASKED)),
    "votes csv": Reader(votes("csv"), lambda _, file: read_votes([file], ASKED)),
    "features tsv": Reader(features("tsv"), read_features, cost=2),
    "features npz": Reader(features("npz"), read_features),
    "features safetensors": Reader(features("safetensors"), read_features),
    "features lmdb": Reader(features("lmdb"), read_features, cost=25),
    "image in a text": Reader(written("cases.jsonl", lines([{**EVERY[0], "image": URI}])), decode, cost=2),
    **{f"image {ending}": Reader(image(ending), decode, cost=2) for ending in ("png", "jpg", "gif", "bmp", "webp")},
}  # fmt: skip
if DATA.is_dir():
    READERS |= {
        "real valse": Reader(real("valse/data/actant-swap.json", "valse/actant-swap.json"), benchmark("valse")),
        "real bla": Reader(real(f"bla/annotations/{ACTIVE}"), benchmark("bla")),
        "real carets": Reader(real(f"carets/data/questions/{CHOICE}"), benchmark("carets")),
        "real graphs": Reader(real("scene-graphs/vg_scene_graphs_100.json", "g.json"), graphs, cost=3),
    }
