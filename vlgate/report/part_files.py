"""Write ``part.jsonl`` and ``part.json``, with which ``vlgate merge`` joins the parts of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.recorded.part import DEFAULTS, PART, REPLIES, SCHEMA, seal, sha
from vlgate.report.environment import environment_content
from vlgate.report.whole_file import whole_file, write_whole
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options, Shard
from vlgate.run.parts.image_files import images_digest
from vlgate.run.results import RunResult
from vlgate.run.rows import Rows
from vlgate.run.verdict import Digests
from vlgate.types import Batch, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedPart:
    """A part of a run at its end.

    Attributes:
        shard: which part it is.
        run: its result.
        card: its model.
        options: its options.
        tasks: the tasks of the plan of the whole run.
        digests: those of the plan and the thresholds.
        workers: the number of processes with a model.
    """

    shard: Shard
    run: RunResult
    card: ModelCard
    options: Options
    tasks: Sequence[Task]
    digests: Digests
    workers: int


def write_part(folder: Path, part: EndedPart, replies: Iterable[tuple[Batch, Rows]]) -> None:
    """Write the files of a part, after all others of the run; ``part.json`` is the last.

    Args:
        folder: the results folder.
        part: the part.
        replies: the replies to each batch of the part.

    Raises: OSError if a file cannot be written.
    """
    lines = "".join(sorted(_line(batch, rows) for batch, rows in replies)).encode("ascii")
    with whole_file(folder / REPLIES) as file:
        file.write_bytes(lines)
    content = _content(part, sha(lines))
    write_whole(folder / PART, json.dumps({**content, "seal": seal(content)}, indent=1) + "\n")


def _content(part: EndedPart, replies: str) -> Mapping[str, Any]:
    digests = part.digests
    content = {
        "schema": SCHEMA,
        "vlgate": __version__,
        "number": part.shard.number,
        "of": part.shard.of,
        "complete": not part.run.incomplete,
        "why": part.run.incomplete,
        "status": part.run.tests,
        "workers": part.workers,
        "digests": {
            "plan": digests.plan,
            "images": f"blake2b:{images_digest(part.tasks)}",
            "thresholds": digests.thresholds,
            "must_hold": digests.must_hold,
        },
        "replies": replies,
        "model": asdict(part.card),
        "environment": environment_content(part.options, part.workers, part.card.cache),
    }
    as_read: Mapping[str, Any] = json.loads(json.dumps(content))  # tuples become lists, as the reader will have them
    return as_read


def _line(batch: Batch, rows: Rows) -> str:
    columns: dict[str, Any] = dict(rows)
    kept = {name: columns[name] for name in DEFAULTS if any(value is not DEFAULTS[name] for value in columns[name])}
    content = {"task": batch.task.id, "cases": batch.positions, "rows": kept}
    return json.dumps(content, separators=(",", ":")) + "\n"
