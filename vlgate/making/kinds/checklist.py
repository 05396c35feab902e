"""VL-CheckList's objects, attributes and relations (paper, section 3), from scene graphs, role frames, interactions."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vlgate.making.inputs.records import Frame
from vlgate.making.kinds.graphs import UNTOLD, GraphInput, graph_of, image_of, release_of, without_boxes
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Selected, Start, Work
from vlgate.making.tools.lexicon import more_words
from vlgate.perturb.foils.balance import near_within
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.graph_texts.attributes import attribute_foils
from vlgate.perturb.graph_texts.checklist import Words
from vlgate.perturb.graph_texts.geometry import sized
from vlgate.perturb.graph_texts.likeness import Likeness
from vlgate.perturb.graph_texts.objects import object_foils
from vlgate.perturb.graph_texts.relations import relation_foils
from vlgate.perturb.graph_texts.vocabulary import vocabulary_of
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.benchmarks.vl_checklist import CORPUS

_ROLES = ("agent", "destination", "tool")  # SWiG's files of objects; every other role is an item
_FOLDERS = {"VG": "vg/", "SWIG": "swig/", "HAKE": "hake/"}

_MOST = 8
"""Foils of one place of a caption, from which a balanced set takes one."""
_NOUNS = 30
"""Foils of one noun: the more there are, the more of a set can be balanced."""
_EACH = 3
"""Cases of one caption in a set that cannot be balanced."""

UNBALANCED = "what the foil puts in is false more often than true"
ANOTHER = "another foil of the caption is taken"
NOTHING = "no candidate's words are true in one caption and false of another, and the set is not balanced"

_Foils = Callable[[SceneGraph, Words], Found]
_Places = Callable[[Foil, Any], Iterator[str]]


def _start(foils: _Foils, places: _Places, most: int = 1) -> Start:
    def start(work: Work) -> MakeSome:
        """Prepare what needs all inputs."""
        encoder = work.tools.similarity if work.tools.has("similarity") else None
        ontology = more_words(work.tools, (graph_of(one) for one in work.inputs))
        vocabulary = vocabulary_of((graph_of(one) for one in work.inputs), ontology)
        words = Words(
            vocabulary=vocabulary,
            ontology=ontology,
            likeness=Likeness(encoder=encoder),
            seed=work.seed,
            most=most,
            sole=not any(isinstance(one, SceneGraph) for one in work.inputs[:1]),
        )
        words.likeness.learn(vocabulary.names)

        def make_some(inputs: Sequence[Any]) -> Iterable[Made]:
            """Make the candidates of a block of inputs."""
            for one in inputs:
                found = foils(sized(graph_of(one)), words)
                made = tuple(without_boxes(foil, one) for foil in found.candidates if isinstance(foil, Foil))
                yield Made(
                    image=image_of(one),
                    origin=one.origin or one.id,
                    found=Found(candidates=made, refused=found.refused if made else (found.refused or (UNTOLD,))),
                    extra=tuple(_extra(foil, one, places) for foil in made),
                )

        return make_some

    return start


def _extra(foil: Foil, one: GraphInput, places: _Places) -> Mapping[str, Any]:
    """The files of the release that a foil belongs to, and where their images are."""
    files = [place for place in places(foil, one) if f"vl-checklist/{place}".lower() in CORPUS]
    return {"files": files, "images": _FOLDERS[release_of(one)]}


def _object_places(foil: Foil, one: GraphInput) -> Iterator[str]:
    if isinstance(one, Frame):
        role = next((role for role in _ROLES if one.roles.get(role, "").lower() == foil.classes[0]), "item")
        source = f"swig_{role}"
    elif isinstance(one, SceneGraph):
        source = "vg_subj" if foil.tags["role"] == "subject" else "vg_obj"
    else:
        source = "hake"
    if "location" in foil.tags:
        yield f"Object/Location/{foil.tags['location']}/{source}"
    if "size" in foil.tags:
        yield f"Object/Size/{foil.tags['size']}/{source}"


def _attribute_places(foil: Foil, _: GraphInput) -> Iterator[str]:
    yield f"Attribute/{foil.tags['kind']}/vg"


def _relation_places(foil: Foil, one: GraphInput) -> Iterator[str]:
    yield f"Relation/{foil.tags['kind']}/{release_of(one).lower()}"


def balanced(items: Sequence[Item], seed: int) -> Selected:
    """Take one foil of each caption, so that what foils put in is about as often true: p for q as often as q for p.

    The balance is exact within captions that differ in one word only, such as "a white sheep" and "a black sheep". If
    nothing is balanced, at most ``_EACH`` of a caption stay, and the note says so.
    """
    places: dict[tuple[str, str, str], dict[str, Item]] = {}
    for item in items:
        if isinstance(made := item.candidate, Foil):
            places.setdefault((item.origin, made.caption, made.classes[0]), {})[made.classes[1]] = item
    options = [list(one) for one in places.values()]
    frames = [_frame(caption, word) for _, caption, word in places]
    chosen = near_within([word for *_, word in places], options, frames, seed=seed)
    if not chosen:
        return _few(items)
    groups = list(places.values())
    kept = {groups[place][word].id for place, word in chosen.items()}
    dropped = {UNBALANCED: len(places) - len(kept), ANOTHER: len(items) - len(places)}
    left = tuple(item for item in items if item.id in kept)
    return Selected(items=left, dropped={reason: number for reason, number in dropped.items() if number})


def _few(items: Sequence[Item]) -> Selected:
    """The first ``_EACH`` items of each caption of an image."""
    taken: Counter[tuple[str, str]] = Counter()
    left = []
    for item in items:
        caption = (item.image, item.candidate.caption) if isinstance(item.candidate, Foil) else (item.id, "")
        taken[caption] += 1
        if taken[caption] <= _EACH:
            left.append(item)
    dropped = {ANOTHER: len(items) - len(left)} if len(left) < len(items) else {}
    return Selected(items=tuple(left), dropped=dropped, note=NOTHING)


def _frame(caption: str, word: str) -> str:
    """The caption without the word that is replaced and without the article before it."""
    before, _, after = f" {caption} ".partition(f" {word} ")
    return f"{before.removesuffix(' an').removesuffix(' a')} _ {after}"


def release(items: Sequence[Item]) -> dict[str, str]:
    """Write the items as the release does: for each file of the corpus a YAML file, and the JSON that it names."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    folders: dict[str, str] = {}
    for item in items:
        if isinstance(item.candidate, Foil):
            for place in item.extra.get("files", ()):
                texts = {"POS": [item.candidate.caption], "NEG": [item.candidate.foil]}
                rows[place].append([item.image, texts])
                folders[place] = item.extra["images"]
    written = {}
    for place, found in sorted(rows.items()):
        lines = {"ANNO_PATH": f"data/{place}.json", "IMG_ROOT": folders[place], "TYPE": "TUPLE_JSON"}
        written[f"vl-checklist/corpus/v1/{place}.yaml"] = "".join(f'{key}: "{value}"\n' for key, value in lines.items())
        written[f"vl-checklist/data/{place}.json"] = json.dumps(found, ensure_ascii=False)
    return written


OBJECT = Kind(
    name="object",
    sentence="captions of two things, and with one replaced by what the image does not show, as in VL-CheckList",
    takes=("graphs", "frames", "interactions"),
    shape="pair",
    start=_start(object_foils, _object_places, _NOUNS),
    release=release,
    uses=("similarity", "wordnet"),
    select=balanced,
)
ATTRIBUTE = Kind(
    name="attribute",
    sentence="things with an attribute, and with one that excludes it, as in VL-CheckList",
    takes=("graphs",),
    shape="pair",
    start=_start(attribute_foils, _attribute_places, _MOST),
    release=release,
    uses=("similarity", "wordnet"),
    select=balanced,
)
RELATION = Kind(
    name="relation",
    sentence="captions of two things, and with a relation that excludes theirs, as in VL-CheckList",
    takes=("graphs", "frames", "interactions"),
    shape="pair",
    start=_start(relation_foils, _relation_places, _MOST),
    release=release,
    uses=("similarity", "wordnet"),
    select=balanced,
)
