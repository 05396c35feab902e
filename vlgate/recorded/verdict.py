"""Read ``verdict.json`` of a finished run, checked before it is used."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlgate.recorded.folder import AGAIN, METRICS, VERDICT, RecordedRun, content_of
from vlgate.recorded.form import faults

_FORM = Path(__file__).parents[1] / "report" / "verdict.schema.json"


def read_verdict(run: RecordedRun) -> Mapping[str, Any] | None:
    """Return the content of ``verdict.json``.

    Returns: the content; None if the run has none, because an earlier version wrote its files.
    Raises: OptionError if the file cannot be read or is damaged, or if its decisions are not those of ``metrics.json``.
    """
    file = run.folder / VERDICT
    if not file.exists():
        return None
    content = content_of(file, run.named)
    form = json.loads(_FORM.read_text(encoding="utf-8"))
    fault = next(faults(content, form, form, ""), None)
    if fault is not None:
        raise run.wrong(f"{VERDICT} is damaged: {fault}", AGAIN)
    told = Counter((one["gate"], one["decision"]) for one in content["decisions"])
    if told != Counter((one["gate"], one["decision"]) for one in run.figures["gates"]):
        problem = f"the decisions in {VERDICT} are not those in {METRICS}"
        raise run.wrong(problem, "name a folder whose files are of one run")
    return content
