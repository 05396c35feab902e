"""MMVP-VLM: nine visual patterns in which a CLIP takes two unlike images for alike, a statement about each image.

Tong et al. 2024, "Eyes Wide Shut? Exploring the Visual Shortcomings of Multimodal LLMs", section 3. The files are read
as the authors release them (``MMVP/MMVP_VLM`` of the Hugging Face hub): ``Questions.csv``, and the images in folders by
pattern. And MMVP, the questions with two options: ``MMVP/MMVP`` of the hub, or ``lmms-lab-eval/MMVP``, Parquet files
with the questions and the images inside.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, only_file, quad_requests
from vlgate.sources.reading.tables import table_files, table_rows
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_text
from vlgate.types import Ask, Case, LazyImage, Shape, Task

VLM, MLLM = "mmvp/vlm", "mmvp/questions"
SHAPES: Mapping[str, Shape] = MappingProxyType({VLM: "image_quad", MLLM: "questions"})
"""The shape of each task, by id."""

PATTERNS = (
    "orientation and direction",
    "presence of specific features",
    "state and condition",
    "quantity and count",
    "positional and relational context",
    "colour and appearance",
    "structural and physical characteristics",
    "text",
    "viewpoint and perspective",
)
"""The nine patterns, in the order of the pairs; the release assigns them by position, 15 pairs each."""

_EACH = 15
_NUMBERS = ("Index", "lineId")
"""Columns with the number of a question; without one it is that of the row."""

_PLACES = ("mmvp-vlm/Questions.csv", "mmvp_vlm/Questions.csv", "MMVP_VLM/Questions.csv")
_QUESTIONS = ("mmvp/Questions.csv", "MMVP/Questions.csv")
HUB = "lmms-lab-eval/MMVP"
_TABLE_PLACES = ("mmvp", "mmvp/data", "MMVP", "MMVP/data")
_TABLES = f"take the Parquet files of {HUB}, or Questions.csv and the images of MMVP/MMVP"

_Asked = tuple[Record, Callable[[str], LazyImage]]
"""A row of the questions, and a function that returns its image by its key."""

Item = TypeVar("Item")
_OPTION = re.compile(r"\(([a-z])\)\s*(.*?)\s*(?=\([a-z]\)|$)", re.IGNORECASE | re.DOTALL)


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file ``Questions.csv`` is in ``mmvp-vlm`` or ``mmvp`` of a data folder.

    Parquet files of ``mmvp/questions`` may be in ``mmvp`` or ``mmvp/data``.

    A case of ``mmvp/vlm`` is (image 1, text 1), (image 1, text 2), (image 2, text 1), (image 2, text 2); the images of
    the case are those of an odd id and the next one. A text is "a photo of " and the statement, as in the release's
    evaluation. Its figure is ``image``, with strict comparisons: the released code counts a tie of the second text as
    right, and one of the first as wrong. The pattern is a slice, and ``macro`` the mean of the nine patterns.

    A case of ``mmvp/questions`` is one question about two images whose answers differ.
    """
    file = only_file(options.folders, *_PLACES) if options.wanted(VLM) else None
    if file is not None:
        cases = tuple(_statements(file, options.images))
        whole = _EACH * len(PATTERNS)
        note = "" if len(cases) == whole else f"the release has {whole} pairs, 15 a pattern, and this file {len(cases)}"
        yield Task(id=VLM, capability="compositional", shape="image_quad", cases=cases, note=note)
    if options.wanted(MLLM):
        yield from _question_task(options)


def _statements(file: Path, finder: ImageFinder) -> Iterator[Case]:
    def case(numbered: tuple[int, tuple[Record, Record]]) -> Case:
        number, pair = numbered
        ids = _ids(pair, "Question ID")
        images = [finder.find("mmvp-vlm", f"{one}.jpg", file=file, record=pair[0].id) for one in ids]
        texts = [f"a photo of {record.text('Statement')}" for record in pair]
        pattern = PATTERNS[min(number // _EACH, len(PATTERNS) - 1)]
        return Case(
            id=f"{ids[0]}-{ids[1]}",
            requests=quad_requests(images, texts),
            truths=QUAD_TRUTHS,
            tags={"pattern": pattern, "macro": pattern},
            origin=f"{file.name}, record {pair[0].id}",
        )

    yield from each(case, enumerate(_pairs(file, _rows(file))))


def _question_task(options: ReadOptions) -> Iterator[Task]:
    file = only_file(options.folders, *_QUESTIONS)
    tables = table_files([folder / place for folder in options.folders for place in _TABLE_PLACES], ("*.parquet",))
    if file is not None and tables:
        raise DataError(file, None, f"has questions that are also in {tables[0]}", "keep one of them")
    if file is not None:
        find = partial(options.images.find, "mmvp")
        asked = [(record, partial(find, file=record.file, record=record.id)) for record in _rows(file)]
        pairs = _pairs(file, asked)
    elif tables:
        rows = table_rows(tables, ("image",), _TABLES)
        pairs = _pairs(tables[0], [(row.record, partial(row.image, column="image")) for row in rows])
    if file is not None or tables:
        cases = tuple(each(_question_case, pairs))
        note = f"the file is that of {HUB}, in which the answers of two pairs are corrected" if tables else ""
        yield Task(id=MLLM, capability="directional", shape="questions", cases=cases, note=note)


def _question_case(pair: tuple[_Asked, _Asked]) -> Case:
    first, second = (record for record, _ in pair)
    ids = _ids((first, second), next((name for name in _NUMBERS if name in first.fields), ""))
    asked = []
    truths = []
    for one, (record, image) in zip(ids, pair, strict=True):
        choices = _choices(record)
        truths.append(_right(record, choices))
        question = record.text("Question")
        texts, letters = tuple(choices.values()), tuple(choices)
        asked.append(Ask(image=image(f"{one}.jpg"), question=question, choices=texts, aliases=letters))
    return Case(
        id=f"{ids[0]}-{ids[1]}",
        requests=tuple(asked),
        truths=tuple(truths),
        origin=f"{first.file.name}, record {first.id}",
    )


def _choices(record: Record) -> Mapping[str, str]:
    """The options of a question by their letters, from a text such as ``(a) Open (b) Closed``."""
    found = {letter.lower(): text for letter, text in _OPTION.findall(record.text("Options"))}
    if len(found) < 2 or not all(found.values()):  # a choice
        record.reject("Options", "options such as '(a) Open (b) Closed'")
    return found


def _right(record: Record, choices: Mapping[str, str]) -> str:
    letter = record.text("Correct Answer").strip().strip("()").lower()
    if letter not in choices:
        record.reject("Correct Answer", f"one of {', '.join(f'({one})' for one in choices)}")
    return choices[letter]


def _rows(file: Path) -> list[Record]:
    lines = csv.DictReader(StringIO(read_text(file, FETCH_AGAIN).lstrip("\ufeff"), newline=""))
    return [Record(file, f"in row {number}", fields) for number, fields in enumerate(lines, 1)]


def _pairs(file: Path, rows: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """The rows of the file in pairs: an odd and the next even one."""
    if not rows or len(rows) % 2:
        raise DataError(file, None, f"has {len(rows)} rows, expected an even number", FETCH_AGAIN)
    return zip(rows[::2], rows[1::2], strict=True)


def _ids(pair: tuple[Record, Record], field: str) -> tuple[int, int]:
    """The ids of two rows: an odd one and the next; without a column of ids, the numbers of the rows."""
    first, second = (_number(record, field) for record in pair)
    if first % 2 == 0 or second != first + 1:
        raise pair[1].error(f"the ids of the pair are {first} and {second}, expected an odd one and the next")
    return first, second


def _number(record: Record, field: str) -> int:
    given = record.fields.get(field) if field else record.id.removeprefix("in row ")
    text = str(given).strip() if type(given) in {str, int} else ""
    if not text.isdecimal():
        record.reject(field, "a whole number")
    return int(text)
