"""What the tests of many rooms build: images, cases, tasks, verdicts, and the rows of a table beside a test.

Import them by name: ``from builders import image, pair_case, task_of, table``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import ModelLoadError
from vlgate.judging.verdicts import judge
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Task


def image(key):
    """An image that fails the test if it is decoded."""
    return LazyImage(key=str(key), load=lambda: pytest.fail(f"image {key} was decoded"), where=str(key))


def coloured(key, colour=(200, 30, 30), size=(8, 6)):
    return LazyImage(key=str(key), load=lambda: Image.new("RGB", size, colour), where=str(key))


def noise(seed, size=(8, 8)):
    """An image of random pixels, the same for a seed."""

    def load():
        return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8))

    return LazyImage(key=f"{seed}.jpg", load=load, where=f"{seed}.jpg")


def pair_case(number, caption="a red cup", foil="a red cat", picture=None, **how):
    """A caption and its foil beside one image."""
    shown = picture or image(f"{number}.jpg")
    requests = (Match(image=shown, text=caption), Match(image=shown, text=foil))
    return Case(id=f"pair {number}", requests=requests, truths=(True, False), **how)


def question_case(number, question="Is it red?", truth="yes", choices=("yes", "no"), picture=None, **how):
    """A question about one image."""
    asked = Ask(image=picture or image(f"{number}.jpg"), question=question, choices=choices)
    return Case(id=f"question {number}", requests=(asked,), truths=(truth,), **how)


def task_of(cases, task="x/pairs", capability="foil", shape="pair", **how):
    return Task(id=task, capability=capability, shape=shape, cases=tuple(cases), **how)


def judged(task, replies, **how):
    """The verdicts of a task's first cases, from one list per case with one dictionary per request."""
    predictions = {
        request: Prediction(request=request, **reply)
        for case, given in zip(task.cases, replies, strict=False)
        for request, reply in zip(case.requests, given, strict=True)
    }
    return judge(Batch(task=task, positions=tuple(range(len(replies))), **how), predictions)


def table(path, test=None):
    """The rows of a tab-separated file without its first line; ``none`` is None and the sign U+23CE a line break.

    With ``test`` those rows of a file for several tests that begin with the test's name, without it; a row of one
    other cell is that cell.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.replace("\u23ce", "\n").split("\t") for line in lines]
    rows = [tuple(None if cell == "none" else cell for cell in row) for row in cells]
    if test is None:
        return rows
    return [row[1] if len(row) == 2 else row[1:] for row in rows if row[0] == test]


def json_table(path, name):
    """The rows of a tab-separated file that begin with a name, without it; their other cells are JSON."""
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [tuple(map(json.loads, cells)) for start, *cells in rows if start == name]


def tabled(test):
    """Run a test for each of its rows in the table beside its file: a cell is plain text or JSON, a list a tuple."""
    text = Path(test.__code__.co_filename).with_suffix(".tsv").read_text(encoding="utf-8")
    names, *rows = text.partition(f"# {test.__name__}: ")[2].partition("\n# ")[0].splitlines()
    cells = [tuple(map(_value, row.split("\t"))) for row in rows]
    return pytest.mark.parametrize(names.split(", "), cells)(test)


def _value(cell):
    try:
        return _tuples(json.loads(cell))
    except ValueError:
        return cell


def _tuples(value):
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _numbered(rows, name):
    return [
        Case(id=f"{name}{number}", requests=tuple(requests), truths=tuple(truths))
        for number, (requests, truths) in enumerate(rows)
    ]


def texts_task(*rows, shape="pair", truths=None, name="x/pairs", case="case-"):
    """A task of texts: rows of the key of an image, a true text and false ones, or texts of the ``truths``."""
    asked = [[Match(image=image(key), text=text) for text in texts] for key, *texts in rows]
    cases = [(requests, truths or (True, *[False] * (len(requests) - 1))) for requests in asked]
    return task_of(_numbered(cases, case), name, shape=shape)


def quads_task(*rows, name="x/quads"):
    """A task of two images and two captions: rows of two keys and two texts, each true of one image."""
    asked = [[Match(image=image(key), text=text) for key in row[:2] for text in row[2:]] for row in rows]
    cases = [(requests, (True, False, False, True)) for requests in asked]
    return task_of(_numbered(cases, "case-"), name, "compositional", "quad")


def asked_task(*rows, shape="questions", choices=("yes", "no"), name="x/questions", case="case-"):
    """A task of questions: rows of the key of an image, a question, its answer, perhaps another question and answer."""
    cases = [
        ([Ask(image=image(key), question=text, choices=choices) for text in asked[::2]], asked[1::2])
        for key, *asked in rows
    ]
    return task_of(_numbered(cases, case), name, "invariance", shape)


def model(**parts):
    """A model with these methods, each a function of what it is asked, and attributes."""
    return type("Model", (), {name: staticmethod(part) if callable(part) else part for name, part in parts.items()})()


def predictor(asked, size=64, **how):
    """A predictor that asks a model in calls of at most ``size``."""
    return ModelPredictor(model=asked, name="lxmert", caller=Caller(name="lxmert", size=size), **how)


def write_lines(file, rows):
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def read_lines(file):
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def refusal(act, *arguments, **options):
    """The message of the ModelLoadError that a call ends in."""
    with pytest.raises(ModelLoadError) as caught:
        act(*arguments, **options)
    return str(caught.value)
