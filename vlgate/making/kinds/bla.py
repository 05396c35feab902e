"""BLA's tasks from scene graphs or role frames: a set of four sentences of each image at most (thesis, section 4.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from vlgate.making.kinds.graphs import UNTOLD, graph_of
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Release, Start, Work
from vlgate.making.tools.lexicon import more_words, persons
from vlgate.perturb.foils.candidate import Found, SentenceSet
from vlgate.perturb.graph_texts.active_passive import active_passive
from vlgate.perturb.graph_texts.geometry import sized
from vlgate.perturb.graph_texts.rules import SURE, BlaRules, BlaTools, one_of
from vlgate.perturb.graph_texts.two_persons import coordination, relative_clause
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.benchmarks.bla import FILES, SENTENCES

UNGRAMMATICAL = "a sentence of each set is ungrammatical"

_Sets = Callable[[SceneGraph, BlaRules, BlaTools], Found]


def _start(sets: _Sets) -> Start:
    def start(work: Work) -> MakeSome:
        """Prepare what needs all inputs."""
        tools = BlaTools(
            is_person=persons(work.tools),
            ontology=more_words(work.tools, (graph_of(one) for one in work.inputs)),
            encoder=work.tools.similarity if work.tools.has("similarity") else None,
        )
        grammar = work.tools.grammar if work.tools.has("grammar") else None

        def make_some(inputs: Sequence[Any]) -> Iterable[Made]:
            """Make the candidates of a block of inputs."""
            for one in inputs:
                graph = graph_of(one)
                found = sets(sized(graph), SURE, tools)
                made = [each for each in found.candidates if isinstance(each, SentenceSet)]
                best = one_of(made, grammar)
                refused = found.refused if best is not None or not made else (*found.refused, UNGRAMMATICAL)
                refused = refused if best is not None or refused else (UNTOLD,)
                kept = Found(candidates=() if best is None else (best,), refused=refused)
                yield Made(image=graph.id, origin=one.origin or graph.id, found=kept)

        return make_some

    return start


def _release(task: str) -> Release:
    def release(items: Sequence[Item]) -> dict[str, str]:
        """Write the items as a file of the release."""
        records = [{"image_id": item.image, "caption_group": [dict(_fields(item))]} for item in items]
        return {f"bla/annotations/{FILES[task]}": json.dumps(records, indent=1, ensure_ascii=False)}

    return release


def _fields(item: Item) -> Iterator[tuple[str, str]]:
    made = item.candidate
    if isinstance(made, SentenceSet):
        yield from zip(SENTENCES, (*made.true, *made.false), strict=True)
        if "verb" in made.tags:
            yield "predicate", made.tags["verb"]


ACTIVE_PASSIVE = Kind(
    name="active-passive",
    sentence="sets of who does what to whom in active and passive voice, and with the two exchanged, as in BLA",
    takes=("graphs", "frames"),
    shape="set",
    start=_start(active_passive),
    release=_release("bla/active-passive"),
    uses=("grammar", "wordnet"),
    permuted=True,
)
COORDINATION = Kind(
    name="coordination",
    sentence="sets of two persons with two features each, joined by and, and with a feature of the other, as in BLA",
    takes=("graphs",),
    shape="set",
    start=_start(coordination),
    release=_release("bla/coordination"),
    uses=("similarity", "grammar", "wordnet"),
    permuted=True,
)
RELATIVE_CLAUSE = Kind(
    name="relative-clause",
    sentence="sets of two persons with two features each, one in a relative clause, as in BLA",
    takes=("graphs",),
    shape="set",
    start=_start(relative_clause),
    release=_release("bla/relative-clause"),
    uses=("similarity", "grammar", "wordnet"),
    permuted=True,
)
