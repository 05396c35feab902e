"""Whether an edited scene leaves the truths of a case as they were, by the reader that knows the edited graph."""

from __future__ import annotations

from vlgate.errors import NoReplyError
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import Graph
from vlgate.judging.answers import normal_answer
from vlgate.types import Ask, Case, Compare, LazyImage, Match, Read


class Truth:
    """Decides the truth of each text of a case by itself: it reads the text and looks at the graph of the image."""

    def __init__(self) -> None:
        """Start with no text."""
        self._reader = Reader()

    def keeps(self, case: Case) -> bool:
        """Return whether every text is as true, and every answer as right, as the case says; False if unknown."""
        pairs, questions = [], []
        for request, truth in zip(case.requests, case.truths, strict=True):
            if isinstance(request, Read | Compare):  # the reader reads texts about one image
                return False
            if isinstance(request, Match):
                pairs.append((request, truth))
            else:
                questions.append((request, truth))
        return self._pairs(pairs) and self._questions(questions)

    def _pairs(self, pairs: list[tuple[Match, bool | str]]) -> bool:
        try:
            scores = self._reader.match([pair for pair, _ in pairs])
        except NoReplyError:
            return False
        return all(bool(score) is truth for score, (_, truth) in zip(scores, pairs, strict=True))

    def _questions(self, questions: list[tuple[Ask, bool | str]]) -> bool:
        try:
            answers = self._reader.answer([question for question, _ in questions])
        except NoReplyError:
            return False
        return all(
            normal_answer(answer) == normal_answer(str(truth))
            for answer, (_, truth) in zip(answers, questions, strict=True)
        )


def graph_of(image: LazyImage) -> Graph | None:
    """Return the graph that an image is drawn from; None for another image, or one that is perturbed."""
    load = image.load
    if isinstance(load, Drawing):
        return load.graph
    made = getattr(load, "made", None)
    return graph_of(made) if isinstance(made, LazyImage) else None
