"""The figures that the papers of the benchmarks print, to compare with those of a run.

There is one TOML file per paper. A table of the paper, of its release or of a report on it is a ``[[table]]``, and it
may have the number of its ``cases``. Each of its ``rows`` begins with the values of ``labels``, followed by one number
per column of ``columns``, as printed, or ``"-"`` if nothing is printed. The table, its columns and its rows say what a
figure is (``model``, ``target``, ``slice``, ``metric``, ``unit``); a row overrides its column, and a column overrides
the table. ``marks``, of a table or of the file, add to the figures that match their ``where``: a note (``why``), or a
correction of the ``printed`` number (``corrected``). If the heading of a column is wrong, ``headed`` holds what the
heading says, and the column's own values are right.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

from vlgate.errors import UnknownNameError

# The papers, by the names of their files.
PAPERS = tuple(
    "aro bivlc bla carets cola colorswap mmvp naturalbench pope valse vismin vl_checklist vsr whatsup "
    "winoground".split()
)

_FACETS = ("table", "column", "model", "target", "slice", "metric", "unit", "cases")
_SCALE: Mapping[str, int] = {"percent": 100, "fraction": 1, "count": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    paper: str  # one of ``PAPERS``
    table: str  # the number of the paper's table ("4"), or what else has the figure: a section, README, an issue
    column: str  # its heading, as printed
    model: str  # its name in the paper, or human, chance or, for counts, data
    # A task, a pattern of tasks ("valse/*") for a mean over several, None if vlgate has no such task.
    target: str | None
    slice: str | None  # of the target, such as "collapsed_tag=Object"; None for the whole target
    metric: str  # vlgate's name, or the paper's if vlgate does not have the metric
    unit: str  # percent, fraction or count
    printed: Decimal  # with its trailing zeros
    value: float  # the right number, as a fraction unless it is a count
    note: str  # such as why ``value`` is not the printed number; may be empty
    cases: int | None = None  # None if the file does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    name: str
    citation: str
    url: str


def figures(paper: str | None = None) -> tuple[Figure, ...]:
    return _read(paper)[1] if paper else tuple(figure for name in PAPERS for figure in figures(name))


def source(paper: str) -> Paper:
    return _read(paper)[0]


@cache
def beside(target: str, metric: str, part: str | None = None) -> tuple[Figure, ...]:
    """Return a metric's published figures, of models, people and chance; one in several tables with the most digits."""
    paper = target.partition("/")[0].replace("-", "_")  # a paper's figures are of the benchmark that has its name
    best: dict[str, Figure] = {}
    for figure in figures(paper) if paper in PAPERS else ():
        if (figure.target, figure.metric, figure.slice) == (target, metric, part) and figure.unit != "count":
            known = best.setdefault(figure.model, figure)
            if int(known.printed.as_tuple().exponent) > int(figure.printed.as_tuple().exponent):
                best[figure.model] = figure
    return tuple(best.values())


# The files are ours: tests, not the reader, hold that their keys are known and that each mark matches its figures.
@cache
def _read(paper: str) -> tuple[Paper, tuple[Figure, ...]]:
    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    text = resources.files("vlgate.sources.published").joinpath(f"{paper}.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text, parse_float=Decimal)
    every: list[Figure] = []
    for table in content["table"]:
        notes, labels = (content.get("note"), table.get("note")), table["labels"]
        own = []
        for row in table["rows"]:
            for column, printed in zip(table["columns"], row[len(labels) :], strict=True):
                facets = {**table, "note": "", **column, **dict(zip(labels, row, strict=False)), "table": table["id"]}
                if printed == "-":
                    continue
                number, note = Decimal(printed), _joined(*notes, facets["note"])
                value = float(number / _SCALE[facets["unit"]])
                known: dict[str, Any] = {name: facets.get(name) for name in _FACETS}
                own.append(Figure(paper=paper, printed=number, value=value, note=note, **known))
        every += _marked(own, table.get("marks", ()))
    origin = Paper(name=content["name"], citation=content["citation"], url=content["url"])
    return origin, tuple(_marked(every, content.get("marks", ())))


def _marked(figures: Sequence[Figure], marks: Iterable[Mapping[str, Any]]) -> list[Figure]:
    marked = list(figures)
    for mark in marks:
        for index, figure in enumerate(marked):
            if any(getattr(figure, key) != value for key, value in mark["where"].items()):
                continue
            note, value = _joined(figure.note, mark["why"]), figure.value
            if "corrected" in mark:
                note, value = f"printed {figure.printed}: {note}", float(mark["corrected"] / _SCALE[figure.unit])
            marked[index] = replace(figure, note=note, value=value)
    return marked


def _joined(*notes: str | None) -> str:
    return "; ".join(filter(None, notes))
