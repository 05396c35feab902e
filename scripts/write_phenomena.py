"""Write docs/phenomena.md, one example of each kind of ``vlgate make``: `python scripts/write_phenomena.py [--check]`.

Each example is made anew by the kind's own functions from the input below. With ``--check`` nothing is written; the
exit status is 1 if the page is not what they make.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.making.inputs.reading import read_inputs
from vlgate.making.kinds.kind import KINDS, Kind, Work, kind
from vlgate.making.tools import ToolOptions, Tools
from vlgate.perturb.foils.candidates import Candidate, Foil, SentenceSet
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus, Generator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "phenomena.md"

INTRODUCTION = """\
# Phenomena

[`vlgate make`](guides/make-cases.md) makes the kinds of cases below. Each has one example: what it is made of, the true
and the false text, and why the false one is false. `vlgate make --list` says what each kind takes and needs.

<!-- Written by scripts/write_phenomena.py; change the code, then run it. -->
"""

Rows = Sequence[Mapping[str, Any]]


def _captions(*texts: str) -> Rows:
    return [{"image": f"{index}.jpg", "caption": text} for index, text in enumerate(texts, 1)]


def _of_one_image(*texts: str) -> Rows:
    return [{"image": "1.jpg", "caption": text} for text in texts]


def _answers(*pairs: tuple[str, str]) -> Rows:
    return [{"image": f"{n}.jpg", "question": question, "answer": answer} for n, (question, answer) in enumerate(pairs)]


def _frames(*rows: tuple[str, str, Mapping[str, str]]) -> Rows:
    return [
        {"image": f"{index}.jpg", "verb": verb, "template": template, "roles": roles}
        for index, (verb, template, roles) in enumerate(rows, 1)
    ]


def _thing(name: str, box: Sequence[int], *relations: tuple[str, str], **more: Any) -> dict[str, Any]:
    told = [{"name": text, "object": other} for text, other in relations]
    return {"name": name, "box": list(box), "relations": told, **more}


def _graph(image: str, **things: Mapping[str, Any]) -> dict[str, Any]:
    objects = [{"id": name, **thing} for name, thing in things.items()]
    return {"image": image, "width": 640, "height": 480, "objects": objects}


_COUNTS = _answers(
    ("How many dogs are in the picture?", "Two."),
    ("How many cats are in the picture?", "Three."),
    ("How many horses are there?", "3."),
    ("How many cows are there?", "2."),
    ("How many people are shown?", "Six."),
)
_PERSONS = [
    _graph(
        "1.jpg",
        man=_thing("man", (20, 40, 200, 400), ("carrying", "child"), ("wearing", "hat"), ("holding", "racket")),
        child=_thing("child", (240, 60, 160, 300), ("wearing", "helmet"), ("holding", "kite")),
        hat=_thing("hat", (60, 40, 60, 40)),
        racket=_thing("racket", (180, 200, 40, 50)),
        helmet=_thing("helmet", (290, 60, 60, 40)),
        kite=_thing("kite", (400, 10, 90, 90)),
    )
]
_THINGS = [
    _graph(
        "1.jpg",
        a=_thing("dog", (20, 60, 200, 120), ("on", "b"), attributes=["black"]),
        b=_thing("bed", (10, 160, 400, 200), attributes=["wooden"]),
    ),
    _graph(
        "2.jpg",
        a=_thing("cat", (20, 60, 200, 120), ("on", "b"), attributes=["white"]),
        b=_thing("couch", (10, 160, 400, 200), attributes=["leather"]),
    ),
    _graph("3.jpg", a=_thing("dog", (20, 300, 200, 120), ("under", "b")), b=_thing("table", (10, 60, 400, 200))),
]
_GRAZING = [
    _graph(
        f"{index}.jpg",
        a=_thing(animal, (120, 140, 220, 200), ("on", "b")),
        b=_thing("grass", (0, 300, 640, 180)),
        c=_thing(beside, (300, 20, 300, 240), ("behind", "a")),
    )
    for index, (animal, beside) in enumerate((("cow", "barn"), ("giraffe", "zebra"), ("zebra", "giraffe")), 1)
]
_FED = "the AGENT feeds the RECIPIENT at a PLACE"
_WASHED = "the AGENT washes the RECIPIENT at a PLACE"
INPUTS: Mapping[str, Rows] = MappingProxyType(
    {
        "existence": _answers(("How many dogs are in the picture?", "Two.")),
        "plurality": _of_one_image("A man is holding a red umbrella.", "A man under an umbrella."),
        "counting-balanced": _COUNTS,
        "counting-small": _COUNTS,
        "counting-adversarial": _COUNTS,
        "counting-captions": _of_one_image("Two dogs are lying on a bed.", "Two dogs on a bed."),
        "relations": _captions(*["A cat is sitting on the table."] * 20, *["A dog is lying under the table."] * 20),
        "action-replacement": _frames(
            ("feeding", _FED, {"agent": "man", "recipient": "horse"}),
            ("washing", _WASHED, {"agent": "man", "recipient": "horse"}),
        ),
        "actant-swap": _frames(("feeding", _FED, {"agent": "woman", "recipient": "horse"})),
        "coreference": [
            {"image": "1.jpg", "caption": "A woman is riding a horse", "dialog": [["is she wearing a hat", "yes"]]}
        ],
        "foil-it": _captions("A dog is sitting on the grass."),
        "active-passive": _PERSONS,
        "coordination": _PERSONS,
        "relative-clause": _PERSONS,
        "object": _GRAZING,
        "attribute": _THINGS,
        "relation": _THINGS,
        "word-swap": _captions("A black dog is on a white couch.", "A white dog is on a black couch."),
        "questions": (),
    }
)
"""What each example is made of."""


class _NoLexicon:
    """A lexicon without words, so that no example depends on one that must be fetched."""

    def synsets(self, *_: object, **__: object) -> list[object]:
        return []

    senses = words = synsets


class _Tools(Tools):
    def built(self, name: str) -> Any:
        return _NoLexicon() if name == "wordnet" else super().built(name)


def page() -> str:
    """Return the page, with the kinds that are registered."""
    return "\n".join([INTRODUCTION, *(_section(kind(name)) for name in KINDS)])


def _section(one: Kind) -> str:
    made = list(_example(one, INPUTS[one.name]))
    said = f"{one.sentence[0].upper()}{one.sentence[1:]}"
    lines = [f"## {one.name}", "", said if said.endswith("!") else f"{said}.", "", "| | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {_cell(text)} |" for name, text in made), ""])


def _example(one: Kind, rows: Rows) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "input.jsonl")
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        if one.start is None:
            yield from _questions()
            return
        inputs = read_inputs([file], one.takes).inputs
    made = list(one.start(Work(inputs=inputs, tools=_Tools(ToolOptions()), seed=0))(inputs))
    for source, found in zip(inputs, made, strict=len(made) == len(inputs)):
        if found.found.candidates:
            yield "made of", _told(rows[list(inputs).index(source)])
            yield from _texts(found.found.candidates[0])
            return
    raise ValueError(f"{one.name}: the example gives no candidate ({made})")


def _told(row: Mapping[str, Any]) -> str:
    """Say what an input holds: its texts, or the names of a graph's objects with their relations."""
    if "objects" in row:
        names = {thing["id"]: " ".join([*thing.get("attributes", ()), thing["name"]]) for thing in row["objects"]}
        relations = [(thing["id"], one) for thing in row["objects"] for one in thing["relations"]]
        told = [f"{names[name]} {one['name']} {names[one['object']]}" for name, one in relations]
        return f"the graph of {row['image']}: {', '.join(told)}"
    texts = [text for name, text in row.items() if name in {"caption", "question", "answer", "verb"}]
    texts += [" ".join(turn) for turn in row.get("dialog", ())]
    texts += [f"{role}: {noun}" for role, noun in row.get("roles", {}).items()]
    return f"{row['image']}: {'; '.join(texts)}"


def _texts(made: Candidate) -> Iterator[tuple[str, str]]:
    if isinstance(made, Foil):
        yield from (("caption", made.caption), ("foil", made.foil))
    elif isinstance(made, SentenceSet):
        yield from (("true", " / ".join(made.true)), ("false", " / ".join(made.false)))
    else:
        yield from (("of the first image", made.captions[0]), ("of the second image", made.captions[1]))
    yield "why", made.why


def _questions() -> Iterator[tuple[str, str]]:
    from vlgate.fixtures.scenes.scene_graphs import world_graphs

    generator = Generator(Corpus(world_graphs(2, 12), default_ontology()), "release")
    [pair, *_] = generator.make("negation-dir", size=8, seed=0).pairs
    yield "made of", "a graph of the drawn scenes"
    yield from (("question", f"{text} {answer}") for text, answer in zip(pair.questions, pair.answers, strict=True))
    yield "why", f"negation-dir: {pair.rule}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main(arguments: Sequence[str]) -> int:
    """Write or check the page.

    Returns: the exit status.
    """
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/phenomena.md is not what the code makes; run: python scripts/write_phenomena.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
