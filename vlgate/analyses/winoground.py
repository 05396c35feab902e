"""The analyses of Winoground (Thrush et al. 2022, §5.2, §6): tags, perplexity, caption length, pretraining size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from vlgate.analyses.perplexity import perplexities
from vlgate.analyses.pretraining import SCORES, Size, published_scores, size_table, sizes
from vlgate.analyses.records import Analysis, Row, Table, measured
from vlgate.analyses.resampling import Correlation, correlate, correlated, share
from vlgate.analyses.runs import Cases, Run, chosen, pattern_of
from vlgate.metrics.clusters import numbered
from vlgate.published.figures import beside

HEADLINE = "group"
_P = ("p", "images")
_SOURCE = "Thrush et al. 2022"


def analyse(
    runs: Sequence[Run], reader: Run | None = None, given: Mapping[str, Size] | None = None, tasks: str | None = None
) -> Analysis:
    """Analyse the quads of some runs.

    Args:
        runs: the runs of models.
        reader: the run of a language model on the same tasks, whose replies are perplexities; None without one.
        given: the pretraining sizes of the models, by the names of the runs' models.
        tasks: a pattern of task ids; None for those of Winoground, or all quads if no run has these.

    Raises: OptionError if no run has quads, or the reader's replies are not perplexities.
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


def captions(cases: Cases) -> tuple[tuple[str, str], ...]:
    """Return the two captions of each quad."""
    return tuple((texts[0], texts[1]) for texts in cases.texts)


def perplexity_correlation(cases: Cases, known: Mapping[str, float]) -> Correlation:
    """Correlate each score of an image and a caption with the caption's perplexity (Table 6, left).

    The four scores of a quad share captions, so the interval is that of a bootstrap of whole images.
    """
    n, k = cases.scores.shape
    found = np.array([[known.get(text, np.nan) for text in texts] for texts in cases.texts]).reshape(n, k)
    there = np.isfinite(found) & np.isfinite(cases.scores)
    codes = np.repeat(cases.groups.codes, k).reshape(n, k)
    return correlate(cases.scores[there], found[there], numbered(codes[there]))


def length_correlation(cases: Cases) -> Correlation:
    """Correlate the group score with the number of words of the captions, the mean of the two (Table 6, right)."""
    words = np.array([np.mean([len(text.split()) for text in both]) for both in captions(cases)])
    return correlate(words, cases.facts[HEADLINE], cases.groups)


def _by_tag(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run in runs:
        for task, cases in chosen(run, pattern, HEADLINE).items():
            for tag in sorted({f"{name}={value}" for tags in cases.tags for name, value in tags.items()}):
                name, _, value = tag.partition("=")
                kept = np.array([tags.get(name) == value for tags in cases.tags])
                for metric in SCORES:
                    found = share(cases.facts[metric], cases.groups, kept)
                    people = next((one.value for one in beside(task, metric, tag) if one.model == "human"), None)
                    if found is not None:
                        rows.append(measured((run.name, task, tag, metric), found, {"people": people}))
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


def _correlations(runs: Sequence[Run], pattern: str, of: Callable[[Cases], Correlation]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for run in runs:
        for task, cases in chosen(run, pattern, HEADLINE).items():
            found, more = of(cases), {"images": len(cases.groups.sizes)}
            rows.append(correlated((run.name, task), found, more))
    return tuple(rows)


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
    return {metric: float(run.tasks[task].facts[metric].mean()) for metric in SCORES}
