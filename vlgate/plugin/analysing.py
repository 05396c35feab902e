"""Analyse a run as the papers of its benchmarks do, when it ends."""

from __future__ import annotations

from vlgate.errors import VlgateError, described, printable
from vlgate.recorded.folder import ANALYSES, RecordedRun


def analysed(run: RecordedRun) -> list[str]:
    """Write ``analyses.json`` into the folder of a run that has such a benchmark.

    Returns: why the analyses are not there, in a sentence; empty if nothing is wrong. They change no decision, so a
        mistake in them must not cost the run.
    """
    from vlgate.analyses.saved import analyse_run

    try:
        analyse_run(run)
    except (VlgateError, OSError) as error:
        return [f"{ANALYSES} could not be written ({printable(str(error))})"]
    except Exception as error:  # noqa: BLE001  # see above
        return [f"{ANALYSES} could not be written ({described(error)})"]
    return []
