"""Writes and reads files of question pairs: one question per line, GQA's format of questions, or CARETS's."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import UnknownNameError
from vlgate.perturb.questions import Asked, QuestionPair, Test
from vlgate.sources.reading.records import keyed_records, lined_records

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]

# The end of the file's name and of the perturbed question's id, by test. Perturbed images have no form in CARETS.
ENDINGS: Mapping[Test, tuple[str, str]] = {
    "rephrase-inv": ("template", "t"),
    "order-inv": ("symmetric", "s"),
    "ontological-inv": ("ontology_ontology", "h"),
    "negation-dir": ("negation", "n"),
    "antonym-dir": ("antonym", "a"),
}
# Of each kind, its name in CARETS, and GQA's structural and semantic types (Hudson and Manning 2019, section 3.5).
_KINDS: Mapping[str, tuple[str, str, str]] = {
    "object": ("object_verification", "verify", "obj"),
    "object-related": ("object_verification_rel", "verify", "rel"),
    "conjunction": ("object_verification_conjunction", "logical", "obj"),
    "disjunction": ("object_verification_disjunction", "logical", "obj"),
    "attribute": ("attribute_verification", "verify", "attr"),
    "attribute-related": ("attribute_verification_rel", "verify", "attr"),
    "object-choice-described": ("object_choice_by_attr", "choose", "cat"),
    "object-choice-related": ("object_choice_rel", "choose", "cat"),
    "attribute-choice": ("attribute_choice", "choose", "attr"),
    "attribute-choice-related": ("attribute_choice_rel", "choose", "attr"),
    "action-choice": ("action_choice", "choose", "attr"),
    "action-choice-related": ("action_choice_rel", "choose", "attr"),
}


# As in the release, whose ``dataset.py`` and vlgate's reader take these files. The original comes before its perturbed
# question. Pairs of images (VISUAL-INV) are left out, since the release has no form for them.
def write_carets(pairs: Iterable[QuestionPair], folder: Path) -> int:
    files: dict[str, list[Row]] = defaultdict(list)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for pair in pairs:
        if pair.test not in ENDINGS or pair.perturbation:
            continue
        ending, letter = ENDINGS[pair.test]
        kind = _KINDS[pair.kind][0]
        name = f"{kind}_{ending}_test.json"
        image = pair.graph.id.replace("-", "_")
        number = f"{image}-0-{counts[name, image]}"
        counts[name, image] += 1
        for half, identity in enumerate((number, f"{number}-{letter}")):
            objects = pair.objects[::-1] if half and pair.asked[1].x is pair.asked[0].y else pair.objects
            files[name].append(
                {
                    "img_id": pair.graph.id,
                    "label": {pair.answers[half]: 1.0},
                    "question_id": identity,
                    "sent": pair.questions[half],
                    "question_type": kind,
                    "assignment": _assignment(pair, pair.asked[half], objects, pair.choices[half]),
                }
            )
    folder.mkdir()
    for name, rows in files.items():
        (folder / name).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8", newline="\n")
    return sum(map(len, files.values()))


def _assignment(
    pair: QuestionPair, asked: Asked, objects: tuple[str | None, ...], choices: tuple[str, ...]
) -> dict[str, Any]:
    x, other = asked.x, asked.y or asked.x.other
    noun = pair.answers[0] if pair.kind.startswith("object-choice") else x.noun
    attributes = [*x.attributes, *([asked.attribute] if asked.attribute else [])]
    found: dict[str, Any] = {"obj1": noun, "obj1_id": objects[0], "attrs1": attributes}
    if other is not None:
        found |= {"obj2": other.noun, "obj2_id": objects[1], "attrs2": list(other.attributes)}
    if x.relation:
        found["2rel1"] = x.relation
    if pair.kind.startswith("object-choice"):
        found |= {"obj-category1": x.noun, "obj-category-options1": list(choices)}
    elif "choice" in pair.kind:
        found |= {"category1": asked.category, "category-options1": list(choices)}
    return found


_REMEDY = "name a file that vlgate make questions wrote, with all its lines, or one of GQA's questions"
_KEYED = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


def write_questions(pairs: Iterable[QuestionPair], file: Path, form: str) -> int:
    """Write every question once, in the order of the pairs, in the format ``form``.

    ``jsonl`` has an object per line, if the image is perturbed with ``perturbation`` and ``boxes`` [x, y, w, h];
    ``gqa`` cannot express a perturbed image, so such questions are left out; ``carets`` takes the pairs of one test.
    """
    if form not in FORMS:
        raise UnknownNameError("format of questions", form, FORMS)
    if form == "carets":
        return write_carets(pairs, file)
    rows = [row for row in _questions(pairs) if form == "jsonl" or "perturbation" not in row[1]]
    with file.open("x", encoding="utf-8", newline="\n") as stream:
        if form == "gqa":
            stream.write(json.dumps({name: _as_gqa(name, row) for name, row in rows}, ensure_ascii=False))
        else:
            stream.writelines(json.dumps({"id": name, **row}, ensure_ascii=False) + "\n" for name, row in rows)
    return len(rows)


def images_in(file: Path) -> frozenset[str]:
    records, field = (keyed_records(file), "imageId") if _is_keyed(file) else (lined_records(file, _REMEDY), "image")
    names = set()
    for record in records:
        if field not in record.fields:
            raise record.error(f"field {field!r} is missing, expected an image's name", _REMEDY)
        names.add(record.text(field))
    return frozenset(names)


def _is_keyed(file: Path) -> bool:
    if not file.is_file():  # reading a pipe would block for ever
        return False
    try:
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            return _KEYED.match(stream.read(2**16)) is not None
    except OSError:  # reading the records raises a better error
        return False


def _questions(pairs: Iterable[QuestionPair]) -> Rows:
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        for half, name in enumerate(("original", "perturbed")):
            asked = pair.graph.id, pair.questions[half]
            hidden = pair.foreground if half != pair.reverse else pair.instead
            row = {
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
            if pair.perturbation and (hidden or half != pair.reverse):
                boxes = [[box.x, box.y, box.w, box.h] for box in hidden]
                yield f"{pair.test}/{pair.id}/{name}", row | {"perturbation": pair.perturbation, "boxes": boxes}
            elif asked not in seen:
                seen.add(asked)
                yield f"{pair.test}/{pair.id}/{name}", row


def _as_gqa(name: str, row: Row) -> Row:
    _, built, about = _KINDS[row["kind"]]
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


FORMS = ("jsonl", "gqa", "carets")
