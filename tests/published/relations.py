"""What must hold between the figures of a paper, and by how much it may be off.

A printed number is right to half a unit of its last digit. A relation may be off by what that leaves open in all of its
numbers together (``slack``), and by no more.
"""

import math
import tomllib
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources

from vlgate.sources.published.figures import PAPERS, figures

SCALE = {"percent": 100, "fraction": 1, "count": 1}


@dataclass(frozen=True)
class Relation:
    """Something that should be zero or less, apart from rounding."""

    label: str
    off: float
    slack: float

    @property
    def holds(self):
        return self.off <= self.slack + 1e-9


@dataclass(frozen=True)
class Correction:
    """One place where a file says that a paper is wrong: the figures, and what they would be without the correction."""

    paper: str
    table: str
    where: tuple
    without: tuple
    printed: str

    def __str__(self):
        place = " ".join(value for _, value in self.where)
        return f"{self.paper} {self.table}, {place}: printed {self.printed}"

    def about(self, figure):
        return figure.table == self.table and all(getattr(figure, key) == value for key, value in self.where)

    def taken_back(self, figure):
        return replace(figure, **dict(self.without)) if self.about(figure) else figure


def corrections():
    """All corrections of values and of headings, from the files themselves."""
    for paper in PAPERS:
        text = (resources.files("vlgate.sources.published") / f"{paper}.toml").read_text(encoding="utf-8")
        for table in tomllib.loads(text, parse_float=Decimal)["table"]:
            for mark in table.get("marks", ()):
                if "corrected" in mark:
                    correction = Correction(paper, table["id"], tuple(mark["where"].items()), (), str(mark["printed"]))
                    (figure,) = filter(correction.about, figures(paper))
                    yield replace(correction, without=(("value", float(figure.printed / SCALE[figure.unit])),))
            for column in table["columns"]:
                if headed := column.get("headed"):
                    where = (("column", column["column"]),)
                    yield Correction(paper, table["id"], where, tuple(headed.items()), " ".join(headed.values()))


class Book:
    """A paper's figures, corrected, but for the one correction that is taken back."""

    def __init__(self, paper, without=None):
        found = figures(paper)
        self.found = tuple(map(without.taken_back, found)) if without else found

    def some(self, table, **where):
        """Figures of a table, in its order."""
        return [
            figure
            for figure in self.found
            if figure.table == table and all(getattr(figure, key) == value for key, value in where.items())
        ]

    def one(self, table, **where):
        """The only figure of a table that fits."""
        found = self.some(table, **where)
        assert len(found) == 1, f"{len(found)} figures of table {table} fit {where}"
        return found[0]


def name(figure):
    part = f" {figure.slice}" if figure.slice else ""
    return f"{figure.paper} {figure.table}: {figure.model}, {figure.column}{part}, {figure.metric}"


# These tables leave out trailing zeros: 50.0 stands for 50.00. Chance is printed with one digit.
TRIMMED = {*(("bla", table) for table in ("6.3", "7.1", "7.2", "7.3", "7.4"))}
TRIMMED |= {("vl_checklist", str(table)) for table in range(2, 8)}


def half(figure):
    """Half a unit of the last digit, as a fraction."""
    trimmed = (figure.paper, figure.table) in TRIMMED and figure.model != "chance"
    digits = 2 if trimmed else -figure.printed.as_tuple().exponent
    return 0.0 if figure.unit == "count" else 0.5 * 10.0**-digits / SCALE[figure.unit]


def sum_of(figure, parts, constant):
    """The sum of a constant and figures, each times a factor; and what rounding leaves open from it to a figure."""
    expected = constant + math.fsum(factor * part.value for factor, part in parts)
    return expected, half(figure) + math.fsum(abs(factor) * half(part) for factor, part in parts)


def total(figure, parts, *, constant=0.0, rule):
    expected, slack = sum_of(figure, parts, constant)
    return Relation(f"{name(figure)} = {rule}", abs(figure.value - expected), slack)


def at_most(figure, parts, *, constant=0.0, rule):
    """A figure is no more than a sum."""
    bound, slack = sum_of(figure, parts, constant)
    return Relation(f"{name(figure)} <= {rule}", max(0.0, figure.value - bound), slack)


def at_least(figure, parts, *, constant=0.0, rule):
    """A figure is no less than a sum."""
    bound, slack = sum_of(figure, parts, constant)
    return Relation(f"{name(figure)} >= {rule}", max(0.0, bound - figure.value), slack)


def mean(figure, parts, *, rule):
    return total(figure, [(1 / len(parts), part) for part in parts], rule=rule)


def mixture(figure, parts, *, rule):
    """A figure is the mean of others, weighted by counts: ``parts`` are (count, figure)."""
    whole = math.fsum(count for count, _ in parts)
    return total(figure, [(count / whole, part) for count, part in parts], rule=rule)


def same(figure, other):
    return total(figure, [(1, other)], rule=f"the same in table {other.table}")


def quotient(figure, part, whole):
    return Relation(
        f"{name(figure)} = {part.column} / {whole.column}", abs(figure.value - part.value / whole.value), half(figure)
    )


def exactly(figure, value, *, rule):
    return Relation(f"{name(figure)} = {rule}", abs(figure.value - value), half(figure))


def share(figure, n):
    """A figure is a number of cases out of ``n``."""
    off = abs(figure.value - round(figure.value * n) / n)
    return Relation(f"{name(figure)}: a share of {n}", off, half(figure))
