"""The analyses of VALSE (Parcalabescu et al. 2022, §5.3, App. B, D): text alone, ranking and classifying, priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses.between_models import agreement_table, blind_table, reader_table
from vlgate.studies.analyses.resampling import correlate, correlated, gap, share
from vlgate.studies.analyses.runs import Run, chosen, chosen_of, pattern_of, perplexities
from vlgate.studies.analyses.tables import Analysis, Row, Table, measured
from vlgate.types import FloatArray

HEADLINE = "acc_r"
_SOURCE = "Parcalabescu et al. 2022"
_READERS = ("GPT1", "GPT2")


def analyse(runs: Sequence[Run], reader: Run | None = None, tasks: str | None = None) -> Analysis:
    """Analyse the pairs of some runs.

    - ``tasks``: a pattern of task ids; None for those of VALSE, or all pairs if no run has these.
    """
    pattern = pattern_of(runs, "valse", HEADLINE, tasks)
    notes: list[str] = []
    tables = [
        _classifying(runs, pattern),
        _precisions(runs, pattern),
        blind_table(runs, pattern, HEADLINE, (HEADLINE,)),
    ]
    if reader is None:
        missing = "the comparison with a language model and its priors: left out"
        notes.append(f"{missing}; name the run of a language model with --perplexity RUN, such as of gpt2")
    else:
        known = perplexities(reader)
        tables.append(reader_table(runs, reader, pattern, HEADLINE, f"{_SOURCE}, Tables 2 and 4"))
        tables += [_priors(runs, pattern, known), _margins(runs, pattern, known)]
    tables.append(_instruments(runs, pattern, reader))
    if len(runs) > 1:
        tables.append(agreement_table(runs, pattern, HEADLINE))
    else:
        notes.append("agreement between models: left out; name two or more runs")
    return Analysis(
        name="valse", tasks=pattern, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes)
    )


def prior(cases: CaseTable, known: Mapping[str, float]) -> FloatArray:
    """Return by how much a language model prefers each caption to its foil: the logarithm of the perplexities' ratio.

    Returns: shape (n,): above 0 if the caption has the lower perplexity, NaN if one of the texts has none.
    """
    pairs = [[known.get(text, np.nan) for text in texts] for texts in cases.texts]
    found = np.log(np.array(pairs, dtype=np.float64).reshape(-1, 2))
    return np.asarray(found[:, 1] - found[:, 0])


def _classifying(runs: Sequence[Run], pattern: str) -> Table:
    about = f"ranking accuracy less the accuracy of a yes or no to each text, on n pairs ({_SOURCE}, App. B)"
    return _changes(runs, pattern, ("acc", HEADLINE), ("Ranking and classifying", about, "acc_r - acc"))


def _precisions(runs: Sequence[Run], pattern: str) -> Table:
    about = f"share of captions that are accepted less that of foils that are refused, on n pairs ({_SOURCE}, §5.3)"
    return _changes(runs, pattern, ("p_f", "p_c"), ("Captions and foils", about, "p_c - p_f"))


def _changes(runs: Sequence[Run], pattern: str, names: tuple[str, str], said: tuple[str, str, str]) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        if not all(name in cases.case_metrics for name in names):
            continue
        first, second = (cases.case_metrics[name] for name in names)
        places = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
        if places.size:
            change = difference(first[places], second[places], cases.groups.take(places))
            more = {name: float(cases.case_metrics[name][places].mean()) for name in names[::-1]}
            rows += measured((run.name, task), change, more)
    title, about, value = said
    return Table(title=title, about=about, labels=("model", "task"), value=value, rows=tuple(rows), more=names[::-1])


def _priors(runs: Sequence[Run], pattern: str, known: Mapping[str, float]) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        preferred, right = prior(cases, known), cases.case_metrics[HEADLINE]
        helped, misled = (share(right, cases.groups, kept) for kept in (preferred > 0, preferred < 0))
        rows += measured((run.name, task, "for the caption"), helped)
        rows += measured((run.name, task, "for the foil"), misled)
        rows += measured((run.name, task, "for neither"), share(right, cases.groups, preferred == 0))
        if helped is not None and misled is not None:
            value, low, high = gap(helped, misled)
            n = helped.n + misled.n
            rows.append(Row(labels=(run.name, task, "difference"), value=value, low=low, high=high, n=n))
    return Table(
        title="Linguistic priors",
        about="share of right pairs among the n in which the perplexity speaks for the caption, or for the foil; a "
        f"model that looks at the image resists the second ({_SOURCE}, §4.2, App. D)",
        labels=("model", "task", "the prior is"),
        value=HEADLINE,
        rows=tuple(rows),
    )


def _margins(runs: Sequence[Run], pattern: str, known: Mapping[str, float]) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        preferred = prior(cases, known)
        margin = cases.scores[:, 0] - cases.scores[:, 1]
        there = np.isfinite(preferred) & np.isfinite(margin)
        groups = numbered(cases.groups.codes[there])
        rows.append(correlated((run.name, task), correlate(margin[there], preferred[there], groups)))
    return Table(
        title="Scores and priors",
        about="correlation of the n differences of the scores of caption and foil with the logarithm of the ratio of "
        "their perplexities",
        labels=("model", "task"),
        value="correlation",
        rows=tuple(rows),
        more=("p",),
    )


def _instruments(runs: Sequence[Run], pattern: str, reader: Run | None) -> Table:
    """The correlation, over the instruments, of a model's ranking accuracy with that of a language model."""
    rows: list[Row] = []
    printed: dict[str, dict[str, float]] = {}
    for one in figures("valse"):
        if (
            one.table == "4"
            and one.metric == HEADLINE
            and one.target not in {None, "valse/*"}
            and one.model != "chance"
        ):
            printed.setdefault(one.model, {})[str(one.target)] = one.value
    for other in _READERS:
        models = [name for name in printed if name not in _READERS]
        rows += [_over(f"{name} (printed)", f"{other} (printed)", printed[name], printed[other]) for name in models]
    if reader is not None:
        texts = _values(reader, pattern)
        rows += [_over(run.name, reader.name, _values(run, pattern), texts) for run in runs]
    return Table(
        title="Over the instruments",
        about=f"correlation of {HEADLINE} with that of a language model over n instruments ({_SOURCE}, Table 4)",
        labels=("model", "language model"),
        value="correlation",
        rows=tuple(rows),
        more=("p",),
    )


def _over(name: str, other: str, values: Mapping[str, float], texts: Mapping[str, float]) -> Row:
    both = [task for task in values if task in texts]
    x, y = (np.array([one[task] for task in both]) for one in (values, texts))
    return correlated((name, other), correlate(x, y))


def _values(run: Run, pattern: str) -> dict[str, float]:
    return {task: float(cases.case_metrics[HEADLINE].mean()) for task, cases in chosen(run, pattern, HEADLINE).items()}
