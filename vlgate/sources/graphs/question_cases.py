"""Makes the cases of a task from pairs of questions, with images that are perturbed by the boxes of their graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vlgate.errors import ImageError
from vlgate.perturb.images import perturbed
from vlgate.perturb.scene_graph import Box
from vlgate.types import Ask, Capability, Case, LazyImage, Recipe, Task, recipe_of

if TYPE_CHECKING:  # a run of the shipped scenes loads no generator of questions
    from PIL.Image import Image

    from vlgate.perturb.questions import Made, QuestionPair, Test


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLoad:
    made: LazyImage
    origin: str

    def __call__(self) -> Image:
        try:
            return self.made.load()
        except ValueError as error:
            remedy = "use the image that was annotated, or give its width and height in the graph"
            raise ImageError(self.made.key, f"does not fit {self.origin} ({error})", remedy) from None

    def recipe(self) -> Recipe | None:
        return recipe_of(self.made)


def fitted(
    image: LazyImage, perturbation: str, boxes: Sequence[Box], size: tuple[int, int] | None, origin: str
) -> LazyImage:
    made = perturbed(image, perturbation, boxes, size=size)
    # A case shows two occluded images of one image: the digest of their boxes tells them apart.
    key = f"{made.key}-{made.where.rpartition('@')[2][:8]}" if perturbation == "occlude" else made.key
    return replace(made, key=key, load=FittedLoad(made=made, origin=origin))


def capability_of(test: Test) -> Capability:
    return "invariance" if test.endswith("-inv") else "directional"


def task_of(
    name: str,
    made: Made,
    test: Test,
    images: Mapping[str, LazyImage],
    *,
    left_out: Mapping[str, int] | None = None,
    note: str = "",
) -> Task:
    wanting = {f"too few graphs for a question of kind {kind}": number for kind, number in made.wanting.items()}
    return Task(
        id=name,
        capability=capability_of(test),
        shape="questions",
        cases=tuple(cases_of(made.pairs, images)),
        left_out={**(left_out or {}), **wanting},
        note=note,
    )


def cases_of(pairs: Iterable[QuestionPair], images: Mapping[str, LazyImage]) -> Iterator[Case]:
    tags: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}  # a task has few: they are kept once
    for pair in pairs:
        shown = images[pair.graph.id]
        first = _perturbed(pair, shown, pair.instead) if pair.instead else shown
        both = (first, _perturbed(pair, shown, pair.foreground) if pair.perturbation else shown)
        asked = zip(both[::-1] if pair.reverse else both, pair.questions, pair.choices, strict=True)
        objects = ", ".join("none" if name is None else name for name in pair.objects)
        yield Case(
            id=pair.id,
            requests=tuple(Ask(image=seen, question=text, choices=choices) for seen, text, choices in asked),
            truths=pair.answers,
            tags=tags.setdefault(tuple(pair.tags.items()), pair.tags),
            file=f"{pair.graph.origin or pair.graph.id}, {pair.rule}, objects {objects}",
        )


def _perturbed(pair: QuestionPair, image: LazyImage, boxes: Sequence[Box]) -> LazyImage:
    graph = pair.graph
    size = (graph.width, graph.height) if graph.width and graph.height else None
    return fitted(image, pair.perturbation, boxes, size, graph.origin or f"graph {graph.id}")
