"""Keep a run as the baseline that later releases are compared with.

The files that a comparison needs are copied to a folder that you can commit: metrics.json, cases.parquet,
environment.json, verdict.json and summary.md, and blessed.json, which says where they come from. A run that is
incomplete, or of which no case was judged, is refused; one that did not pass, or of which no gate was judged, needs a
reason. Cases that were not judged are counted, because no later run is compared with them. With --must-hold, the cases
that the run gets right are also written as cases that every model must get right.
"""

import argparse
import json
import shutil
from collections import Counter
from typing import Any

from vlgate.cli import chosen, say
from vlgate.errors import OptionError
from vlgate.gates.records import RELEASABLE
from vlgate.metrics.shapes import headlines
from vlgate.record.comparison import finished_run
from vlgate.record.folder import BLESSED, CASES, ENVIRONMENT, METRICS, VERDICT, read_run
from vlgate.record.verdict import recorded_outcome

FILES = (CASES, ENVIRONMENT, VERDICT, "summary.md", METRICS)


def run(given: argparse.Namespace) -> int:
    recorded = read_run(given.run, f"vlgate baseline {given.run}")
    found = finished_run(recorded)
    outcome = recorded_outcome(recorded)
    refused = [gate["gate"] for gate in recorded.figures["gates"] if gate["decision"] not in RELEASABLE]
    if not given.why.strip() and outcome.verdict != "pass":
        problem = f"its gates do not pass ({refused[0]})" if refused else "no gate was judged in it"
        problem = outcome.lacking[0] if outcome.lacking else problem
        raise recorded.wrong(problem, "name a run that passes, or say why with --why TEXT")
    states = Counter(state for task in found.tasks.values() for state in task.states)
    states["deselected"] = sum(task["deselected"] for task in recorded.figures["tasks"].values())
    if not states["judged"]:
        raise recorded.wrong("none of its cases was judged, so none can be compared", "name one with judged cases")
    if given.suite and given.must_hold is None:
        raise OptionError("--suite: chooses the cases of --must-hold; name its file, or leave --suite out")
    lines = _held(given, found.tasks) if given.must_hold is not None else []
    if (given.out / "metrics.json").exists() and not given.overwrite:
        raise OptionError(f"--out {given.out}: holds a baseline; replace it with --overwrite, or name another folder")
    record = {
        "from": str(given.run),
        "model": found.model,
        "fingerprint": found.fingerprint,
        "gates_not_passed": refused,
        "why": given.why,
    }
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "metrics.json").unlink(missing_ok=True)  # the last file: if it is there, so are the others
    (given.out / BLESSED).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name in FILES:
        if (given.run / name).is_file():
            shutil.copyfile(given.run / name, given.out / name)
    say(f"Baseline saved to {given.out} ({found.model}, {states['judged']:,} cases).")
    left_out = [f"{states[name]:,} {name}" for name in ("skipped", "unscored", "deselected") if states[name]]
    if left_out:
        say(f"note: its other cases cannot be compared: {', '.join(left_out)}")
    if given.must_hold is not None:
        given.must_hold.parent.mkdir(parents=True, exist_ok=True)
        given.must_hold.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        say(f"{given.must_hold}: {len(lines):,} cases that must hold")
    return 0


def _held(given: argparse.Namespace, tasks: Any) -> list[str]:
    names = chosen(given.suite, tasks, "task in --suite")
    if given.must_hold.exists() and not given.overwrite:
        raise OptionError(f"--must-hold {given.must_hold}: exists; replace it with --overwrite, or name another file")
    lines = []
    for task in names:
        judged = tasks[task].judged
        headline = next((name for name in headlines() if name in judged.case_metrics), None)
        if headline is not None:
            values = judged.case_metrics[headline]
            held = [case for case, value in zip(judged.ids, values, strict=True) if value >= 1]
            lines += [json.dumps({"task": task, "case": case}) for case in held]
    return lines
