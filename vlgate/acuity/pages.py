"""The charts as a table for the terminal, and as a page in HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from vlgate.acuity.figure import CSS, panel
from vlgate.acuity.record import Release
from vlgate.gates.acuity import AcuityDecision, said
from vlgate.metrics.perception.acuity import Acuity

_PAGE = Markup("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>vlgate acuity</title>
<style>
{css}body {{ margin: 0 auto; max-width: 1400px; padding: 1rem 2rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0 }} p {{ max-width: 80ch; color: var(--muted) }}
.charts {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1rem }}
.charts svg {{ width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px }}
table {{ border-collapse: collapse; margin: 1rem 0 }} th, td {{ text-align: left; padding: .25rem .9rem .25rem 0;
  border-bottom: 1px solid var(--line) }}
</style>
<h1>Acuity of {models}</h1>
<p>Each point is the share of right choices between a true and a false text at a level, with its 95 % interval; its size
grows with the number of trials. The curve is the psychometric function with its 95 % band. The vertical line is the
threshold, the midpoint between chance and the model's best; the bar at the bottom is its 95 % interval.</p>
<div class="charts">{charts}</div>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table>
</html>
""")
_HEAD = ("faculty", "threshold (95 % interval)", "best", "calls", "before", "change")


def change(now: Acuity, before: Acuity | None) -> str:
    """Say how a threshold changed: better or worse if the two intervals are apart, which is a cautious rule.

    Returns: "better", "worse" or "not told apart"; empty if there is nothing to compare with, or one model has no
        interval because it is at chance or its replies do not fit.
    """
    if before is None:
        return ""
    ours, theirs = _ends(now), _ends(before)
    if ours is None or theirs is None:
        return ""
    (low, high), (least, most) = ours, theirs
    return "worse" if low > most else "better" if high < least else "not told apart"


def _ends(one: Acuity) -> tuple[float, float] | None:
    """The interval in places; a model at chance is worse than any in the range."""
    if one.word in {"at chance", "below chance"}:
        return 2.0, 2.0
    return None if one.word in {"no fit", "unscored"} else (one.low, one.high)


def cells(release: Release, earlier: Release | None) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row: what the trials show, and how it changed."""
    for one in release.charts:
        before = earlier.chart(one.faculty) if earlier else None
        row = (one.faculty, said(one), f"{one.best:.2f}", f"{one.calls:,}")
        yield (*row, said(before), change(one, before)) if before else (*row, "", "")


def lines(release: Release, earlier: Release | None, decisions: Sequence[AcuityDecision]) -> Iterator[str]:
    """Yield the lines of the table, then one per gate."""
    most = len(_HEAD) if earlier else 4
    rows = [_HEAD[:most], *(row[:most] for row in cells(release, earlier))]
    widths = [max(len(row[column]) for row in rows) for column in range(most)]
    yield from ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    for one in release.charts:
        if one.ties or one.unscored:
            ties = f"{one.ties} of {one.trials + one.unscored} trials are exact ties, decided by a coin"
            yield f"{one.faculty}: {ties if one.ties else ''}{'; ' if one.ties and one.unscored else ''}" + (
                f"{one.unscored} trials have no reply" if one.unscored else ""
            )
    yield from (f"acuity.{one.gate.faculty}: {one.outcome}: {one.why}" for one in decisions)


def page(release: Release, earlier: Release | None) -> str:
    """Return the charts and the table as a page in HTML."""
    both = [release, *([earlier] if earlier else [])]
    charts = Markup("\n").join(panel(one.about, both) for one in release.charts)
    head = Markup().join(Markup("<th>{}</th>").format(cell) for cell in _HEAD)
    rows = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in cells(release, earlier)
    )
    models = " and ".join(one.model for one in both)
    css = Markup(CSS)  # noqa: S704  # our own file
    return str(_PAGE.format(css=css, models=models, charts=charts, head=head, rows=rows))
