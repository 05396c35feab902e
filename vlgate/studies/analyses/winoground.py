"""The analyses of Winoground (Thrush et al. 2022, §5.2, §6): tags, perplexity, caption length, pretraining size."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from vlgate.errors import OptionError
from vlgate.metrics.clusters import numbered
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import beside, figures
from vlgate.studies.analyses.resampling import Correlation, correlate, correlated, share
from vlgate.studies.analyses.runs import Run, chosen, chosen_of, pattern_of, perplexities
from vlgate.studies.analyses.tables import Analysis, Row, Table, measured

# How much a model was pretrained on, and how that goes with its figures on Winoground (Thrush et al. 2022, §6.3).

SCORES = ("text", "image", "group")
OUTLIER = "CLIP (ViT-B/32)"
"""The model that Table 7 leaves out, because it saw a hundred times as much as the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Millions of images and of captions that a model was pretrained on."""

    images: float
    captions: float


def sizes() -> dict[str, Size]:
    """Return the sizes that the paper prints, by the paper's names of the models (Table 2).

    >>> sizes()["VinVL"]
    Size(images=1.89, captions=4.87)
    """
    text = (resources.files("vlgate.studies.analyses") / "pretraining.toml").read_text(encoding="utf-8")
    return {name: Size(**size) for name, size in tomllib.loads(text)["winoground"].items()}


def given_sizes(texts: Sequence[str]) -> dict[str, Size]:
    """Read sizes as a user gives them, ``NAME=IMAGES,CAPTIONS`` in millions.

    >>> given_sizes(["lxmert=0.18,9.18"])
    {'lxmert': Size(images=0.18, captions=9.18)}
    """
    found: dict[str, Size] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            images, captions = (float(number) for number in numbers.split(","))
        except ValueError:
            images = captions = -1.0
        if not name or not (0 < images < float("inf") and 0 < captions < float("inf")):
            raise OptionError(f"--pretraining {text!r}: expected NAME=IMAGES,CAPTIONS in millions, as lxmert=0.18,9.18")
        found[name] = Size(images=images, captions=captions)
    return found


def published_scores() -> dict[str, dict[str, float]]:
    """Return the text, image and group scores of the models that the paper prints a size of (Table 3)."""
    found: dict[str, dict[str, float]] = {name: {} for name in sizes() if name != OUTLIER}
    for figure in figures("winoground"):
        if figure.table == "3" and figure.model in found:
            found[figure.model][figure.metric] = figure.value
    return found


def size_table(scores: Mapping[str, Mapping[str, float]], known: Mapping[str, Size], title: str, about: str) -> Table:
    """Correlate the sizes of models with their scores."""
    names = [name for name in scores if name in known]
    rows: list[Row] = []
    for modality in ("images", "captions"):
        x = np.array([getattr(known[name], modality) for name in names])
        for metric in SCORES:
            found = correlate(x, np.array([scores[name][metric] for name in names]))
            rows.append(correlated((modality, metric), found))
    return Table(
        title=title, about=about, labels=("pretraining", "score"), value="correlation", rows=tuple(rows), more=("p",)
    )


# The analyses of Winoground (Thrush et al. 2022, §5.2, §6): tags, perplexity, caption length, pretraining size.

HEADLINE = "group"
_P = ("p", "images")
_SOURCE = "Thrush et al. 2022"


def analyse(
    runs: Sequence[Run], reader: Run | None = None, given: Mapping[str, Size] | None = None, tasks: str | None = None
) -> Analysis:
    """Analyse the quads of some runs.

    - ``tasks``: a pattern of task ids; None for those of Winoground, or all quads if no run has these.
    """
    pattern = pattern_of(runs, "winoground", HEADLINE, tasks)
    notes: list[str] = []
    tables = [_by_tag(runs, pattern), _length(runs, pattern)]
    if reader is None:
        notes.append("perplexity: left out; name the run of a language model with --perplexity RUN, such as of gpt2")
    else:
        tables.insert(1, _perplexity(runs, pattern, perplexities(reader)))
    tables += _pretraining(runs, pattern, given or {})
    if lacking := [run.name for run in runs if run.name not in (given or {})]:
        notes.append(
            f"pretraining size: not known of {', '.join(lacking)}; give it with --pretraining NAME=IMAGES,CAPTIONS"
        )
    return Analysis(
        name="winoground", tasks=pattern, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes)
    )


def captions(cases: CaseTable) -> tuple[tuple[str, str], ...]:
    """Return the two captions of each quad."""
    return tuple((texts[0], texts[1]) for texts in cases.texts)


def perplexity_correlation(cases: CaseTable, known: Mapping[str, float]) -> Correlation:
    """Correlate each score of an image and a caption with the caption's perplexity (Table 6, left).

    The four scores of a quad share captions, so the interval is that of a bootstrap of whole images.
    """
    n, k = cases.scores.shape
    found = np.array([[known.get(text, np.nan) for text in texts] for texts in cases.texts]).reshape(n, k)
    there = np.isfinite(found) & np.isfinite(cases.scores)
    codes = np.repeat(cases.groups.codes, k).reshape(n, k)
    return correlate(cases.scores[there], found[there], numbered(codes[there]))


def length_correlation(cases: CaseTable) -> Correlation:
    """Correlate the group score with the number of words of the captions, the mean of the two (Table 6, right)."""
    words = np.array([np.mean([len(text.split()) for text in both]) for both in captions(cases)])
    return correlate(words, cases.case_metrics[HEADLINE], cases.groups)


def _by_tag(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        for tag in sorted({f"{name}={value}" for tags in cases.tags for name, value in tags.items()}):
            name, _, value = tag.partition("=")
            kept = np.array([tags.get(name) == value for tags in cases.tags])
            for metric in SCORES:
                printed = (figure.value for figure in beside(task, metric, tag) if figure.model == "human")
                metrics = share(cases.case_metrics[metric], cases.groups, kept)
                rows += measured((run.name, task, tag, metric), metrics, {"people": next(printed, None)})
    return Table(
        title="By tag",
        about=f"share of the n examples with a tag ({_SOURCE}, Tables 4 and 5), and people's score if it is printed",
        labels=("model", "task", "tag", "score"),
        value="value",
        rows=tuple(rows),
        more=("people",),
    )


def _perplexity(runs: Sequence[Run], pattern: str, known: Mapping[str, float]) -> Table:
    about = f"correlation of the n scores of an image and a caption with the caption's perplexity ({_SOURCE}, Table 6)"
    rows = _correlations(runs, pattern, lambda cases: perplexity_correlation(cases, known))
    return Table(title="Perplexity", about=about, labels=("model", "task"), value="correlation", rows=rows, more=_P)


def _length(runs: Sequence[Run], pattern: str) -> Table:
    about = f"correlation of the group score of n examples with the number of words in a caption ({_SOURCE}, Table 6)"
    rows = _correlations(runs, pattern, length_correlation)
    return Table(title="Caption length", about=about, labels=("model", "task"), value="correlation", rows=rows, more=_P)


def _correlations(runs: Sequence[Run], pattern: str, of: Callable[[CaseTable], Correlation]) -> tuple[Row, ...]:
    return tuple(
        correlated((run.name, task), of(cases), {"images": len(cases.groups.sizes)})
        for run, task, cases in chosen_of(runs, pattern, HEADLINE)
    )


def _pretraining(runs: Sequence[Run], pattern: str, given: Mapping[str, Size]) -> list[Table]:
    about = f"correlation of millions of pretraining data with the scores of n models of {_SOURCE}, Tables 2, 3 and 7"
    paper = published_scores()
    tables = [size_table(paper, sizes(), "Pretraining size: the paper's models", f"{about}, without CLIP")]
    for task in dict.fromkeys(task for run in runs for task in chosen(run, pattern, HEADLINE)):
        known = {run.name: _values(run, task) for run in runs if run.name in given and task in run.tasks}
        if not known:
            continue
        if task == "winoground/all":
            both = {**paper, **known}
            title = "Pretraining size: the paper's models and the runs"
            tables.append(size_table(both, {**sizes(), **given}, title, f"{about}, without CLIP, and of the runs"))
        about_runs = "correlation of millions of pretraining data with the scores of n runs"
        tables.append(size_table(known, given, f"Pretraining size: the runs on {task}", about_runs))
    return tables


def _values(run: Run, task: str) -> dict[str, float]:
    return {metric: float(run.tasks[task].case_metrics[metric].mean()) for metric in SCORES}
