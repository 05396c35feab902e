"""The rows of a finished run, and what every export says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from vlgate.recorded.cases import fact_names, read_cases, tags_of
from vlgate.recorded.folder import METRICS, RecordedRun
from vlgate.types import TIED

_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A run to export, with its rows; ``source`` is where its results can be read, empty if nowhere.

    ``organization`` and ``relationship`` say who evaluated the model; ``datasets`` are names on the Hugging Face Hub by
    benchmark.
    """

    run: RecordedRun
    table: Any = field(repr=False)
    organization: str = "unknown"
    relationship: str = "other"
    source: str = ""
    datasets: Mapping[str, str] = field(default_factory=dict)

    @property
    def time(self) -> datetime:
        """When the run ended."""
        try:
            return datetime.fromisoformat(str(self.run.environment.get("time")))
        except ValueError:
            return datetime.fromtimestamp(int((self.run.folder / METRICS).stat().st_mtime), UTC)

    @property
    def model_id(self) -> str:
        """The name of the model, as the Hugging Face Hub writes it if it comes from there."""
        weights = str(self.run.figures["model"]["weights"])
        return weights if re.fullmatch(r"[\w.-]+/[\w.-]+", weights) else self.run.model

    def rows(self, task: str = "") -> Iterator[dict[str, Any]]:
        """Yield the rows of a task, or all of them, in the order of the file.

        ``tags`` is a mapping, ``facts`` holds the facts that the case has, ``unread`` says whether an answer of it
        could not be read, and the columns of facts are left out.
        """
        import pyarrow.compute as pc

        names = fact_names(self.table)
        table = self.table.filter(pc.equal(self.table.column("task"), task)) if task else self.table
        tags = iter(tags_of(self.run, table))
        for batch in table.to_batches(_AT_A_TIME):
            for row in batch.to_pylist():
                facts = {name: value for name in names if (value := row.pop(name)) is not None}
                yield {**row, "tags": next(tags), "facts": facts, "unread": facts.get("read", 1.0) < 1}


def exported(run: RecordedRun, **settings: Any) -> Exported:
    """Read the rows of a run to export it.

    Raises: OptionError if they cannot be read.
    """
    return Exported(run=run, table=read_cases(run), **settings)


def replies(row: Mapping[str, Any]) -> list[str]:
    """Return the replies of a row as texts: an answer, or a score; empty if there is no reply."""
    judged = row["state"] == "judged"
    return [
        answer if answer is not None else repr(score) if score is not None else TIED if judged else ""
        for answer, score in zip(row["answers"], row["scores"], strict=True)
    ]
