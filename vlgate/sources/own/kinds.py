"""The kinds of a user's own cases: the fields of a line, and the questions and texts that they become."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from vlgate.errors import did_you_mean, short
from vlgate.judging.normal import normal_answer
from vlgate.metrics.shapes import SHAPES
from vlgate.sources.reading.records import Record
from vlgate.sources.reading.source import QUAD_TRUTHS, Find, quad_requests, texts_about
from vlgate.types import Ask, Capability, LazyImage, Match, Request, Shape

# Each function returns the requests of a line, and their truths.
Asked = tuple[Sequence[Request], tuple[bool | str, ...]]
_CROSS = 'cross the answers, such as [["yes", "no"], ["no", "yes"]]'
YES_NO = ("yes", "no")  # the choices of questions without choices whose right answers are all yes or no


def question_pair(record: Record, find: Find) -> Asked:
    answers = _answer(record, "answer"), _answer(record, "perturbed_answer")
    choices, kind = _choices(record, answers), record.fields["kind"]
    if (normal_answer(answers[0]) == normal_answer(answers[1])) != (kind == "invariance"):
        expected = "the same answer twice" if kind == "invariance" else "two different answers"
        other = next(name for name in _PAIRS if name != kind)
        problem = f"kind is {kind!r}, but the answers are {answers}; expected {expected}"
        raise record.error(problem, f"mend an answer, or write the kind {other!r}")
    image = record.text("image")
    second = record.text("perturbed_image") if "perturbed_image" in record.fields else image
    asked = ((image, record.text("question")), (second, record.text("perturbed")))
    return tuple(Ask(image=find(record, name), question=text, choices=choices) for name, text in asked), answers


def twins(record: Record, find: Find) -> Asked:
    answers = _answer(record, "prior"), _answer(record, "answer")
    if normal_answer(answers[0]) == normal_answer(answers[1]):
        problem = f"answer and prior are both {answers[0]!r}; expected the answers of two different images"
        raise record.error(problem, "write the answer about image as answer, and that about twin as prior")
    choices, question = _choices(record, answers), record.text("question")
    images = [find(record, record.text(field)) for field in ("twin", "image")]
    return tuple(Ask(image=image, question=question, choices=choices) for image in images), answers


def single(record: Record, find: Find) -> Asked:
    answer = normal_answer(_answer(record, "answer"))
    if answer not in YES_NO:
        wanted = "yes or no, unless the line has a perturbed question too"
        record.reject("answer", wanted, "ask a question that is answered with yes or no")
    image = find(record, record.text("image"))
    return (Ask(image=image, question=record.text("question"), choices=YES_NO),), (answer,)


def crossed(record: Record, find: Find) -> Asked:
    images, questions = two_images(record, find), _distinct(record, "questions", 2)
    rows = record.fields.get("answers")
    if type(rows) is not list or len(rows) != len(images) or any(type(row) is not list for row in rows):
        record.reject("answers", "two lists, the answers about the first image and about the second")
    if any(type(answer) is bool for row in rows for answer in row):
        record.reject("answers", "two lists of texts", 'write "yes" and "no" in quotes')
    answers = tuple(answer for row in rows for answer in replace(record, fields={"answers": row}).texts("answers", 2))
    choices = _choices(record, answers)
    # A model that does not look, or does not read the question, must not get both answers right.
    plain = [normal_answer(answer) for answer in answers]  # two about the first image, two about the second
    for number, question in enumerate(questions):
        if plain[number] == plain[number + 2]:
            raise record.error(f"both images have the answer {answers[number]!r} to {question!r}", _CROSS)
    for number, name in zip((0, 2), record.texts("images", 2), strict=True):
        if plain[number] == plain[number + 1]:
            raise record.error(f"both questions have the answer {answers[number]!r} about {name!r}", _CROSS)
    return tuple(Ask(image=image, question=text, choices=choices) for image in images for text in questions), answers


def two_images(record: Record, find: Find) -> list[LazyImage]:
    names = record.texts("images", 2)
    images = [find(record, name) for name in names]
    if images[0] == images[1]:
        raise record.error(f"the images are both {short(names[0])!r}; expected two", "name another image")
    return images


def refuse_same(record: Record, what: str, texts: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Refuse texts that are among others; case, spaces, closing punctuation and Unicode form make no difference."""
    known = {normal_answer(text): text for text in others}
    for text in texts:
        if (other := known.get(normal_answer(text))) is not None:
            alike = "" if other == text else f" ({other!r} reads the same)"
            raise record.error(f"{what} both {text!r}{alike}, so no model can be right", "change one of them")


def _distinct(record: Record, field: str, number: int | None = None) -> tuple[str, ...]:
    """Return the texts of a list; one that is there twice would make chance lower than it is."""
    texts = record.texts(field, number)
    if len(set(texts)) < len(texts):
        repeated = next(text for text in texts if texts.count(text) > 1)
        raise record.error(f"field {field!r} holds {short(repeated)!r} twice", "change or leave out one of them")
    return texts


def _answer(record: Record, field: str) -> str:
    value = record.fields.get(field)
    if type(value) is bool:
        record.reject(field, "a text", f'write "{"yes" if value else "no"}" in quotes')
    if type(value) in {int, float}:
        record.reject(field, "a text", f'write "{value}" in quotes')
    if type(value) is list and value and type(value[0]) is str:
        record.reject(field, "one text", f"write {json.dumps(short(value[0]), ensure_ascii=False)} without brackets")
    return record.text(field)


def _choices(record: Record, answers: tuple[str, ...]) -> tuple[str, ...]:
    choices = record.fields.get("choices", [])
    if type(choices) is not list or any(type(choice) is not str or not choice.strip() for choice in choices):
        record.reject("choices", "a list of strings", 'write for example ["red", "blue"], or leave the field out')
    if choices:
        _distinct(record, "choices")
    plain = {normal_answer(answer) for answer in answers}
    if choices and not plain <= set(map(normal_answer, choices)):
        problem = f"answers {answers} are not all among the choices {choices}"
        raise record.error(problem, "add those that are missing, or leave out the field choices")
    if not choices and plain <= set(YES_NO):
        return YES_NO  # so that a model that only matches can answer, too
    return tuple(choices)


def choice(record: Record, find: Find) -> Asked:
    image, caption = find(record, record.text("image")), record.text("caption")
    foils = (record.text("foil"),) if "foil" in record.fields else _distinct(record, "foils")
    refuse_same(record, "caption and foil are", (caption,), foils)
    return texts_about(image, (caption, *foils)), (True, *(False,) * len(foils))


def image_choice(record: Record, find: Find) -> Asked:
    names = record.text("image"), *_distinct(record, "other_images")
    images = [find(record, name) for name in names]
    if images[0] in images[1:]:
        raise record.error(f"image {short(names[0])!r} is also among other_images", "leave it out there")
    caption = record.text("caption")
    return tuple(Match(image=image, text=caption) for image in images), (True, *(False,) * (len(names) - 1))


def statement(record: Record, find: Find) -> Asked:
    truth = record.fields.get("is_true")
    if type(truth) is not bool:
        record.reject("is_true", "true or false", "write one of them without quotes")
    return (Match(image=find(record, record.text("image")), text=record.text("statement")),), (truth,)


def quad(record: Record, find: Find) -> Asked:
    images = two_images(record, find)
    captions = record.texts("captions", 2)
    refuse_same(record, "the captions are", captions[:1], captions[1:])
    return quad_requests(images, captions), QUAD_TRUTHS


def by_shape(record: Record, find: Find) -> Asked:
    spec = SHAPES[record.text("shape")]
    false = {second for _, second in spec.contrasts}
    truths = tuple(index not in false for index in range(len(spec.fields)))
    texts = [record.text(field) for field in spec.fields]
    true = tuple(text for text, truth in zip(texts, truths, strict=True) if truth)
    refuse_same(record, "a true and a false text are", true, tuple(text for text in texts if text not in true))
    return texts_about(find(record, record.text("image")), texts), truths


def sentence_set(record: Record, find: Find) -> Asked:
    true, given = _distinct(record, "true", 2), record.fields.get("false")
    if type(given) not in {str, list} or not given:
        record.reject("false", "a text, or a list of two strings")
    false = (record.text("false"),) if type(given) is str else _distinct(record, "false", 2)
    refuse_same(record, "a true and a false sentence are", true, false)
    truths = (*(True for _ in true), *(False for _ in false))
    return texts_about(find(record, record.text("image")), (*true, *false)), truths


ANYWHERE = ("task", "id", "tags")  # the fields that a line of every kind may have
_BOX = "box named"


@dataclass(frozen=True)  # not slotted: the fields are kept once they are split
class CaseKind:
    shape: Shape
    capability: Capability
    musts: str  # fields, apart by spaces
    ask: Callable[[Record, Find], Asked]  # returns the requests and the truths of a line
    may: str = ""

    @cached_property
    def needed(self) -> list[str]:
        return self.musts.split()

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return (*ANYWHERE, *self.needed, *self.may.split())

    @cached_property
    def remedy(self) -> str:
        may = ", ".join((*ANYWHERE[1:], *self.may.split()))
        return f"write a line with the fields task, {', '.join(self.needed)}, and perhaps {may}"


# The kinds of case, each by the field that no other kind has.
_KINDS: Mapping[str, CaseKind] = {
    "foil": CaseKind("pair", "foil", "image caption foil", choice, _BOX),
    "foils": CaseKind("choice", "foil", "image caption foils", choice, _BOX),
    "other_images": CaseKind("image_choice", "foil", "image other_images caption", image_choice),
    "statement": CaseKind("single", "foil", "image statement is_true", statement, _BOX),
    "captions": CaseKind("quad", "compositional", "images captions", quad),
    "true": CaseKind("set", "compositional", "image true false", sentence_set, _BOX),
    "questions": CaseKind("question_quad", "compositional", "images questions answers", crossed, "choices"),
}
_TWO_TRUE = CaseKind("two_true", "foil", "image true false", sentence_set, _BOX)
_TWINS = CaseKind("twin_questions", "directional", "image twin question answer prior", twins, "choices")
_SINGLE = CaseKind("single", "foil", "image question answer", single, _BOX)
_ASKED = "image question answer perturbed perturbed_answer kind"
_PAIRS: Mapping[str, CaseKind] = {
    "invariance": CaseKind("questions", "invariance", _ASKED, question_pair, "choices perturbed_image"),
    "directional": CaseKind("questions", "directional", _ASKED, question_pair, "choices perturbed_image"),
}
_MARKS = (*_KINDS, "question")
_EVERY = (*_KINDS.values(), _TWO_TRUE, *_PAIRS.values(), _TWINS, _SINGLE)


def kind_of(record: Record) -> CaseKind:
    named = [name for name, spec in SHAPES.items() if spec.fields] if "shape" in record.fields else []
    if named:
        if record.text("shape") not in named:
            record.reject("shape", " or ".join(map(repr, named)))
        return _kind_of_shape(record.text("shape"))
    marks = [mark for mark in _MARKS if mark in record.fields]
    if "prior" in record.fields and marks in ([], ["question"]):
        return _TWINS
    if len(marks) > 1:
        both = " and ".join(map(repr, marks))
        raise record.error(f"has {both}, which belong to different kinds of case", "leave out all but one of them")
    if not marks or "prior" in record.fields:
        known = dict.fromkeys(field for kind in _EVERY for field in kind.fields)
        unknown = {field: did_you_mean(field, known) for field in record.fields if field not in known}
        hint = next((f"field {field!r} is unknown ({hint}); " for field, hint in unknown.items() if hint), "")
        kinds = "; ".join(dict.fromkeys(", ".join(kind.needed) for kind in _EVERY))
        raise record.error(f"{hint}expected the fields of one kind of case ({kinds}), not {', '.join(record.fields)}")
    if marks == ["true"] and type(record.fields.get("false")) is str:
        return _TWO_TRUE
    if marks != ["question"]:
        return _KINDS[marks[0]]
    if {"perturbed", "perturbed_answer", "perturbed_image", "kind"}.isdisjoint(record.fields):
        return _SINGLE
    asked = replace(record, remedy='write "invariance" as kind if both answers are the same, otherwise "directional"')
    if asked.text("kind") not in _PAIRS:
        asked.reject("kind", " or ".join(map(repr, _PAIRS)))
    return _PAIRS[asked.text("kind")]


@lru_cache(maxsize=64)  # the lines of a task must be of the same kind, not of equal ones
def _kind_of_shape(shape: Shape) -> CaseKind:
    return CaseKind(shape, "foil", " ".join(("shape image", *SHAPES[shape].fields)), by_shape, _BOX)
