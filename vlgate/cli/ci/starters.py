"""The files that ``vlgate init`` writes into a folder; each works as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import ROUND_FLOOR, Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.metrics.names import HEADLINE

MIN_CASES = 30
HEAD = """\
# The thresholds that a model must reach. The header of a gate is [gate."TASK OR PATTERN".METRIC].
schema = 1

[defaults]
confidence = 0.95
basis = "lower"   # the unfavourable end of the interval decides; with "value" the value alone decides
min_cases = 30    # a gate over fewer cases is inconclusive
"""
THRESHOLDS = f"""\
{HEAD}
[gate."scenes/foil-it".acc_r]
min = 0.90
why = "drawn objects are easy: a model that misses them does not see"

[gate."scenes/attributes".acc_r]
min = 0.90
why = "seven colours that are easy to tell apart"
"""
MODEL = '''\
"""The model to test; run it with pytest --pyargs tests_vl --model=my_model:build."""

from vlgate.fixtures.bag_of_words import build as embedded


class Model:
    """Replace the embedded model by your own, and match() by its score."""

    def __init__(self):
        self.model = embedded()

    def match(self, pairs):
        """Return one score per pair; a higher score means that pair.text fits pair.image.load() better."""
        images = self.model.encode_images([pair.image for pair in pairs])
        texts = self.model.encode_texts([pair.text for pair in pairs])
        return (images * texts).sum(axis=1)


def build():
    """Return the model. vlgate also passes device, dtype, seed, weights and folder to the arguments of these names."""
    return Model()
'''
FILES: Mapping[str, str] = {"thresholds.toml": THRESHOLDS, "my_model.py": MODEL}
"""The files by their paths; ``thresholds_of_run`` gives another thresholds.toml."""

CI: Mapping[str, Mapping[str, str]] = {
    "github": {".github/actions/vlgate/action.yml": "action.yml", ".github/workflows/vlgate.yml": "workflow.yml"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yml"},
    "none": {},
}
"""The files for CI: by the place that runs the jobs, what they are called there, and in the folder ``ci``."""


def ci_files(place: str) -> dict[str, str]:
    """Return the files that run the gates in CI, by their paths; ``place`` is a key of ``CI``."""
    folder = files("vlgate.cli") / "ci"
    return {name: (folder / source).read_text(encoding="utf-8") for name, source in CI[place].items()}


def thresholds_of_run(folder: Path) -> str:
    """Return a thresholds file with a gate on the headline metric of each task of a run.

    A gate stands at the lower end of the metric's interval, rounded down to 0.01. A task has none, and a comment says
    why, if the run judged fewer than ``MIN_CASES`` of its cases, if the model lacks the metric, or if the gate would
    not be above chance and above what a text-only model reaches.

    Raises: DataError if the folder does not hold the ``metrics.json`` of a run.
    """
    file = folder / "metrics.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        name = f"{content['model']['name']}:{content['model']['weights']}".rstrip(":")
        parts = [_gate(task, figures, name) for task, figures in sorted(content["tasks"].items())]
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise DataError(file, None, problem, "name the results folder of a run that ended") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"is not the metrics.json of a run ({type(error).__name__}: {error})"
        raise DataError(file, None, problem, "name the results folder of a run that ended") from None
    return "\n".join([HEAD, *parts])


def _gate(task: str, figures: Mapping[str, Any], name: str) -> str:
    metric = next((name for name in HEADLINE.values() if name in figures["metrics"]), None)
    if metric is None:
        return f"# {task}: no gate, because the run has no {' or '.join(dict.fromkeys(HEADLINE.values()))}\n"
    found = figures["metrics"][metric]
    low = Decimal(repr(found["low"])).quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
    if found["n"] < MIN_CASES:
        return f"# {task}: no gate, because the run judged only {found['n']} cases\n"
    chance, blind = found.get("chance"), found.get("blind")
    if chance is not None and low <= chance:
        return f"# {task}: no gate, because {metric} >= {low} is not above chance ({chance:.3f})\n"
    if blind is not None and low <= blind["value"]:
        text_only = f"what text alone reaches ({blind['value']:.3f})"
        return f"# {task}: no gate, because {metric} >= {low} is not above {text_only}\n"
    return "\n".join(_lines(task, metric, low, f"{name} reached {_figure(found)}"))


def _lines(task: str, metric: str, low: Decimal, why: str) -> Iterator[str]:
    yield f"[gate.{json.dumps(task)}.{metric}]"
    yield f"min = {low}"
    yield f"why = {json.dumps(why, ensure_ascii=False)}"
    yield ""


def _figure(found: Mapping[str, Any]) -> str:
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f}, n = {found['n']})"
