"""Read ``verdict.json`` of a finished run, checked before it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from vlgate.recorded.folder import METRICS, VERDICT, RecordedRun, content_of, held_to, refuse_other_schema
from vlgate.recorded.form import schema_of

SCHEMA = 1
"""The version of the format of ``verdict.json`` that is written and read."""


def read_verdict(run: RecordedRun) -> Mapping[str, Any] | None:
    """Return the content of ``verdict.json``.

    Returns: the content; None if the run has none, because an earlier version wrote its files.
    Raises: OptionError if the file cannot be read or is damaged, or if its decisions are not those of ``metrics.json``.
    """
    file = run.folder / VERDICT
    if not file.exists():
        return None
    content = content_of(file, run.named)
    refuse_other_schema(content, SCHEMA, VERDICT, run.named)
    content = held_to(content, schema_of(VERDICT), VERDICT, run.named)
    told = Counter((one["gate"], one["decision"]) for one in content["decisions"])
    if told != Counter((one["gate"], one["decision"]) for one in run.figures["gates"]):
        problem = f"the decisions in {VERDICT} are not those in {METRICS}"
        raise run.wrong(problem, "name a folder whose files are of one run")
    return content
