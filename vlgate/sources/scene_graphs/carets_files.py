"""Writes pairs of questions as CARETS releases them: files that its ``dataset.py`` and vlgate's reader take."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.perturb.questions import Asked, QuestionPair, Test
from vlgate.perturb.questions.phrases import NounPhrase

Row = dict[str, Any]

ENDINGS: Mapping[Test, tuple[str, str]] = MappingProxyType(
    {
        "rephrase-inv": ("template", "t"),
        "order-inv": ("symmetric", "s"),
        "ontological-inv": ("ontology_ontology", "h"),
        "negation-dir": ("negation", "n"),
        "antonym-dir": ("antonym", "a"),
    }
)
"""The end of the file's name and of the perturbed question's id, by test. Perturbed images have no form in CARETS."""
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "object": "object_verification",
        "object-related": "object_verification_rel",
        "conjunction": "object_verification_conjunction",
        "disjunction": "object_verification_disjunction",
        "attribute": "attribute_verification",
        "attribute-related": "attribute_verification_rel",
        "object-choice-described": "object_choice_by_attr",
        "object-choice-related": "object_choice_rel",
        "attribute-choice": "attribute_choice",
        "attribute-choice-related": "attribute_choice_rel",
        "action-choice": "action_choice",
        "action-choice-related": "action_choice_rel",
    }
)


def write_carets(pairs: Iterable[QuestionPair], folder: Path) -> int:
    """Write the pairs into a new folder: a file for each test and kind of question, named as in the release.

    Each file is a list of ``{img_id, label, question_id, sent, question_type, assignment}``, the original before its
    perturbed question. Pairs of images (VISUAL-INV) are left out, since the release has no form for them.

    Returns: the number of questions.
    Raises: FileExistsError if the folder exists already; OSError if it cannot be written.
    """
    files: dict[str, list[Row]] = defaultdict(list)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for pair in pairs:
        if pair.test not in ENDINGS or pair.perturbation:
            continue
        ending, letter = ENDINGS[pair.test]
        name = f"{_NAMES[pair.kind]}_{ending}_test.json"
        image = pair.graph.id.replace("-", "_")
        number = f"{image}-0-{counts[name, image]}"
        counts[name, image] += 1
        for half, identity in enumerate((number, f"{number}-{letter}")):
            files[name].append(_row(pair, half, identity))
    folder.mkdir()
    for name, rows in files.items():
        (folder / name).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8", newline="\n")
    return sum(map(len, files.values()))


def _row(pair: QuestionPair, half: int, identity: str) -> Row:
    objects = pair.objects[::-1] if half and pair.asked[1].x is pair.asked[0].y else pair.objects
    return {
        "img_id": pair.graph.id,
        "label": {pair.answers[half]: 1.0},
        "question_id": identity,
        "sent": pair.questions[half],
        "question_type": _NAMES[pair.kind],
        "assignment": _assignment(pair, pair.asked[half], objects, pair.choices[half]),
    }


def _assignment(
    pair: QuestionPair, asked: Asked, objects: tuple[str | None, ...], choices: tuple[str, ...]
) -> dict[str, Any]:
    """The arguments of a question; an object that is not in the image has no id."""
    x, other = asked.x, asked.y or asked.x.other
    noun = pair.answers[0] if pair.kind.startswith("object-choice") else x.noun
    attributes = [*x.attributes, *([asked.attribute] if asked.attribute else [])]
    found: dict[str, Any] = {"obj1": noun, "obj1_id": objects[0], "attrs1": attributes}
    if other is not None:
        found |= {"obj2": other.noun, "obj2_id": objects[1], "attrs2": _attributes(other)}
    if x.relation:
        found["2rel1"] = x.relation
    if pair.kind.startswith("object-choice"):
        found |= {"obj-category1": x.noun, "obj-category-options1": list(choices)}
    elif "choice" in pair.kind:
        found |= {"category1": asked.category, "category-options1": list(choices)}
    return found


def _attributes(phrase: NounPhrase) -> list[str]:
    return list(phrase.attributes)
