"""The analyses of VALSE (Parcalabescu et al. 2022, §5.3, App. B, D): text alone, ranking and classifying, priors."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses.runs import Named, Run, Study, perplexities, studied
from vlgate.studies.analyses.tables import Analysis, Row, correlate, correlated, gap, measured, share, table
from vlgate.types import FloatArray

HEADLINE = "acc_r"
_READERS = ("GPT1", "GPT2")


def analyse(runs: Sequence[Run], reader: Run | None = None, tasks: str | None = None) -> Analysis:
    study = studied(runs, "valse", HEADLINE, tasks)
    pairs = study.named()
    notes: list[str] = []
    tables = [
        table("valse-classifying", _changes(pairs, ("acc", HEADLINE))),
        table("valse-precisions", _changes(pairs, ("p_f", "p_c"))),
        study.blind((HEADLINE,)),
    ]
    if reader is None:
        missing = "the comparison with a language model and its priors: left out"
        notes.append(f"{missing}; name the run of a language model with --perplexity RUN, such as of gpt2")
    else:
        known = perplexities(reader)
        tables.append(study.beside(reader, "Parcalabescu et al. 2022, Tables 2 and 4"))
        tables.append(table("valse-priors", _priors(pairs, known)))
        tables.append(table("valse-margins", _margins(pairs, known)))
    tables.append(table("valse-instruments", _instruments(study, reader)))
    if len(runs) > 1:
        tables.append(study.agreement())
    else:
        notes.append("agreement between models: left out; name two or more runs")
    return study.analysis(tables, notes)


def prior(cases: CaseTable, known: Mapping[str, float]) -> FloatArray:
    """Return the logarithm of the ratio of the perplexities of foil and caption, shape (n,); NaN if one has none."""
    pairs = [[known.get(text, np.nan) for text in texts] for texts in cases.texts]
    logs = np.log(np.array(pairs, dtype=np.float64).reshape(-1, 2))
    return np.asarray(logs[:, 1] - logs[:, 0])


def _changes(pairs: Named, names: tuple[str, str]) -> Iterator[Row]:
    for model, task, cases in pairs:
        if not all(name in cases.case_metrics for name in names):
            continue
        first, second = (cases.case_metrics[name] for name in names)
        places = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
        if places.size:
            change = difference(first[places], second[places], cases.groups.take(places))
            more = {name: float(cases.case_metrics[name][places].mean()) for name in names[::-1]}
            yield from measured((model, task), change, more)


def _priors(pairs: Named, known: Mapping[str, float]) -> Iterator[Row]:
    for model, task, cases in pairs:
        preferred, right = prior(cases, known), cases.case_metrics[HEADLINE]
        which = (preferred > 0, preferred < 0, preferred == 0)
        helped, misled, neither = (share(right, cases.groups, kept) for kept in which)
        yield from measured((model, task, "for the caption"), helped)
        yield from measured((model, task, "for the foil"), misled)
        yield from measured((model, task, "for neither"), neither)
        if helped is not None and misled is not None:
            value, low, high = gap(helped, misled)
            yield Row(labels=(model, task, "difference"), value=value, low=low, high=high, n=helped.n + misled.n)


def _margins(pairs: Named, known: Mapping[str, float]) -> Iterator[Row]:
    for model, task, cases in pairs:
        preferred = prior(cases, known)
        margin = cases.scores[:, 0] - cases.scores[:, 1]
        there = np.isfinite(preferred) & np.isfinite(margin)
        groups = numbered(cases.groups.codes[there])
        yield correlated((model, task), correlate(margin[there], preferred[there], groups))


def _instruments(study: Study, reader: Run | None) -> Iterator[Row]:
    printed: dict[str, dict[str, float]] = {}
    for figure in figures("valse"):
        instrument = figure.target not in {None, "valse/*"} and figure.model != "chance"
        if instrument and (figure.table, figure.metric) == ("4", HEADLINE):
            printed.setdefault(figure.model, {})[str(figure.target)] = figure.value
    names = [(name, other) for other in _READERS for name in printed if name not in _READERS]
    compared = [(f"{name} (printed)", f"{other} (printed)", printed[name], printed[other]) for name, other in names]
    if reader is not None:
        texts = _values(study, reader)
        compared += [(run.name, reader.name, _values(study, run), texts) for run in study.runs]
    for name, other, values, texts in compared:
        both = [task for task in values if task in texts]
        x, y = (np.array([of_model[task] for task in both]) for of_model in (values, texts))
        yield correlated((name, other), correlate(x, y))


def _values(study: Study, run: Run) -> dict[str, float]:
    return {task: float(cases.case_metrics[HEADLINE].mean()) for task, cases in study.of(run).items()}
