"""Write the files to start with into the current folder: thresholds.toml, my_model.py and a workflow for CI.

They work as they stand: the model is the embedded one until you replace it. Without --overwrite, only a thresholds.toml
that is still as this command wrote it without a run is replaced. With a data folder, by default the folder data, the
gates are about its tasks. The workflow for GitHub has an action of its own; both compare with the last release.
"""

import argparse
import json
import os
import re
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from importlib.resources import files
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.cli import options_of, say
from vlgate.errors import OptionError, VlgateError, described, program
from vlgate.gates.decide import Coverage, Judged, decide
from vlgate.gates.error_rates import threshold_with_margin
from vlgate.gates.records import Gate
from vlgate.metrics.clusters import Clusters, numbered
from vlgate.metrics.shapes import SHAPES, headlines
from vlgate.models.specs import registered
from vlgate.record.cases import case_tables, judged_tasks
from vlgate.record.folder import CASES, ENVIRONMENT, METRICS, NAME_ANOTHER, content_of, read_run
from vlgate.record.run_gates import without_passes
from vlgate.run.planning import make_plan
from vlgate.types import FloatArray, Metric, Task

MIN_CASES = 30
MISSES = 0.05  # the share of new samples in which the same model may miss one of the gates of ``thresholds_of_run``
_MOST = 1_000  # the most cases that are tried; a task that has more is not tried with more
_ENOUGH = " a gate needs "
_STARTER = files("vlgate.cli") / "starter"
THRESHOLDS = (_STARTER / "thresholds.toml").read_text(encoding="utf-8")
HEAD = THRESHOLDS.partition("\n[gate.")[0]
# the files for CI: by the place that runs the jobs, what they are called there, and in the folder ``ci``
CI: Mapping[str, Mapping[str, str]] = {
    "github": {".github/actions/vlgate/action.yml": "action.yml", ".github/workflows/vlgate.yml": "workflow.yml"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yml"},
    "none": {},
}
OPTIONS = {"ci": {"choices": sorted(CI)}}


def ci_files(place: str, model: str = "", options: Sequence[str] = ()) -> dict[str, str]:
    args = "--thresholds=thresholds.toml"
    changes = {args: " ".join([args, *options]) + _note(options)}
    named = f": {json.dumps(model, ensure_ascii=False)}{_note(re.split('[:?&=#]', model))}"
    changes |= {": my_model:build": named} if model else {}
    spec = registered().get(re.split("[:?]", model)[0])
    extras = spec.extra.split(",") if spec is not None and spec.extra else ()
    needed = " ".join(f"vlgate[{extra}]" for extra in extras) or "vlgate"  # a cache of GitHub takes no comma in its key
    changes |= {f"{name}: vlgate": f"{name}: {needed}" for name in ("install", "INSTALL")}
    old = re.compile("|".join(map(re.escape, changes)))
    texts = {name: files("vlgate.cli") / "ci" / source for name, source in CI[place].items()}
    return {name: old.sub(lambda match: changes[match[0]], text.read_text("utf-8")) for name, text in texts.items()}


def _note(words: Iterable[str]) -> str:
    # In a file for CI, behind a path outside this folder, which the machines that run the jobs do not have
    paths = (word.removeprefix("--data=") for word in words)
    outside = [path for path in paths if Path(path).is_absolute() and not path.startswith("//")]  # or of an address
    return f"  # set: {', '.join(outside)} is outside this folder; name its place in the job" if outside else ""


def thresholds_of_data(tasks: Sequence[Task], data: Sequence[str]) -> str:
    """Return a thresholds file that has a gate for each task in a comment, because no run says what a model reaches."""
    named = " ".join(["--model=my_model:build", *(f"--data={one}" for one in data)])
    lines = [
        HEAD,
        "# There is no gate yet: a threshold follows from what your model reaches. Ask it once, and write the gates:",
        f"#   pytest --pyargs tests_vl {named} --results=results/first",
        "#   vlgate init --from results/first",
        "# The second command replaces this file, unless you changed it. To write a gate by hand, remove its #.",
    ]
    for task in tasks:
        few = f", fewer than min_cases = {MIN_CASES}" if len(task.cases) < MIN_CASES else ""
        lines += ["", f"# {len(task.cases):,} cases{few}"]
        lines += [f"# [gate.{json.dumps(task.id, ensure_ascii=False)}.{SHAPES[task.shape].headline}]", "# min = 0.80"]
    return "\n".join(lines) + "\n"


def thresholds_of_run(folder: Path) -> str:
    # A gate stands at the highest threshold of two decimals that the same model passes in nearly all new samples of as
    # many cases and images: in 1 - MISSES of them it passes all gates together, however these depend on each other
    named = f"--from {folder}"
    content = content_of(folder / METRICS, named)
    try:
        name = _model_of(content)
        figures = sorted(content["tasks"].items())
        measured = [_measured(task, told) for task, told in figures]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"{METRICS} is not that of a run ({described(error)})"
        raise OptionError(f"{named}: {problem}; {NAME_ANOTHER}") from None
    rows: dict[str, Judged] = {}  # none if the folder has only the figures
    if (folder / CASES).exists():
        run = read_run(folder, named)
        rows = judged_tasks(run, case_tables(run))
    gated = sum(not one.lacks for one in measured)
    ties = content.get("run", {}).get("ties", "strict")
    made = [_with_margin(one, rows.get(one.task), MISSES / max(gated, 1), ties) for one in measured]
    return "\n".join([HEAD, *_about(made), *(_gate(one, name) for one in made)])


def _model_of(content: Mapping[str, Any]) -> str:
    return f"{content['model']['name']}:{content['model']['weights']}".rstrip(":")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    task: str
    metric: str = ""
    found: Metric | None = None
    chance: float | None = None
    blind: float | None = None
    least: Decimal = Decimal(0)
    passes: float = 1.0
    lacks: str = ""


def _measured(task: str, told: Mapping[str, Any]) -> _Measured:
    metric = next((name for name in headlines() if name in told["metrics"]), None)
    if metric is None:
        return _Measured(task=task, lacks=f"the run has no {' or '.join(headlines())}")
    of = told["metrics"][metric]
    figure = Metric(value=of["value"], low=of["low"], high=of["high"], n=of["n"], deff=of.get("deff", 1.0))
    few = f"the run judged only {figure.n} cases" if figure.n < MIN_CASES else ""
    blind = None if of.get("blind") is None else of["blind"]["value"]
    return _Measured(task=task, metric=metric, found=figure, chance=of.get("chance"), blind=blind, lacks=few)


def _with_margin(one: _Measured, judged: Judged | None, misses: float, ties: Any) -> _Measured:
    if one.found is None:
        return one
    values, groups = _cases(one, one.found, judged)
    name, bar = f"{one.task}:{one.metric}", max(one.chance or 0, one.blind or 0)
    needed = partial(_needed, values, groups, misses, name, bar)
    if one.lacks:
        return replace(one, lacks=one.lacks + needed())
    least, passes = threshold_with_margin(values, groups, misses, name)
    n = one.found.n
    coverage = Coverage(cases=n, judged=n, unscored=0, skipped=0) if judged is None else judged.coverage
    gate = Gate(task=one.task, metric=one.metric, min=float(least))
    [made] = without_passes([decide(gate, coverage, {one.metric: one.found}, ties)], ties)
    lacks = made.why if made.outcome != "pass" else ""
    margin = f"{one.metric} >= {least}, which leaves a margin for other samples,"
    if one.blind is not None and least <= one.blind:
        lacks = f"{margin} is not above what text alone reaches ({one.blind:.3f})"
    if least <= (one.chance or 0):
        lacks = f"{margin} is not above chance ({one.chance or 0:.3f})"
    if least <= bar:
        lacks += needed()
    return replace(one, least=least, passes=passes, lacks=lacks)


def _needed(values: FloatArray, groups: Clusters, misses: float, name: str, bar: float) -> str:
    # Say how many cases of the same value and with as many on an image leave a gate above ``bar``
    def holds(n: int) -> bool:
        turn, case = np.divmod(np.arange(n), len(values))
        more = numbered(groups.codes[case] + turn * len(groups.sizes))
        case = np.arange(n) * len(values) // n if groups.single else case  # of an image each: the very share
        return threshold_with_margin(values[case], more, misses, name)[0] > bar

    share = values.mean()
    if floor(bar * 100 + 1e-9) + 1 >= share * 100 - 1e-9:  # no threshold of two decimals is above one, below the other
        return ""
    fewest = max(MIN_CASES, len(values))
    if fewest >= _MOST or not holds(_MOST):
        return f"; at {share:.3f}{_ENOUGH}more than {max(fewest, _MOST):,} cases"
    return f"; at {share:.3f}{_ENOUGH}about {bisect_left(range(_MOST), True, fewest, key=holds):,} cases"


def _cases(one: _Measured, metric: Metric, judged: Judged | None) -> tuple[FloatArray, Clusters]:
    # What each case contributes, and its image; without rows, as many independent cases as they are worth
    if judged is not None and judged.columns is not None and one.metric in judged.columns.facts:
        values = judged.columns.facts[one.metric]
        kept = np.isfinite(values)
        return values[kept], numbered(judged.columns.images[kept])
    n = max(1, round(metric.n / metric.deff))
    return (np.arange(n) < round(metric.value * n)).astype(np.float64), numbered(np.arange(n))


def _percent(share: float) -> str:
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"  # rounded down: 0.97999 is 97.9 %


def _about(made: Iterable[_Measured]) -> Iterator[str]:
    gates = [one for one in made if not one.lacks]
    if not gates:
        return
    together = 1 - sum(1 - gate.passes for gate in gates)
    every = f"all {len(gates)} gates together" if len(gates) > 1 else "the gate"
    yield f"# The same model passes {every} in at least {_percent(together)} of new samples of this size."
    yield "# The rates allow for two things: a new sample is drawn, and this run only measures the model's true share"
    yield "# (beta-binomial, with Jeffreys' prior). They are about the lower end of the interval, which decides.\n"


def _gate(one: _Measured, name: str) -> str:
    if one.lacks or one.found is None:
        return f"# {one.task}: no gate, because {one.lacks}\n"
    figure = f"{one.found.value:.3f} ({one.found.low:.3f} to {one.found.high:.3f}, n = {one.found.n})"
    lines = [
        f"[gate.{json.dumps(one.task, ensure_ascii=False)}.{one.metric}]",
        f"min = {one.least}   # the same model passes it in {_percent(one.passes)} of new samples",
        f"why = {json.dumps(f'{name} reached {figure}', ensure_ascii=False)}",
    ]
    return "\n".join(lines) + "\n"


OWN = "my_model:build"
_GATES = Path("thresholds.toml")
_BASELINE = "without the folder baseline: CI keeps its own, and one that is committed stays until you commit another"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    model: str = OWN
    options: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return f"{program('pytest')} {shlex.join(['--pyargs', 'tests_vl', f'--model={self.model}', *self.options])}"


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0, or 1 if nothing was written because all files are there."""
    folder = given.run_folder
    if folder is None:
        folders, gates = _of_data(given)
        start = _Start(options=tuple(f"--data={one}" for one in folders))
    else:
        gates = thresholds_of_run(folder)
        start = _start_of(folder)
        # Nothing of the user is lost if thresholds.toml is as this command wrote it without a run
        with suppress(OSError, ValueError, VlgateError):
            if _GATES.read_text(encoding="utf-8") in {THRESHOLDS, _of_data(given)[1]}:
                _GATES.unlink()
    files = {str(_GATES): gates}
    if folder is None:
        files["my_model.py"] = (_STARTER / "my_model.txt").read_text(encoding="utf-8")
    files |= ci_files(given.ci, "" if start.model == OWN else start.model, start.options)
    written = [_write(Path(name), content, overwrite=given.overwrite) for name, content in files.items()]
    few = [line.removeprefix("# ") for line in gates.splitlines() if _ENOUGH in line]
    steps = _first_steps(start) if folder is None else _later_steps(folder, start, gates, ours=_text(_GATES) == gates)
    say(*few, "next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1)))
    return 0 if any(written) else 1


def _of_data(given: argparse.Namespace) -> tuple[tuple[str, ...], str]:
    # The data folders as a run would name them, and the thresholds file for their tasks
    implied = not given.data and not os.environ.get("VLGATE_DATA") and Path("data").is_dir()
    options = options_of(argparse.Namespace(data=[Path("data")] if implied else given.data, suite=[]))
    folders = tuple(map(_in_project, options.data))
    try:
        tasks = make_plan(options).tasks if options.data else ()
    except OptionError:
        if not implied:
            raise
        tasks = ()  # a folder of this name may hold something else
    return (folders, thresholds_of_data(tasks, folders)) if tasks else ((), THRESHOLDS)


def _start_of(folder: Path) -> _Start:
    # The model and the data of a run
    file, named = folder / ENVIRONMENT, f"--from {folder}"
    asked = content_of(file, named).get("options") if file.exists() else {}
    asked = asked if isinstance(asked, dict) else {}
    options = [f"--data={_in_project(Path(one))}" for one in asked.get("data", ())]
    options += [f"--suite={','.join(asked['suite'])}"] if asked.get("suite") else []
    model = str(asked.get("model") or _model_of(content_of(folder / METRICS, named)))
    model = re.sub(rf"(?<=[:=]){re.escape(f'{Path.cwd()}/')}", "", model)
    return _Start(model=model, options=tuple(options))


def _in_project(folder: Path) -> str:
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _first_steps(start: _Start) -> list[str]:
    vlgate = program("vlgate")
    first = ["put your own model into my_model.py"]
    first += [f"{vlgate} check {shlex.join(start.options)}"] if start.options else []
    own = f"\n     (with data of your own: add --data=DIR, and look at {vlgate} check --data DIR first)"
    return [
        *first,
        f"{start.command} --results=results/first{'' if start.options else own}",
        f"{vlgate} init --from results/first\n     (writes the gates that this model passes, with a margin)",
        "commit the files; CI judges the gates on every push",
    ]


def _later_steps(folder: Path, start: _Start, gates: str, *, ours: bool) -> list[str]:
    # What to do when there is a run, and gates from it; ``ours`` if they are those of the thresholds file
    if ours and "\n[gate." not in gates:
        remedy = "no task of that run allows a gate, and thresholds.toml says why for each: mend the data or the model"
        return [remedy, f"{start.command} --results=results/next", "start again from that run"]
    vlgate = program("vlgate")
    looks = "look at the gates in thresholds.toml; max_broken = 2 in one allows two cases that a later run breaks"
    run = shlex.quote(str(folder))
    how = f"{vlgate} init --from {run} --overwrite"
    how += "\n     (writes the gates of that run, if you can spare those there)"
    judged = f"{vlgate} judge {run} --thresholds=thresholds.toml --baseline=first --results=results/judged"
    return [
        looks if ours else how,
        f"{judged}\n     {vlgate} baseline results/judged\n     (keeps that run as the baseline)",
        f"{start.command} --baseline=baseline",
        f"commit the files; CI judges the gates on every push\n     ({_BASELINE})",
    ]


def _text(file: Path) -> str:
    with suppress(OSError, ValueError):
        return file.read_text(encoding="utf-8")
    return ""


def _write(file: Path, content: str, *, overwrite: bool) -> bool:
    own = file.suffix == ".py"  # a model of the user
    if (file.exists() or file.is_symlink()) and (own or not overwrite):
        there = _text(file)
        old, new = (re.findall(r"^ +model: (.+)", text, re.MULTILINE | re.IGNORECASE)[:1] for text in (there, content))
        what = f"its model is {old[0]}, not {new[0]}" if old and new and old != new else "it would be another one now"
        remedy = "it is there already; remove it to get a new one" if own else f"{what}; --overwrite replaces it"
        say(f"kept: {file} ({'it is the same' if there == content else remedy})")
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    say(f"wrote: {file}")
    return True
