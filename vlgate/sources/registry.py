"""The sources of tasks, one line per benchmark; what each task measures; a note on files that no reader knows."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from itertools import chain, islice
from pathlib import Path

from vlgate.errors import DataError
from vlgate.sources.reading.records import noting
from vlgate.sources.reading.source import ReadOptions, Source
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import UNREADABLE, Shape, Task

FILE = Path(__file__).with_name("measures.toml")


def measures(task: str) -> str:
    known = sentences()
    return known.get(task) or next((sentence for key, sentence in known.items() if fnmatchcase(task, key)), "")


@cache
def sentences() -> Mapping[str, str]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


_DATA = frozenset((".parquet", ".arrow", ".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".zip", ".tar", ".gz"))
_STATE = frozenset(("dataset_info.json", "dataset_dict.json", "state.json"))  # beside the tables of save_to_disk
_LOOKED = 10_000  # the most files of a folder that are looked at; a folder of images has more


# Their records by name: a source is imported only when the shapes of its tasks are asked for.
SOURCES: Mapping[str, str] = {
    "carets": "vlgate.sources.benchmarks.carets:CARETS",
    "counterfactual": "vlgate.sources.scenes.scenes:COUNTERFACTUAL",
    "scenes": "vlgate.sources.scenes.scenes:SCENES",
    "valse": "vlgate.sources.benchmarks.valse:VALSE",
    "vl-checklist": "vlgate.sources.benchmarks.vl_checklist:VL_CHECKLIST",
    "winoground": "vlgate.sources.benchmarks.quads:WINOGROUND",
    "bla": "vlgate.sources.benchmarks.bla:BLA",
    "sugarcrepe": "vlgate.sources.benchmarks.captions:SUGARCREPE",
    "foil-it": "vlgate.sources.benchmarks.captions:FOIL_IT",
    "aro": "vlgate.sources.benchmarks.captions:ARO",
    "bivlc": "vlgate.sources.benchmarks.quads:BIVLC",
    "cola": "vlgate.sources.benchmarks.quads:COLA",
    "colorswap": "vlgate.sources.benchmarks.quads:COLORSWAP",
    "mmvp": "vlgate.sources.benchmarks.questions:MMVP",
    "naturalbench": "vlgate.sources.benchmarks.questions:NATURALBENCH",
    "pope": "vlgate.sources.benchmarks.questions:POPE",
    "sugarcrepe-pp": "vlgate.sources.benchmarks.captions:SUGARCREPE_PP",
    "vismin": "vlgate.sources.benchmarks.quads:VISMIN",
    "vsr": "vlgate.sources.benchmarks.captions:VSR",
    "whatsup": "vlgate.sources.benchmarks.captions:WHATSUP",
    "scene-graphs": "vlgate.sources.graphs.generated:SCENE_GRAPHS",
    "own": "vlgate.sources.own.cases:OWN",
}
# The ways to read a benchmark that are not the default, by the name that ``--protocol`` takes. Beside the sources,
# because each start of pytest lists them in its help, and none imports a source.
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
_OWN = "own"  # the user can correct these cases
_NAMED = 3  # the records that a task's note names


@cache
def _source(name: str) -> Source:
    module, _, record = SOURCES[name].partition(":")
    source: Source = getattr(import_module(module), record)
    return source


def shapes(folders: tuple[Path, ...] = ()) -> dict[str, Shape]:
    return {task: shape for name in SOURCES for task, shape in shapes_of(name, folders).items()}


def read_tasks(options: ReadOptions) -> list[Task]:
    # own cases are read even if none is wanted: what was kept of them since their tasks were listed is forgotten
    wanted = [name for name in SOURCES if name == _OWN or any(map(options.wanted, shapes_of(name, options.folders)))]
    tasks = [task for name in wanted for task in readable_tasks(name, options)]
    return sorted(tasks, key=lambda task: task.id)


@collector_paused()
def readable_tasks(name: str, options: ReadOptions, *, even_few: bool = False) -> list[Task]:
    """Make a source's wanted tasks from all readable records; with ``even_few``, more may be lost than are left."""
    if name == _OWN:
        return list(read_source(name, options))
    with noting() as errors:
        tasks = list(read_source(name, options))
    if not errors:
        return tasks or _none(name, options)
    tasks = []
    lost: dict[str, DataError] = {}
    counted: set[str] = set()
    for task in filter(options.wanted, shapes_of(name, options.folders)):  # a record is lost to the tasks of its file
        with noting() as errors:
            alone = list(read_source(name, replace(options, wanted={task}.__contains__)))
        lost |= {str(error): error for error in errors}
        for made in alone:
            if len(errors) > len(made.cases) and not even_few:
                raise _another_form(errors, len(made.cases))
            tasks.append(_lacking(made, errors) if errors else made)
            counted |= set(map(str, errors))
    if not even_few and (nowhere := [error for message, error in lost.items() if message not in counted]):
        raise _another_form(nowhere, 0)
    return tasks


def is_made_set(folder: Path) -> bool:
    return (folder / "bias.json").is_file()  # of ``vlgate make``, whose kinds may have the name of a benchmark


def _none(name: str, options: ReadOptions) -> list[Task]:
    take = _source(name).take
    places = [folder / name for folder in options.folders if take and not is_made_set(folder / name)]
    files = [
        file
        for file in chain.from_iterable(sorted(islice(place.rglob("*"), _LOOKED)) for place in places)
        if file.suffix.lower() in _DATA and file.name not in _STATE and file.is_file()
    ]
    known = shapes_of(name, options.folders)
    first = next(filter(options.wanted, known), None)
    if first is None or not files:
        return []
    more = f" (and {len(files) - 1:,} more files)" if len(files) > 1 else ""
    note = f"{files[0]}{more} has another name, place or form than the files that are read; take {take}"
    try:
        others = replace(options, wanted=lambda task: not options.wanted(task))
        alone = next(iter(read_source(name, others)), None) is None
    except DataError:
        alone = False
    return [Task(id=first, capability="foil", shape=known[first], cases=(), note=note)] if alone else []


def _another_form(errors: Sequence[DataError], cases: int) -> DataError:
    first = errors[0]
    if len(errors) == 1:
        return first
    problem = f"{len(errors):,} of {len(errors) + cases:,} records cannot be read; the first is {first.record}: "
    return DataError(first.file, None, problem + first.expected, first.remedy)


def _lacking(task: Task, errors: Sequence[DataError]) -> Task:
    some = "; ".join(f"{error.record}: {error.expected}" for error in errors[:_NAMED])
    more = f", and {len(errors) - _NAMED:,} more, which vlgate check lists" if len(errors) > _NAMED else ""
    note = f"{len(errors):,} of its records cannot be read ({some}{more})"
    left_out = {**task.left_out, UNREADABLE: len(errors)}
    return replace(task, left_out=left_out, note="; ".join(filter(None, (task.note, note))))


def read_source(name: str, options: ReadOptions) -> Iterable[Task]:
    return _source(name).read(options)


def shapes_of(name: str, folders: tuple[Path, ...]) -> Mapping[str, Shape]:
    shapes = _source(name).shapes
    return shapes(folders) if callable(shapes) else shapes
