"""Two images with two captions of the same words in another order, as in Winoground, from captions or scene graphs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from vlgate.making.inputs.records import Caption
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Work
from vlgate.perturb.foils.candidates import Perturbed, Swap
from vlgate.perturb.foils.swap_facts import Scene, Vocabulary, caption_scenes, graph_scene
from vlgate.perturb.foils.swap_mining import mine
from vlgate.perturb.ontology import default_ontology

FILE, IMAGES = "winoground/data/examples.jsonl", "winoground/data/images.jsonl"
"""The release's file, and the file that says which of your images to put under which of the release's names."""

NO_PAIR = "no two images have texts of the same words in another order"


def start(work: Work) -> MakeSome:
    """Return what mines all inputs at once: a pair may combine any two images."""
    vocabulary = Vocabulary(default_ontology())

    def make_some(inputs: Sequence[Any]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        result = mine(_scenes(inputs, work, vocabulary), vocabulary)
        for swap in result.candidates:
            if isinstance(swap, Swap):
                yield Made(image=swap.images[0], origin=" and ".join(swap.images), found=Perturbed.of(swap))
        refused = result.refused if result.refused or result.candidates else (NO_PAIR,)
        yield Made(image="", origin="", found=Perturbed(refused=refused))

    return make_some


def release(items: Sequence[Item]) -> dict[str, str]:
    """Return the items as Winoground's ``examples.jsonl``, and the names of their images.

    The release calls the images of row 0 ``ex_0_img_0`` and ``ex_0_img_1``, and its reader wants the files to have
    these names. ``images.jsonl`` has ``{"image": "ex_0_img_0", "source": "1.jpg"}`` for each.
    """
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


WORD_SWAP = Kind(
    name="word-swap",
    sentence="two images and two captions of the same words in another order, each true of one image, as in Winoground",
    takes=("captions", "graphs"),
    shape="quad",
    start=start,
    release=release,
    uses=("parser",),
    whole=True,
    permuted=True,
)


def _scenes(inputs: Sequence[Any], work: Work, vocabulary: Vocabulary) -> Iterable[Scene]:
    if not inputs or not isinstance(inputs[0], Caption):
        return [graph_scene(graph, vocabulary) for graph in inputs]
    parsed = work.tools.parser.parse([one.text for one in inputs])
    return caption_scenes(((one.image, text) for one, text in zip(inputs, parsed, strict=True)), vocabulary)


def _lines(rows: Iterable[object]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
