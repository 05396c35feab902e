"""Kinds that are made of scene graphs, role frames and interactions: BLA's tasks and VL-CheckList's."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from vlgate.making.inputs.records import Frame, Interactions
from vlgate.making.kinds.kind import Item, Made, MakeSome, Release, Selected, Start, Work, both_ways, kind_of
from vlgate.making.word_tables import more_words, persons
from vlgate.perturb.foils.candidates import Foil, Perturbed, SentenceSet
from vlgate.perturb.graphs.attributes import attribute_foils
from vlgate.perturb.graphs.checklist import Likeness, Words, vocabulary_of
from vlgate.perturb.graphs.frame_graphs import graph_of_frame, graph_of_interactions
from vlgate.perturb.graphs.objects import object_foils
from vlgate.perturb.graphs.persons import SURE, BlaRules, BlaTools, one_of
from vlgate.perturb.graphs.relations import relation_foils
from vlgate.perturb.graphs.two_persons import active_passive, coordination, relative_clause
from vlgate.perturb.scene_graph import Box, SceneGraph, sized
from vlgate.sources.benchmarks.bla import FILES, SENTENCES
from vlgate.sources.benchmarks.vl_checklist import CORPUS

GraphInput = SceneGraph | Frame | Interactions

UNTOLD = "no relation or attribute of things that have boxes"
"""The reason of an input that gives neither a candidate nor a reason."""


_OF_BOXES = frozenset(("size", "location"))


def graph_of(one: GraphInput) -> SceneGraph:
    if isinstance(one, SceneGraph):
        return one
    if isinstance(one, Frame):
        boxes = {role: Box(x=x, y=y, w=w, h=h) for role, (x, y, w, h) in one.boxes.items()}
        return graph_of_frame(one.image, one.template, one.roles, boxes, one.size)
    done = ((each.person, each.verb, each.thing, each.place) for each in one.done)
    return graph_of_interactions(one.image, done, one.size)


def image_of(one: GraphInput) -> str:
    """Return the name of an input's image; Visual Genome's and GQA's are the ids of their graphs."""
    if not isinstance(one, SceneGraph):
        return one.image
    return one.id if "." in one.id else f"{one.id}.jpg"


def release_of(one: GraphInput) -> str:
    """Return the release whose form an input has; VL-CheckList names its files after them."""
    if isinstance(one, SceneGraph):
        return "vg"
    return "swig" if isinstance(one, Frame) else "hake"


def without_boxes(foil: Foil, one: GraphInput) -> Foil:
    if not isinstance(one, Interactions) or one.boxed:
        return foil
    return replace(foil, tags={name: value for name, value in foil.tags.items() if name not in _OF_BOXES})


# BLA's tasks from scene graphs or role frames: a set of four sentences of each image at most (thesis, section 4.3).

UNGRAMMATICAL = "a sentence of each set is ungrammatical"

_Sets = Callable[[SceneGraph, BlaRules, BlaTools], Perturbed]


def _start_sets(sets: _Sets) -> Start:
    def start(work: Work) -> MakeSome:
        tools = BlaTools(
            is_person=persons(work.tools),
            ontology=more_words(work.tools, (graph_of(input_) for input_ in work.inputs)),
            encoder=work.tools.similarity if work.tools.has("similarity") else None,
        )
        grammar = work.tools.grammar if work.tools.has("grammar") else None

        def make_some(inputs: Sequence[Any]) -> Iterable[Made]:
            for input_ in inputs:
                graph = graph_of(input_)
                perturbed = sets(sized(graph), SURE, tools)
                made = [each for each in perturbed.candidates if isinstance(each, SentenceSet)]
                best, refused = one_of(made, grammar), perturbed.refused
                if best is None:
                    refused = (*refused, UNGRAMMATICAL) if made else refused or (UNTOLD,)
                kept = Perturbed(candidates=() if best is None else (best,), refused=refused)
                yield Made(image=graph.id, origin=input_.origin or graph.id, found=kept)

        return make_some

    return start


def _release(task: str) -> Release:
    def release(items: Sequence[Item]) -> dict[str, str]:
        records = []
        for item in items:
            made, fields = item.candidate, dict[str, str]()
            if isinstance(made, SentenceSet):
                fields = dict(zip(SENTENCES, (*made.true, *made.false), strict=True))
                fields |= {"predicate": made.tags["verb"]} if "verb" in made.tags else {}
            records.append({"image_id": item.image, "caption_group": [fields]})
        return {f"bla/annotations/{FILES[task]}": json.dumps(records, indent=1, ensure_ascii=False)}

    return release


ACTIVE_PASSIVE = kind_of("active-passive", _start_sets(active_passive), _release("bla/active-passive"))
COORDINATION = kind_of("coordination", _start_sets(coordination), _release("bla/coordination"))
RELATIVE_CLAUSE = kind_of("relative-clause", _start_sets(relative_clause), _release("bla/relative-clause"))


# VL-CheckList's objects, attributes and relations (paper, section 3), from scene graphs, role frames, interactions.

_ROLES = ("agent", "destination", "tool")  # SWiG's files of objects; every other role is an item

_MOST = 8
"""Foils of one place of a caption, from which a balanced set takes one."""
_NOUNS = 30
"""Foils of one noun: the more there are, the more of a set can be balanced."""
_EACH = 3
"""Cases of one caption in a set that cannot be balanced."""

ANOTHER = "another foil of the caption is taken"
NOTHING = "no candidate's words are true in one caption and false of another, and the set is not balanced"

_Foils = Callable[[SceneGraph, Words], Perturbed]


def _start_foils(foils: _Foils, places: Callable[[Foil, Any], Iterable[str]], most: int) -> Start:
    def start(work: Work) -> MakeSome:
        encoder = work.tools.similarity if work.tools.has("similarity") else None
        ontology = more_words(work.tools, (graph_of(input_) for input_ in work.inputs))
        vocabulary = vocabulary_of((graph_of(input_) for input_ in work.inputs), ontology)
        words = Words(
            vocabulary=vocabulary,
            ontology=ontology,
            likeness=Likeness(encoder=encoder),
            seed=work.seed,
            most=most,
            sole=not any(isinstance(input_, SceneGraph) for input_ in work.inputs[:1]),
        )
        words.likeness.learn(vocabulary.names)

        def make_some(inputs: Sequence[Any]) -> Iterable[Made]:
            for input_ in inputs:
                perturbed = foils(sized(graph_of(input_)), words)
                made = tuple(without_boxes(foil, input_) for foil in perturbed.candidates if isinstance(foil, Foil))
                files = (
                    [place for place in places(foil, input_) if f"vl-checklist/{place}".lower() in CORPUS]
                    for foil in made
                )
                refused = perturbed.refused if made else (perturbed.refused or (UNTOLD,))
                yield Made(
                    image=image_of(input_),
                    origin=input_.origin or input_.id,
                    found=Perturbed(candidates=made, refused=refused),
                    extra=tuple({"files": of_foil, "images": f"{release_of(input_)}/"} for of_foil in files),
                )

        return make_some

    return start


def _object_places(foil: Foil, graph_input: GraphInput) -> Iterator[str]:
    if isinstance(graph_input, Frame):
        role = next((role for role in _ROLES if graph_input.roles.get(role, "").lower() == foil.classes[0]), "item")
        source = f"swig_{role}"
    elif isinstance(graph_input, SceneGraph):
        source = "vg_subj" if foil.tags["role"] == "subject" else "vg_obj"
    else:
        source = "hake"
    for name in ("location", "size"):
        if name in foil.tags:
            yield f"Object/{name.capitalize()}/{foil.tags[name]}/{source}"


def balanced(items: Sequence[Item], seed: int) -> Selected:
    """Take one foil of each place of a caption, so that each word is as often true as false; few if none can be so."""
    selected = both_ways(items, seed, rings=True, source=_place)
    return selected if selected.items else _few(items)


def _place(item: Item) -> tuple[str, ...]:
    made = item.candidate
    return (item.origin, made.caption, made.classes[0]) if isinstance(made, Foil) else (item.id,)


def _few(items: Sequence[Item]) -> Selected:
    taken: Counter[tuple[str, str]] = Counter()
    left = []
    for item in items:
        caption = (item.image, item.candidate.caption) if isinstance(item.candidate, Foil) else (item.id, "")
        taken[caption] += 1
        if taken[caption] <= _EACH:
            left.append(item)
    dropped = {ANOTHER: len(items) - len(left)} if len(left) < len(items) else {}
    return Selected(items=tuple(left), dropped=dropped, note=NOTHING)


def release(items: Sequence[Item]) -> dict[str, str]:
    """Write the items as the release does: for each file of the corpus a YAML file, and the JSON that it names."""
    rows: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in items:
        if isinstance(item.candidate, Foil):
            texts = {"POS": [item.candidate.caption], "NEG": [item.candidate.foil]}
            for place in item.extra.get("files", ()):
                rows[place, item.extra["images"]].append([item.image, texts])
    written = {}
    for (place, folder), records in sorted(rows.items()):
        lines = {"ANNO_PATH": f"data/{place}.json", "IMG_ROOT": folder, "TYPE": "TUPLE_JSON"}
        written[f"vl-checklist/corpus/v1/{place}.yaml"] = "".join(f'{key}: "{value}"\n' for key, value in lines.items())
        written[f"vl-checklist/data/{place}.json"] = json.dumps(records, ensure_ascii=False)
    return written


OBJECT = kind_of("object", _start_foils(object_foils, _object_places, _NOUNS), release, balanced)
ATTRIBUTE = kind_of(
    "attribute",
    _start_foils(attribute_foils, lambda foil, _: (f"Attribute/{foil.tags['kind']}/vg",), _MOST),
    release,
    balanced,
)
RELATION = kind_of(
    "relation",
    _start_foils(relation_foils, lambda foil, one: (f"Relation/{foil.tags['kind']}/{release_of(one)}",), _MOST),
    release,
    balanced,
)
