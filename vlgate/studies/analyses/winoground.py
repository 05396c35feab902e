"""The analyses of Winoground (Thrush et al. 2022, §5.2, §6): tags, perplexity, caption length, pretraining size."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vlgate.errors import OptionError
from vlgate.metrics.clusters import numbered
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import beside, figures
from vlgate.studies.analyses.runs import Named, Run, perplexities, studied
from vlgate.studies.analyses.tables import Analysis, Correlation, Row, correlate, correlated, measured, share, table

SCORES = ("text", "image", "group")
OUTLIER = "CLIP (ViT-B/32)"  # the model that Table 7 leaves out, because it saw a hundred times as much as the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    images: float  # millions that a model was pretrained on
    captions: float


def sizes() -> dict[str, Size]:
    text = Path(__file__).with_name("pretraining.toml").read_text(encoding="utf-8")
    return {name: Size(**size) for name, size in tomllib.loads(text)["winoground"].items()}


def given_sizes(texts: Sequence[str]) -> dict[str, Size]:
    known: dict[str, Size] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            images, captions = (float(number) for number in numbers.split(","))
        except ValueError:
            images = captions = -1.0
        if not name or not (0 < images < float("inf") and 0 < captions < float("inf")):
            raise OptionError(f"--pretraining {text!r}: expected NAME=IMAGES,CAPTIONS in millions, as lxmert=0.18,9.18")
        known[name] = Size(images=images, captions=captions)
    return known


def published_scores() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {name: {} for name in sizes() if name != OUTLIER}
    for figure in figures("winoground"):
        if figure.table == "3" and figure.model in found:
            found[figure.model][figure.metric] = figure.value
    return found


HEADLINE = "group"
_PRINTED = "data with the scores of n models of Thrush et al. 2022, Tables 2, 3 and 7, without CLIP"


def analyse(
    runs: Sequence[Run], reader: Run | None = None, given: Mapping[str, Size] | None = None, tasks: str | None = None
) -> Analysis:
    study, known = studied(runs, "winoground", HEADLINE, tasks), given or {}
    quads = study.named()
    notes: list[str] = []
    tables = [table("winoground-tags", _by_tag(quads))]
    if reader is None:
        notes.append("perplexity: left out; name the run of a language model with --perplexity RUN, such as of gpt2")
    else:
        texts = perplexities(reader)
        rows = _correlations(quads, lambda cases: perplexity_correlation(cases, texts))
        tables.append(table("winoground-perplexity", rows))
    tables.append(table("winoground-length", _correlations(quads, length_correlation)))
    paper = published_scores()
    tables.append(table("winoground-sizes", _by_size(paper, sizes()), of="the paper's models", about=_PRINTED))
    for task in dict.fromkeys(task for _, task, _ in quads):
        there = [(run.name, run.tasks[task].case_metrics) for run in runs if run.name in known and task in run.tasks]
        means = {name: {metric: float(own[metric].mean()) for metric in SCORES} for name, own in there}
        if not means:
            continue
        if task == "winoground/all":
            rows = _by_size({**paper, **means}, {**sizes(), **known})
            both = f"{_PRINTED}, and of the runs"
            tables.append(table("winoground-sizes", rows, of="the paper's models and the runs", about=both))
        about = "data with the scores of n runs"
        tables.append(table("winoground-sizes", _by_size(means, known), of=f"the runs on {task}", about=about))
    if lacking := [run.name for run in runs if run.name not in known]:
        remedy = "give it with --pretraining NAME=IMAGES,CAPTIONS"
        notes.append(f"pretraining size: not known of {', '.join(lacking)}; {remedy}")
    return study.analysis(tables, notes)


def perplexity_correlation(cases: CaseTable, known: Mapping[str, float]) -> Correlation:
    # The four scores of a quad share captions, so the interval is that of a bootstrap of whole images.
    n, k = cases.scores.shape
    values = np.array([[known.get(text, np.nan) for text in texts] for texts in cases.texts]).reshape(n, k)
    there = np.isfinite(values) & np.isfinite(cases.scores)
    codes = np.repeat(cases.groups.codes, k).reshape(n, k)
    return correlate(cases.scores[there], values[there], numbered(codes[there]))


def length_correlation(cases: CaseTable) -> Correlation:
    words = np.array([np.mean([len(text.split()) for text in texts[:2]]) for texts in cases.texts])
    return correlate(words, cases.case_metrics[HEADLINE], cases.groups)


def _by_tag(quads: Named) -> Iterator[Row]:
    for model, task, cases in quads:
        for tag in sorted({f"{name}={value}" for tags in cases.tags for name, value in tags.items()}):
            name, _, value = tag.partition("=")
            kept = np.array([tags.get(name) == value for tags in cases.tags])
            for metric in SCORES:
                people = (figure.value for figure in beside(task, metric, tag) if figure.model == "human")
                right = share(cases.case_metrics[metric], cases.groups, kept)
                yield from measured((model, task, tag, metric), right, {"people": next(people, None)})


def _correlations(quads: Named, of: Callable[[CaseTable], Correlation]) -> Iterator[Row]:
    for model, task, cases in quads:
        yield correlated((model, task), of(cases), {"images": len(cases.groups.sizes)})


def _by_size(scores: Mapping[str, Mapping[str, float]], known: Mapping[str, Size]) -> Iterator[Row]:
    names = [name for name in scores if name in known]
    for modality in ("images", "captions"):
        x = np.array([getattr(known[name], modality) for name in names])
        for metric in SCORES:
            y = np.array([scores[name][metric] for name in names])
            yield correlated((modality, metric), correlate(x, y))
