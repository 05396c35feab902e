"""Draws the acuity charts of the model that options name: cost, trials, table, files, gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vlgate.acuity.asking import charts, cost, seconds_per_call
from vlgate.acuity.figure import sheet
from vlgate.acuity.pages import lines, page
from vlgate.acuity.record import FILE, Release, text_of
from vlgate.errors import OptionError, VlgateError, described
from vlgate.gates.acuity import AcuityDecision, AcuityGate, decide_acuity
from vlgate.gates.thresholds import checked_thresholds, toml_of
from vlgate.report.whole_file import write_whole
from vlgate.run.loading import load_model
from vlgate.run.options import Options

_PASSES = frozenset({"pass"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The charts of a model and the decisions of the gates on them."""

    release: Release
    decisions: tuple[AcuityDecision, ...]

    @property
    def passed(self) -> bool:
        """Whether all gates pass."""
        return all(one.outcome in _PASSES for one in self.decisions)


def gates_of(file: Path) -> tuple[AcuityGate, ...]:
    """Return the gates in the section ``[acuity]`` of a thresholds file; its other sections belong to runs.

    Raises: ThresholdsError if the file cannot be read, or that section is wrong.
    """
    _, content = toml_of(file)
    ours = {name: value for name, value in content.items() if name not in {"gate", "limit", "defaults", "checks"}}
    return checked_thresholds(file, ours, {}).acuity


def draw(
    options: Options,
    faculties: Sequence[str],
    gates: Sequence[AcuityGate],
    limit: int | None,
    say: Callable[[str], None],
) -> Drawn:
    """Say what charts cost, ask the model, and decide the gates of these faculties.

    Args:
        options: the model, the device, the batch size and the seed.
        faculties: the charts to draw.
        gates: the gates of the thresholds file.
        limit: the most calls; None for the usual number of trials.
        say: takes a line to print.

    Raises: OptionError if the limit is too small, or the model cannot be loaded or asked.
    """
    price = cost(faculties, limit)
    try:
        loaded, predictor = load_model(options, ())
        say(f"{len(faculties)} charts, at most {price.calls:,} calls to {options.model} ({price.trials} trials each)")
        needed = price.seconds(seconds_per_call(predictor, faculties, options.seed))
        say(f"at most {_time(needed)}")
        found = tuple(charts(predictor, faculties, price.trials, options.seed))
    except VlgateError as error:
        raise OptionError(str(error)) from error
    except Exception as error:  # what a foreign model raises has any class; it is told in one line, with its class
        raise OptionError(f"--model={options.model}: the model raised {described(error)}; correct it") from error
    release = Release(model=options.model, fingerprint=loaded.fingerprint, seed=options.seed, charts=found)
    return Drawn(release=release, decisions=tuple(decide_acuity(gate, release.chart(gate.faculty)) for gate in gates))


def written(drawn: Drawn, earlier: Release | None, folder: Path) -> list[str]:
    """Write ``acuity.json``, ``acuity.svg`` and ``acuity.html`` into a folder.

    Returns: the lines of the table.
    Raises: OSError if a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    release = drawn.release
    both = [release, *([earlier] if earlier else [])]
    write_whole(folder / FILE, text_of(release, drawn.decisions))
    write_whole(folder / "acuity.svg", sheet([one.about for one in release.charts], both))
    write_whole(folder / "acuity.html", page(release, earlier))
    return list(lines(release, earlier, drawn.decisions))


def _time(seconds: float) -> str:
    """Seconds in words.

    >>> _time(3.2), _time(200)
    ('4 s', '3 min 20 s')
    """
    whole = int(seconds) + 1 if seconds != int(seconds) else int(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"
