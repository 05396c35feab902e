"""The headline figures as SVG: a chart of intervals, and a radar of the tasks, each beside what it is compared with.

That is chance, the text-only model, the baseline, and the figures of people and of models that papers print. Each task
of a chart must have its headline figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import cos, pi, sin

from markupsafe import Markup

from vlgate.report.page.sections import Section
from vlgate.report.page.template import html

MOST_ROWS = 80  # the most tasks of a chart; all of them are in the sections
# the fewest and the most tasks of a radar: with fewer it has no area, with more its names overlap
FEWEST_AXES, MOST_AXES = 3, 36
_CENTRE, _RADIUS = 320, 180  # of the radar, which is 640 wide


def chart(sections: Sequence[Section]) -> Markup:
    return Markup(html("chart.html", {"sections": sections, "name": _names(sections)}))  # noqa: S704  # a template


def radar(sections: Sequence[Section]) -> Markup:
    """Return an axis for each task; empty for too few or too many tasks."""
    if not FEWEST_AXES <= len(sections) <= MOST_AXES:
        return Markup()
    values = {
        "chance": [one.figure.get("chance") for one in sections],
        "blind": [one.blind for one in sections],
        "baseline": [one.baseline for one in sections],
        "model": [one.figure["value"] for one in sections],
    }
    lines = [(kind, [(n, v) for n, v in enumerate(found) if v is not None]) for kind, found in values.items()]
    content = {"sections": sections, "name": _names(sections), "lines": lines, "fewest": FEWEST_AXES}
    return Markup(html("radar.html", {**content, "point": partial(_point, len(sections))}))  # noqa: S704  # likewise


def short(name: str, most: int = 22) -> str:
    return name if len(name) <= most else f"…{name[1 - most :]}"


def _names(sections: Sequence[Section]) -> Callable[[Section, int], str]:
    alone = len({one.task.partition("/")[0] for one in sections}) == 1  # one benchmark, which goes without saying
    return lambda one, most: short(one.task.partition("/")[2] if alone else one.task, most)


def _point(axes: int, number: int, value: float) -> tuple[float, float]:
    angle = 2 * pi * number / axes  # the first axis points up, and the others follow clockwise
    return _CENTRE + _RADIUS * value * sin(angle), _CENTRE - _RADIUS * value * cos(angle)
