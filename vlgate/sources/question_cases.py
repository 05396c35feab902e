"""From pairs of questions to a table's cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vlgate.errors import PictureError
from vlgate.perturb.images import perturbed
from vlgate.perturb.questions import Made, QuestionPair, Test
from vlgate.types import Ask, Capability, Case, Picture, Table

if TYPE_CHECKING:
    from PIL.Image import Image


def capability_of(test: Test) -> Capability:
    """Return what a test expects of the two answers: that they stay, or that they change.

    >>> capability_of("order-inv"), capability_of("antonym-dir")
    ('invariance', 'directional')
    """
    return "invariance" if test.endswith("-inv") else "directional"


def table_of(
    name: str,
    made: Made,
    test: Test,
    pictures: Mapping[str, Picture],
    *,
    left_out: Mapping[str, int] | None = None,
    note: str = "",
) -> Table:
    """Return the table of a test's pairs; ``pictures`` are those of the graphs, by the graphs' ids.

    What the graphs gave too few questions for stands in ``left_out`` too, by kind.
    """
    wanting = {f"too few graphs for a question of kind {kind}": number for kind, number in made.wanting.items()}
    return Table(
        id=name,
        capability=capability_of(test),
        shape="questions",
        cases=tuple(cases_of(made.pairs, pictures)),
        left_out={**(left_out or {}), **wanting},
        note=note,
    )


def cases_of(pairs: Iterable[QuestionPair], pictures: Mapping[str, Picture]) -> Iterator[Case]:
    """Yield a case a pair: the original and the perturbed question, or the question of the two pictures.

    The case's origin says which graph, rule and objects it was made from.
    """
    tags: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}  # a table has few: they are kept once
    for pair in pairs:
        shown = pictures[pair.graph.id]
        both = (shown, _perturbed(pair, shown) if pair.picture else shown)
        asked = zip(both[::-1] if pair.reverse else both, pair.questions, pair.choices, strict=True)
        yield Case(
            id=pair.id,
            requests=tuple(Ask(picture=image, question=text, choices=choices) for image, text, choices in asked),
            truths=pair.answers,
            tags=tags.setdefault(tuple(pair.tags.items()), pair.tags),
            origin=_origin(pair),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Decodes a perturbed picture; boxes that do not fit the file are a fault of the picture, not of the model."""

    made: Picture
    origin: str

    def __call__(self) -> Image:
        """Return the picture.

        Raises: PictureError as the picture itself does, and where none of the boxes is on it.
        """
        try:
            return self.made.load()
        except ValueError as error:
            remedy = "put the picture there that was annotated, or give its width and height in the graph"
            raise PictureError(self.made.key, f"does not go with {self.origin} ({error})", remedy) from None


def _perturbed(pair: QuestionPair, picture: Picture) -> Picture:
    graph = pair.graph
    size = (graph.width, graph.height) if graph.width and graph.height else None
    made = perturbed(picture, pair.picture, pair.foreground, size=size)
    return replace(made, load=Load(made=made, origin=graph.origin or f"graph {graph.id}"))


def _origin(pair: QuestionPair) -> str:
    objects = ", ".join("none" if name is None else name for name in pair.objects)
    return f"{pair.graph.origin or pair.graph.id}, {pair.rule}, objects {objects}"
