"""Foils of captions (plurality, nouns as in FOIL it!, numbers, prepositions), and word swaps as in Winoground."""

import json
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any

from vlgate.making.inputs.records import Caption
from vlgate.making.kinds.kind import Item, Made, MakeSome, Start, Work, both_ways, kind_of
from vlgate.making.sets.folder import as_cases, valse
from vlgate.perturb.foils.candidates import Perturbed, Swap
from vlgate.perturb.foils.captions.mentions import Mentions, mentions
from vlgate.perturb.foils.captions.nouns import noun_foils
from vlgate.perturb.foils.captions.numbers import counted, plurals
from vlgate.perturb.foils.prepositions import attested, said_of
from vlgate.perturb.foils.relations import filled_relations, gaps, relations
from vlgate.perturb.foils.swap_captions import caption_scenes
from vlgate.perturb.foils.swap_facts import Scene, Vocabulary, graph_scene
from vlgate.perturb.foils.swap_mining import mine
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.text.parsed import Parsed

Maker = Callable[[Parsed, Sequence[Mentions]], Perturbed]


def _starting(maker: Maker) -> Start:
    def start(work: Work) -> MakeSome:
        def make_some(inputs: Sequence[Caption]) -> Iterable[Made]:
            parsed = _parsed(inputs, work, {})
            mentioned = cache(lambda text: mentions(parsed[text]))
            for input_ in inputs:
                perturbed = maker(parsed[input_.text], [mentioned(text) for text in input_.others])
                extra = tuple({"orig_caption": input_.text} for _ in perturbed.candidates)
                yield Made(image=input_.image, origin=input_.origin, found=perturbed, extra=extra)

        return make_some

    return start


PLURALITY = kind_of("plurality", _starting(plurals), valse("plurals.json", "plurals"), both_ways)
FOIL_IT = kind_of("foil-it", _starting(noun_foils), valse("foil-it.json", "noun phrases"), both_ways)
COUNTING_CAPTIONS = kind_of(  # no benchmark has such a task
    "counting-captions", _starting(counted), lambda items: as_cases(items, "counting-captions"), both_ways
)


_TOP = 20  # fillings of each length that are asked for


_KEPT = 50_000  # parses in memory, of about 5 KB each


def _parsed(inputs: Sequence[Caption], work: Work, known: dict[str, Parsed]) -> Mapping[str, Parsed]:
    texts = dict.fromkeys(text for input_ in inputs for text in (input_.text, *input_.others))
    new = [text for text in texts if text not in known]
    return ChainMap(dict(zip(new, work.tools.parser.parse(new), strict=True)), known)


def _relations(work: Work) -> MakeSome:
    parse, texts = work.tools.parser.parse, [input_.text for input_ in work.inputs]
    kept = dict(zip(texts[:_KEPT], parse(texts[:_KEPT]), strict=True))
    known = attested(chain((kept[text] for text in texts[:_KEPT]), parse(texts[_KEPT:])))
    filling = work.tools.has("mlm")

    def make_some(inputs: Sequence[Caption]) -> Iterator[Made]:
        parsed = _parsed(inputs, work, kept)
        places = [gaps(parsed[input_.text]) if filling else [] for input_ in inputs]
        every = [gap for of_input in places for gap in of_input]
        filled = iter(work.tools.mlm.fill(every, _TOP)) if every else iter(())
        for of_input, input_ in zip(places, inputs, strict=True):
            said = said_of(parsed[text] for text in (input_.text, *input_.others))
            if filling:
                perturbed = filled_relations(parsed[input_.text], [next(filled) for _ in of_input], known, said)
            else:
                perturbed = relations(parsed[input_.text], known, said)
            yield Made(image=input_.image, origin=input_.origin, found=perturbed)

    return make_some


RELATIONS = kind_of("relations", _relations, valse("relations.json", "relations"), partial(both_ways, rings=True))


FILE, IMAGES = "winoground/data/examples.jsonl", "winoground/data/images.jsonl"
"""The release's file, and the file that says which of your images to put under which of the release's names."""


NO_PAIR = "no text of its image makes a pair with one of the same words of another image"


def start(work: Work) -> MakeSome:
    vocabulary = Vocabulary(default_ontology())

    def make_some(inputs: Sequence[Any]) -> Iterator[Made]:
        scenes: Iterable[Scene] = (graph_scene(graph, vocabulary) for graph in inputs)
        if inputs and isinstance(inputs[0], Caption):
            parsed = work.tools.parser.parse([input_.text for input_ in inputs])
            texts = ((input_.image, text) for input_, text in zip(inputs, parsed, strict=True))
            scenes = caption_scenes(texts, vocabulary)
        result = mine(scenes, vocabulary)
        swaps = [swap for swap in result.candidates if isinstance(swap, Swap)]
        for swap in swaps:
            yield Made(image=swap.images[0], origin=" and ".join(swap.images), found=Perturbed.of(swap))
        shown = {image for swap in swaps for image in swap.images}
        alone = sum(getattr(input_, "image", input_.id) not in shown for input_ in inputs)
        yield Made(image="", origin="", found=Perturbed(refused=(*result.refused, *[NO_PAIR] * alone)))

    return make_some


def release(items: Sequence[Item]) -> dict[str, str]:
    """Return the items as Winoground's ``examples.jsonl``, and the names of their images."""
    # The release calls the images of row 0 ``ex_0_img_0`` and ``ex_0_img_1``, and its reader wants the files to have
    # these names. ``images.jsonl`` has ``{"image": "ex_0_img_0", "source": "1.jpg"}`` for each.
    rows, names = [], []
    for number, item in enumerate(items):
        made = item.candidate
        if not isinstance(made, Swap):
            raise TypeError(f"item {item.id!r} is a {type(made).__name__}, expected a Swap")
        images = [f"ex_{number}_img_{place}" for place in (0, 1)]
        names += [{"image": image, "source": source} for image, source in zip(images, made.images, strict=True)]
        rows.append(
            {
                "id": number,
                "image_0": images[0],
                "image_1": images[1],
                "caption_0": made.captions[0],
                "caption_1": made.captions[1],
                "tag": made.tags["tag"],
                "secondary_tag": made.tags.get("secondary_tag", ""),
                "num_main_preds": int(made.tags["num_main_preds"]),
                "collapsed_tag": made.tags["collapsed_tag"],
            }
        )
    return {FILE: _lines(rows), IMAGES: _lines(names)}


WORD_SWAP = kind_of("word-swap", start, release)


def _lines(rows: Iterable[object]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
