"""``shortcuts.parquet``: one row per case, with its shortcut score by each probe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vlgate.shortcuts.scoring import PROBES, Shortcuts


def write_shortcuts(file: Path, found: Sequence[Shortcuts]) -> None:
    """Write the scores of all cases.

    Columns: task, case, a number in 0..1 per probe (null if it was not run), solved_blind (how many probes solve the
    case), sure (whether a probe is sure of it, rightly or wrongly).
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    columns = {
        "task": pa.array([one.task for one in found for _ in one.cases], pa.string()),
        "case": pa.array([case for one in found for case in one.cases], pa.string()),
        **{
            probe: pa.array(
                [None if one.note else score for one in found for score in one.scores[:, place].tolist()], pa.float64()
            )
            for place, probe in enumerate(PROBES)
        },
        "solved_blind": pa.array(
            [None if one.note else count for one in found for count in one.solved_blind.tolist()], pa.int64()
        ),
        "sure": pa.array(
            [None if one.note else not unsure for one in found for unsure in one.unsure.tolist()], pa.bool_()
        ),
    }
    write_table(pa.table(columns), file, use_dictionary=["task"])
