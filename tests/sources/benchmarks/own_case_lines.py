"""Lines of a user's own cases, which the tests of reading them share."""

import csv
import io
import json
import re

import pytest

from vlgate.errors import DataError
from vlgate.sources.own.cases import read
from vlgate.sources.reading.source import ReadOptions

PAIR = {"task": "mine/spatial", "id": "p", "image": "photos/1.jpg", "caption": "a left of b", "foil": "b left of a"}
QUAD = {"task": "mine/swap", "id": "q", "images": ["a.jpg", "b.jpg"], "captions": ["a on b", "b on a"]}
SET = {"task": "mine/set", "id": "s", "image": "a.jpg", "true": ["t1", "t2"], "false": ["f1", "f2"]}
SAME = {
    "task": "mine/rephrase",
    "id": "i",
    "image": "a.jpg",
    "question": "Is there a dog?",
    "answer": "yes",
    "perturbed": "Can a dog be seen?",
    "perturbed_answer": "Yes",
    "kind": "invariance",
}
OTHER = SAME | {
    "task": "mine/negation",
    "id": "d",
    "perturbed": "Is there no dog?",
    "perturbed_answer": "no",
    "kind": "directional",
}
CHOICE = {"task": "mine/choice", "id": "c", "image": "a.jpg", "caption": "two cups", "foils": ["a cup", "six cups"]}
IMAGES = {"task": "mine/which", "id": "w", "image": "a.jpg", "other_images": ["b.jpg", "c.jpg"], "caption": "two cups"}
STATEMENT = {"task": "mine/statement", "id": "t", "image": "a.jpg", "statement": "a cup is there", "is_true": False}
SINGLE = {"task": "mine/single", "id": "o", "image": "a.jpg", "question": "Is there a cup?", "answer": "Yes."}
TWO_TRUE = {"task": "mine/two", "id": "2", "image": "a.jpg", "true": ["a cup", "one cup"], "false": "no cup"}
CROSSED = {
    "task": "mine/crossed",
    "id": "x",
    "images": ["a.jpg", "b.jpg"],
    "questions": ["Is the cup red?", "Is the cup blue?"],
    "answers": [["yes", "no"], ["no", "yes"]],
}
EVERY = (PAIR, QUAD, SET, SAME, OTHER, CHOICE, IMAGES, STATEMENT, SINGLE, TWO_TRUE, CROSSED)
_SHAPES = "pair quad set questions questions choice image_choice single single two_true question_quad".split()
SHAPES = {fields["task"]: shape for fields, shape in zip(EVERY, _SHAPES, strict=True)}


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def write(folder, *rows, name="cases.jsonl"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))


def cell(value):
    return value if isinstance(value, str) else json.dumps(value)


def table(rows, separator, newline="\r\n"):
    """Rows as a table, with empty cells for the fields that they lack."""
    columns = list(dict.fromkeys(field for row in rows for field in row))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=newline)
    writer.writerow(columns)
    writer.writerows([cell(row[field]) if field in row else "" for field in columns] for row in rows)
    return text.getvalue()


def tasks(*folders, wanted=lambda _: True):
    return list(read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


def one(folder, fields):
    write(folder, fields)
    [task] = tasks(folder)
    [case] = task.cases
    return task, case


def problem(folder, *rows, line=None):
    """Return the error of the last row, which must name the file, its line and a remedy."""
    write(folder, *rows)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    assert str(folder / "cases.jsonl") in str(caught.value)
    assert f"line {line or len(rows)}" in str(caught.value)
    verbs = "write|put|copy|download|did you mean|cut|rename|encode|give|name|leave|change|add|mend|cross|ask"
    assert re.match(f"({verbs}) ", str(caught.value).rpartition("; ")[2])
    return str(caught.value)
