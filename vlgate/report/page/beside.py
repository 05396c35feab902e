"""The sections of a page from the files beside metrics.json; one that is damaged costs its section, never the page."""

import json
from collections.abc import Callable, Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from markupsafe import Markup

from vlgate.metrics.sentences import told_apart
from vlgate.probes.shrink.record import Cause, clusters
from vlgate.record.folder import ANALYSES, SHRUNK
from vlgate.record.results_folder import FOLDER, INDEX
from vlgate.report.explanations import SCHEMA
from vlgate.report.page.cards import SIDE, THUMB, anchor, encoded
from vlgate.report.page.template import html
from vlgate.report.shrunk import SHRUNK_FOLDER

MOST_EXPLAINED = 40  # the most explained cases of a page; the folder has all of them
_MAPS = 12  # of a case by interventions, and as many of attention
_WORDS = 8  # those whose change moves the margin most
MOST_SHRUNK = 40  # the most finds of a page, the smallest ones; the file has all of them
_CAUSES = 10
MOST_ROWS = 12  # the most rows of a table of an analysis; the file has all of them
_SCHEMA_OF_ANALYSES = 1
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


def explained(folder: Path, cards: Collection[str]) -> str:
    def section(file: Path) -> str:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA or not content["explanations"]:
            return ""
        cases = [_explained(file.parent, case, cards) for case in content["explanations"][:MOST_EXPLAINED]]
        return html("explained.html", {**content, "cases": cases})

    return _section(folder / FOLDER / INDEX, section)


def finds(folder: Path) -> str:
    def thumb(name: str | None) -> str:
        try:
            return encoded_file(folder / SHRUNK_FOLDER / Path(name).name, THUMB) if name else ""
        except (OSError, ValueError, SyntaxError):
            return ""  # the page shows the find without it

    def section(file: Path) -> str:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        rows.sort(key=lambda row: (len(row["steps"]), row["distance"]))
        for row in rows:
            places = [(said, name) for said in row["requests"] for name in ("score", "changed_score")]
            for (said, name), score in zip(places, told_apart(*(said[name] for said, name in places)), strict=True):
                said[name] = score
        causes = clusters([Cause(**row["cause"]) for row in rows if row["cause"]])[:_CAUSES]
        content = {"rows": rows[:MOST_SHRUNK], "all": len(rows), "causes": causes, "picture": thumb}
        return html("shrunk.html", content) if rows else ""

    return _section(folder / SHRUNK, section)


def analyses(folder: Path) -> str:
    def section(file: Path) -> str:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["schema"] != _SCHEMA_OF_ANALYSES:
            return _problem(f"{ANALYSES} has schema {content['schema']!r}, expected {_SCHEMA_OF_ANALYSES}")
        papers = []
        for paper in content["analyses"]:
            filled = [(table, table["rows"]) for table in paper["tables"] if table["rows"]]
            cut = [(table, rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)) for table, rows in filled]
            tables = [{**table, "rows": rows, "left": left} for table, rows, left in cut]
            few = any(row["small"] for table in tables for row in table["rows"])
            papers.append({**paper, "tables": tables, "few": few})
        problems = [f"{name}: {why}" for name, why in content["lacking"].items()]
        shown = {"papers": papers, "problems": problems, "number": _number}
        return html("analysed.html", shown) if papers or problems else ""

    damaged = f"{ANALYSES} is damaged; vlgate analyse PAPER RUN --save writes it again"
    return _section(folder / ANALYSES, section, damaged)


def _problem(problem: str) -> str:
    return html("analysed.html", {"papers": (), "problems": (problem,)})


def _section(file: Path, section: Callable[[Path], str], damaged: str = "") -> str:
    from jinja2 import TemplateError

    if not file.is_file():  # reading a pipe would block for ever
        return ""
    try:
        shown = section(file)
    except (*_DAMAGED, TemplateError):
        shown = _problem(damaged) if damaged else ""
    return Markup(shown)  # noqa: S704  # escaped by the template


def _explained(folder: Path, case: Mapping[str, Any], cards: Collection[str]) -> dict[str, Any]:
    named = anchor(f"{case['task']}/{case['case']}")
    maps: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for drawn in case["pictures"]:
        if len(maps[drawn["attention"]]) < _MAPS:
            source = encoded_file(folder / Path(drawn["file"]).name, SIDE)
            maps[drawn["attention"]].append({**drawn, "source": source})
    parts = [(finding["method"], part) for finding in case["findings"] for part in finding["parts"]]
    named_parts = [(method, part) for method, part in parts if part["word"] and part["effect"]]
    words = [(method, part["word"], -part["effect"], part["turns"]) for method, part in named_parts]
    words.sort(key=lambda word: -abs(word[2]))
    shown = {"anchor": named if named in cards else "", "words": words[:_WORDS]}
    return {**case, **shown, "maps": maps[False], "attention": maps[True]}


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.1e}"
    return "\N{EN DASH}" if value is None else str(value)


def encoded_file(file: Path, side: int) -> str:
    from PIL.Image import open as decoded

    with decoded(BytesIO(file.read_bytes())) as image:
        return encoded(image.convert("RGB"), side)
