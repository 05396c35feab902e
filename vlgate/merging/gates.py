"""The thresholds file that the joined parts are judged with."""

from __future__ import annotations

from pathlib import Path

from vlgate.errors import ThresholdsError, UnknownTaskError
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.recorded.part import RecordedPart
from vlgate.run.options import Options
from vlgate.run.planning import known_tasks, no_folder


def read_gates(options: Options) -> Thresholds:
    """Return the gates of a run; none without a thresholds file.

    Raises: OptionError if an option names something that does not exist; ThresholdsError if the file cannot be used.
    """
    known = known_tasks(options)
    if options.thresholds is None:
        return Thresholds(file=Path("thresholds.toml"), rules=(), require=())
    try:
        return read_thresholds(options.thresholds, known)
    except UnknownTaskError as error:
        raise ThresholdsError(f"{error}{no_folder(options, error.task)}") from None


def refuse_other_thresholds(part: RecordedPart, thresholds: Thresholds) -> None:
    """Refuse a thresholds file that is another one than that of the parts.

    Raises: OptionError, which names the file and the option that accepts it.
    """
    held = thresholds.must_hold
    now = {
        "thresholds": f"sha256:{thresholds.digest}" if thresholds.digest else None,
        "must_hold": None if held is None else f"sha256:{held.digest}",
    }
    if any(part.content["digests"][name] != found for name, found in now.items()):
        raise part.wrong(
            f"{thresholds.file} is not what it was when the part ran", "name the file to judge with by --thresholds"
        )
