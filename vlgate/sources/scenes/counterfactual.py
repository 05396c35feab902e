"""Counterfactual images and their normal twins, drawn for any seed; they are asked only if ``--suite`` names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Shape, Task

QUESTIONS, CAPTIONS = "counterfactual/questions", "counterfactual/captions"
SHAPES: Mapping[str, Shape] = MappingProxyType({QUESTIONS: "twin_questions", CAPTIONS: "twin_captions"})
"""The shape of each task, by id."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks for the seed ``options.seed``; no image is drawn, and no folder is read."""
    if not any(map(options.wanted, SHAPES)):
        return
    from vlgate.fixtures.scenes import twins  # it loads the looks of all things

    if options.wanted(QUESTIONS):
        asked = tuple(twins.questions(options.seed))
        yield Task(id=QUESTIONS, capability="directional", shape=SHAPES[QUESTIONS], cases=asked)
    if options.wanted(CAPTIONS):
        yield Task(id=CAPTIONS, capability="foil", shape=SHAPES[CAPTIONS], cases=tuple(twins.captions(options.seed)))
