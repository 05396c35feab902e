"""Counterfactual images and their normal twins, drawn for any seed; they are asked only if ``--suite`` names them."""

from __future__ import annotations

from collections.abc import Iterator

from vlgate.sources.reading.source import ReadOptions, Source, TaskRow, shapes_of
from vlgate.types import Task

_QUESTIONS = TaskRow(id="counterfactual/questions", shape="twin_questions", capability="directional")
_CAPTIONS = TaskRow(id="counterfactual/captions", shape="twin_captions", capability="foil")


def _read(options: ReadOptions) -> Iterator[Task]:
    if not options.wanted(_QUESTIONS.id) and not options.wanted(_CAPTIONS.id):
        return
    from vlgate.fixtures.scenes import twins  # it loads the looks of all things

    for row, cases in ((_QUESTIONS, twins.questions), (_CAPTIONS, twins.captions)):
        if options.wanted(row.id):
            yield row.task(cases(options.seed))


COUNTERFACTUAL = Source(read=_read, shapes=shapes_of([_QUESTIONS, _CAPTIONS]))
