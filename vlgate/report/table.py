"""A table of texts, and how it is drawn: by rich for the terminal, as Markdown, as HTML."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from itertools import zip_longest

from vlgate.errors import printable

_UNLIMITED = 10_000  # characters; wider than any line, so that nothing is cut off or wrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers: Collection[str] = ()
    outcomes: Sequence[str] = ()

    def columns(self, headings: Sequence[str]) -> Table:
        kept = [self.headings.index(heading) for heading in headings]
        rows = [tuple(row[number] for number in kept) for row in self.rows]
        return replace(self, headings=tuple(headings), rows=rows)

    def width(self) -> int:
        columns = zip(self.headings, *self.rows, strict=True)
        return sum(max(map(len, column)) + 2 for column in columns) - 2

    def text(self, styles: Mapping[str, str] | None = None) -> list[str]:
        """Return a line for the headings, and one for each row, in rich's styles of their outcomes if there are any."""
        from rich.table import Table as Drawn
        from rich.text import Text

        drawn = Drawn(box=None, pad_edge=False, header_style="bold" if styles else "")
        for heading in self.headings:
            drawn.add_column(heading, justify="right" if heading in self.numbers else "left", no_wrap=True)
        for row, outcome in zip_longest(self.rows, self.outcomes, fillvalue=""):
            drawn.add_row(*(Text(printable(cell)) for cell in row), style=(styles or {}).get(outcome, ""))
        return printed([drawn], colour=bool(styles))

    def markdown(self) -> list[str]:
        rows = [self.headings, ("---",) * len(self.headings), *self.rows]
        return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]

    def html(self, colours: Mapping[str, str]) -> str:
        head = "".join(f"<th align='left'>{escape(printable(name))}</th>" for name in self.headings)
        body = "".join(
            f"<tr style='color:{colours.get(outcome, 'inherit')}'>"
            f"{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>"
            for row, outcome in zip(self.rows, self.outcomes, strict=True)
        )
        return f"<table cellpadding='4'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def printed(parts: Sequence[object], *, colour: bool) -> list[str]:
    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=_UNLIMITED, force_terminal=colour, no_color=not colour)
    for part in parts:
        console.print(part, markup=False, highlight=False, soft_wrap=True)
    return [line.rstrip() for line in out.getvalue().splitlines()]
