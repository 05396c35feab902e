"""Writes and reads files of question pairs: one question per line, or GQA's format of questions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import UnknownNameError
from vlgate.perturb.questions import QuestionPair
from vlgate.sources.reading.records import Record, keyed_records, lined_records
from vlgate.sources.scene_graphs.carets_files import write_carets

_REMEDY = "name a file that vlgate make questions wrote, with all its lines, or one of GQA's questions"
# GQA's structural and semantic types of a question, by its kind (Hudson and Manning 2019, section 3.5).
_BUILT_AND_ABOUT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "object": ("verify", "obj"),
        "object-related": ("verify", "rel"),
        "conjunction": ("logical", "obj"),
        "disjunction": ("logical", "obj"),
        "attribute": ("verify", "attr"),
        "attribute-related": ("verify", "attr"),
        "object-choice-described": ("choose", "cat"),
        "object-choice-related": ("choose", "cat"),
        "attribute-choice": ("choose", "attr"),
        "attribute-choice-related": ("choose", "attr"),
        "action-choice": ("choose", "attr"),
        "action-choice-related": ("choose", "attr"),
    }
)

_KEYED = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]


def write_questions(pairs: Iterable[QuestionPair], file: Path, form: str) -> int:
    """Write every question once, in the order of the pairs, in the format ``form``: "jsonl", "gqa" or "carets".

    - ``jsonl``: one object per line with ``id``, ``image``, ``question``, ``choices``, ``answer``; ``pair``, ``half``
      ("original" or "perturbed"), ``test``, ``kind``, ``rule`` and ``objects``; and, if the image is perturbed,
      ``perturbation`` and ``boxes`` [x, y, w, h].
    - ``gqa``: ``{id: {"imageId", "question", "answer", "fullAnswer", "isBalanced", "groups", "types", ...}}``, the
      format in which GQA releases its questions. It cannot express a perturbed image, so questions about perturbed
      images are left out.
    - ``carets``: the list of CARETS' release, see `carets_files.write_carets`; of the pairs of one test.

    If several pairs ask the same question about an unperturbed image, it is written for the first of them. The same
    pairs give the same bytes.

    Returns: the number of questions.
    Raises: UnknownNameError for another ``form``; FileExistsError if the file exists already; OSError if it cannot be
        written.
    """
    if form not in FORMS:
        raise UnknownNameError("format of questions", form, FORMS)
    if form == "carets":
        return write_carets(pairs, file)
    return _WRITERS[form](_questions(pairs), file)


def images_in(file: Path) -> frozenset[str]:
    """Return the names of the images in a file that ``write_questions`` wrote, or in a file of GQA's questions.

    Raises: DataError, which names the file and line, if it is another file.
    """
    records, field = (keyed_records(file), "imageId") if _is_keyed(file) else (lined_records(file, _REMEDY), "image")
    return frozenset(_image(record, field) for record in records)


def _is_keyed(file: Path) -> bool:
    """Return whether the file begins like GQA's, with an object in an object; in JSON lines there is none."""
    if not file.is_file():  # reading a pipe would block for ever
        return False
    try:
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            return _KEYED.match(stream.read(2**16)) is not None
    except OSError:  # reading the records raises a better error
        return False


def _image(record: Record, field: str) -> str:
    if field not in record.fields:
        raise record.error(f"field {field!r} is missing, expected an image's name", _REMEDY)
    return record.text(field)


def _questions(pairs: Iterable[QuestionPair]) -> Rows:
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        for half, name in enumerate(("original", "perturbed")):
            asked = pair.graph.id, pair.questions[half]
            hidden = pair.foreground if half != pair.reverse else pair.instead
            if pair.perturbation and (hidden or half != pair.reverse):
                row = _row(pair, half, name)
                boxes = [[box.x, box.y, box.w, box.h] for box in hidden]
                yield f"{pair.test}/{pair.id}/{name}", row | {"perturbation": pair.perturbation, "boxes": boxes}
            elif asked not in seen:
                seen.add(asked)
                yield f"{pair.test}/{pair.id}/{name}", _row(pair, half, name)


def _row(pair: QuestionPair, half: int, name: str) -> Row:
    return {
        "image": pair.graph.id,
        "question": pair.questions[half],
        "choices": list(pair.choices[half]),
        "answer": pair.answers[half],
        "pair": pair.id,
        "half": name,
        "test": pair.test,
        "kind": pair.kind,
        "rule": pair.rule,
        "objects": list(pair.objects),
    }


def _write_lines(rows: Rows, file: Path) -> int:
    written = 0
    with file.open("x", encoding="utf-8", newline="\n") as stream:
        for name, row in rows:
            stream.write(json.dumps({"id": name, **row}, ensure_ascii=False) + "\n")
            written += 1
    return written


def _write_gqa(rows: Rows, file: Path) -> int:
    found = {name: _as_gqa(name, row) for name, row in rows if "perturbation" not in row}
    with file.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(json.dumps(found, ensure_ascii=False))
    return len(found)


def _as_gqa(name: str, row: Row) -> Row:
    built, about = _BUILT_AND_ABOUT[row["kind"]]
    return {
        "semantic": [],
        "entailed": [],
        "equivalent": [name],  # as GQA has it: a question is equivalent to itself
        "question": row["question"],
        "imageId": row["image"],
        "isBalanced": True,
        "groups": {"global": None, "local": None},
        "answer": row["answer"],
        "semanticStr": "",
        "annotations": {"answer": {}, "question": {}, "fullAnswer": {}},
        "types": {"detailed": row["kind"], "semantic": about, "structural": built},
        "fullAnswer": row["answer"],
    }


_WRITERS: Mapping[str, Callable[[Rows, Path], int]] = MappingProxyType({"jsonl": _write_lines, "gqa": _write_gqa})
FORMS = (*_WRITERS, "carets")
"""The formats of questions."""
