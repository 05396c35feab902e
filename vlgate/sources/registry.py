"""The sources of tasks, one line per benchmark; what each task measures; a note on files that no reader knows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from vlgate.errors import DataError
from vlgate.sources.reading.records import noting
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import UNREADABLE, Shape, Task

# Read ``measures.toml``: what each task measures, in a sentence.

FILE = Path(__file__).with_name("measures.toml")


def measures(task: str) -> str:
    """Return the sentence that says what a task measures; empty for a user's own task.

    >>> measures("valse/actant-swap")
    'Who acts on whom in the image?'
    """
    found = sentences()
    return found.get(task) or next((said for key, said in found.items() if fnmatchcase(task, key)), "")


@cache
def sentences() -> Mapping[str, str]:
    """Return all sentences by task id or pattern, in the order of the file."""
    return MappingProxyType(tomllib.loads(FILE.read_text(encoding="utf-8")))


# What to take for a benchmark whose folder holds files that no reader knows.

TAKE: Mapping[str, str] = MappingProxyType(
    {
        "valse": "data/*.json of https://github.com/Heidelberg-NLP/VALSE",
        "carets": "data/questions/*_test.json of https://github.com/princeton-nlp/CARETS",
        "vl-checklist": "the folders corpus/v1 and data of https://github.com/om-ai-lab/VL-CheckList",
        "winoground": "data/examples.jsonl with images.zip, or the Parquet files, of facebook/winoground",
        "bla": "annotations/*_captions.json of https://github.com/shin-ee-chen/BLA",
        "sugarcrepe": (
            "data/<kind>.json of https://github.com/RAIVNLab/sugar-crepe, or the Parquet files of "
            "HuggingFaceM4/SugarCrepe_<kind> in a folder with the kind in its name, such as "
            "sugarcrepe/SugarCrepe_swap_obj/data"
        ),
        "foil-it": "foilv1.0_test_2017.json or foilv1.0_train_2017.json of https://foilunitn.github.io",
        "aro": (
            "visual_genome_relation.json and visual_genome_attribution.json of "
            "https://github.com/mertyg/vision-language-models-are-bows"
        ),
        "bivlc": "the Parquet files of imirandam/BiVLC",
        "cola": "data/COLA_multiobjects_matching_benchmark.json of https://github.com/arijitray1993/COLA",
        "colorswap": (
            "data/test.json and data/train.json of https://github.com/Top34051/colorswap, or test*.parquet and "
            "train*.parquet of stanfordnlp/colorswap"
        ),
        "mmvp": "Questions.csv and the images of MMVP/MMVP, or the Parquet files of lmms-lab-eval/MMVP",
        "naturalbench": "the Parquet files of BaiqiL/NaturalBench or BaiqiL/NaturalBench-lmms-eval",
        "pope": (
            "output/coco/coco_pope_*.json of https://github.com/AoiDragon/POPE, or the Parquet files of lmms-lab/POPE"
        ),
        "sugarcrepe-pp": "data/<kind>.json of https://github.com/Sri-Harsha/scpp or of Aman-J/SugarCrepe_pp",
        "vismin": "the Parquet or Arrow files of mair-lab/vismin-bench",
        "vsr": (
            "data/splits/<split>/<part>.jsonl of https://github.com/cambridgeltl/visual-spatial-reasoning, or "
            "<part>.jsonl of cambridgeltl/vsr_<split> in vsr/vsr_<split>"
        ),
        "whatsup": "controlled_images_dataset.json and the other JSON files of whatsup_vlms",
    },
)
"""The files to take, by benchmark, whose folder in a data folder has the same name."""

_DATA = frozenset((".parquet", ".arrow", ".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".zip", ".tar", ".gz"))
_STATE = frozenset(("dataset_info.json", "dataset_dict.json", "state.json"))  # beside the tables of save_to_disk
_LOOKED = 10_000  # the most files of a folder that are looked at; a folder of images has more


def other_files(benchmark: str, folders: Sequence[Path]) -> str:
    """Say which file of a benchmark's folder was not read, and what to take in its place; empty if there is none.

    >>> other_files("pope", [Path("nowhere")])
    ''
    """
    files = [file for folder in folders for file in _data_files(folder / benchmark)] if benchmark in TAKE else []
    if not files:
        return ""
    more = f" (and {len(files) - 1:,} more files)" if len(files) > 1 else ""
    return f"{files[0]}{more} has another name, place or form than the files that are read; take {TAKE[benchmark]}"


def _data_files(folder: Path) -> Iterator[Path]:
    for file in sorted(islice(folder.rglob("*"), _LOOKED)):
        if file.suffix.lower() in _DATA and file.name not in _STATE and file.is_file():
            yield file


# The sources of tasks: one line per benchmark.

# Modules by name: a source is imported only when one of its tasks is wanted.
SOURCES: Mapping[str, str] = {
    "carets": "vlgate.sources.benchmarks.carets",
    "counterfactual": "vlgate.sources.scenes.counterfactual",
    "scenes": "vlgate.sources.scenes.scenes",
    "valse": "vlgate.sources.benchmarks.valse",
    "vl-checklist": "vlgate.sources.benchmarks.vl_checklist",
    "winoground": "vlgate.sources.benchmarks.winoground",
    "bla": "vlgate.sources.benchmarks.bla",
    "sugarcrepe": "vlgate.sources.benchmarks.sugarcrepe",
    "foil-it": "vlgate.sources.benchmarks.foil_it",
    "aro": "vlgate.sources.benchmarks.aro",
    "bivlc": "vlgate.sources.benchmarks.bivlc",
    "cola": "vlgate.sources.benchmarks.cola",
    "colorswap": "vlgate.sources.benchmarks.colorswap",
    "mmvp": "vlgate.sources.benchmarks.mmvp",
    "naturalbench": "vlgate.sources.benchmarks.naturalbench",
    "pope": "vlgate.sources.benchmarks.pope",
    "sugarcrepe-pp": "vlgate.sources.benchmarks.sugarcrepe_pp",
    "vismin": "vlgate.sources.benchmarks.vismin",
    "vsr": "vlgate.sources.benchmarks.vsr",
    "whatsup": "vlgate.sources.benchmarks.whatsup",
    "scene-graphs": "vlgate.sources.graphs.generated",
    "own": "vlgate.sources.own.cases",
}

PROTOCOLS: Mapping[str, str] = {
    "carets_default_yml": "CARETS: with the three files of choice questions that default.yml adds to ontological-inv",
    "bivlc_hub": "BiVLC: from the Hugging Face hub",
    "colorswap_hub": "ColorSwap: from the Hugging Face hub, with your own token",
    "naturalbench_hub": "NaturalBench: from the Hugging Face hub",
    "vismin_hub": "VisMin: from the Hugging Face hub, with your own token",
    "valse_all": "VALSE: all records, not only those that at least two of three annotators found valid",
    "winoground_hub": "Winoground: from the Hugging Face hub, with your own token",
    "vlchecklist_paper": "VL-CheckList: only the first 1,000 items of each file, and the first text of each item",
}
"""The ways to read a benchmark that are not the default, by the name that ``--protocol`` takes."""


_OWN = "own"  # the user can correct these cases
_NAMED = 3  # the records that a task's note names


class Source(Protocol):
    """A module that makes tasks: it has ``read``, and in ``SHAPES`` the shape of each task by id.

    If the task ids are in the user's files, the module has a function ``shapes(folders)`` instead of ``SHAPES``.
    """

    SHAPES: Mapping[str, Shape]

    def read(self, options: ReadOptions) -> Iterable[Task]:
        """Make the tasks of this source that are wanted and whose data are in the folders."""


def shapes(folders: tuple[Path, ...] = ()) -> dict[str, Shape]:
    """Return the shape of every task that a source can make, by id, with the user's own tasks in these data folders."""
    return {task: shape for name in SOURCES for task, shape in shapes_of(name, folders).items()}


def read_tasks(options: ReadOptions) -> list[Task]:
    """Return all wanted tasks whose data are in the folders, in the order of their ids."""
    wanted = [name for name in SOURCES if any(map(options.wanted, shapes_of(name, options.folders)))]
    tasks = [task for name in wanted for task in readable_tasks(name, options)]
    return sorted(tasks, key=lambda task: task.id)


def readable_tasks(name: str, options: ReadOptions, *, even_few: bool = False) -> list[Task]:
    """Make the wanted tasks of one source from all records that can be read.

    Args:
        name: the source.
        options: what to read.
        even_few: whether a task may lose more records than it has cases.

    Returns: the tasks. ``left_out`` of a task counts the other records under ``UNREADABLE``, and its note names some.
    """
    if name == _OWN:
        return list(read_source(name, options))
    with noting() as errors:
        tasks = list(read_source(name, options))
    if not errors:
        return tasks or _none(name, options)
    found: list[Task] = []
    lost: dict[str, DataError] = {}
    counted: set[str] = set()
    for task in filter(options.wanted, shapes_of(name, options.folders)):  # a record is lost to the tasks of its file
        with noting() as errors:
            alone = list(read_source(name, replace(options, wanted={task}.__contains__)))
        lost |= {str(error): error for error in errors}
        for one in alone:
            if len(errors) > len(one.cases) and not even_few:
                raise _another_form(errors, len(one.cases))
            found.append(_lacking(one, errors) if errors else one)
            counted |= set(map(str, errors))
    if not even_few and (nowhere := [error for message, error in lost.items() if message not in counted]):
        raise _another_form(nowhere, 0)
    return found


def _none(name: str, options: ReadOptions) -> list[Task]:
    """A task without cases that says which files are not read, if a benchmark's folder holds nothing else."""
    note = other_files(name, options.folders)
    known = shapes_of(name, options.folders)
    first = next(filter(options.wanted, known), None)
    if first is None or not note or _has_others(name, options):
        return []
    return [Task(id=first, capability="foil", shape=known[first], cases=(), note=note)]


def _has_others(name: str, options: ReadOptions) -> bool:
    """Whether the folders hold a file of a task of the source that is not wanted."""
    try:
        others = replace(options, wanted=lambda task: not options.wanted(task))
        return next(iter(read_source(name, others)), None) is not None
    except DataError:
        return True


def _another_form(errors: Sequence[DataError], cases: int) -> DataError:
    first = errors[0]
    if len(errors) == 1:
        return first
    problem = f"{len(errors):,} of {len(errors) + cases:,} records cannot be read; the first is {first.record}: "
    return DataError(first.file, None, problem + first.expected, first.remedy)


def _lacking(task: Task, errors: Sequence[DataError]) -> Task:
    some = "; ".join(f"{one.record}: {one.expected}" for one in errors[:_NAMED])
    more = f", and {len(errors) - _NAMED:,} more, which vlgate check lists" if len(errors) > _NAMED else ""
    note = f"{len(errors):,} of its records cannot be read ({some}{more})"
    left_out = {**task.left_out, UNREADABLE: len(errors)}
    return replace(task, left_out=left_out, note="; ".join(filter(None, (task.note, note))))


def read_source(name: str, options: ReadOptions) -> Iterable[Task]:
    """Make the wanted tasks of one source; see ``Source.read``."""
    return _source(name).read(options)


def shapes_of(name: str, folders: tuple[Path, ...]) -> Mapping[str, Shape]:
    """Return the shape of each task of one source, by id."""
    module = _source(name)
    found: Mapping[str, Shape] = module.shapes(folders) if hasattr(module, "shapes") else module.SHAPES
    return found


def _source(name: str) -> Source:
    return cast("Source", import_module(SOURCES[name]))
