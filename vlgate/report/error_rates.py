"""How often the gates of a run err as they stand, in lines for the terminal and ``summary.md``."""

from __future__ import annotations

from vlgate.gates.correcting import NAMES
from vlgate.gates.error_rates import ErrorRates

ASSUMED = "simulated; assumes independent gates, and new samples of as many cases"


def error_rate_lines(rates: ErrorRates | None) -> list[str]:
    r"""Return how often the gates give a false alarm, and whether an unchanged model passes again, as lines.

    >>> rates = ErrorRates(
    ...     gates=14, correction="none", threshold_fails=0.298, unchanged_fails=0.0, unchanged_passes=0.61
    ... )
    >>> print("\n".join(error_rate_lines(rates)))
    false alarms: a model exactly on the thresholds of all 14 gates sees at least one fail in 30 % of samples
    another sample: a model as good as measured passes all of them in 61 %, and sees a fail in 0 %
    """
    if rates is None:
        return []
    gates = "its gate" if rates.gates == 1 else f"all {rates.gates} gates"
    after = f" (corrected after {NAMES[rates.correction]})" if rates.correction != "none" else ""
    alarms = f"sees at least one fail in {_percent(rates.threshold_fails)} of samples{after}"
    passes, fails = _percent(rates.unchanged_passes), _percent(rates.unchanged_fails)
    return [
        f"false alarms: a model exactly on the thresholds of {gates} {alarms}",
        f"another sample: a model as good as measured passes all of them in {passes}, and sees a fail in {fails}",
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
