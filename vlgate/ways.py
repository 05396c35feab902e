"""How a request reaches a model: by a method of its own, or by an adapter that asks another of its methods.

A matcher is asked which choice completes the question best, an answerer whether a text describes the picture.
"""

from __future__ import annotations

from vlgate.answers import normal_answer
from vlgate.calling import Problem
from vlgate.types import TIED, Answerer, Ask, DualEncoder, Match, Matcher, Prediction, Reader, Request

_WAYS = {
    "match": "match(): scores pairs together",
    "encode": "encode_images() and encode_texts(): the score is the dot product",
    "answer": "answer()",
    "perplexity": "perplexity()",
    "match by answer": 'adapter: the score is 1 where answer() to "Does TEXT describe the picture?" is yes, else 0',
    "match by perplexity": "adapter: a text's score is minus its perplexity; the picture is not looked at",
    "answer by match": "adapter: the choice whose 'QUESTION CHOICE' scores highest; an exact tie is no answer",
}


def ways(model: object) -> dict[str, str]:
    """How each kind of request reaches a model, in words, for the report; a kind that does not is left out."""
    found = {"Match": match_way(model), "Ask": ask_way(model), "Read": read_way(model)}
    return {kind: _WAYS[way] for kind, way in found.items() if way is not None}


def match_way(model: object) -> str | None:
    """How a model scores a picture with a text; None where it cannot."""
    if isinstance(model, Matcher):
        return "match"
    if isinstance(model, DualEncoder):
        return "encode"
    if isinstance(model, Answerer):
        return "match by answer"
    return "match by perplexity" if isinstance(model, Reader) else None


def ask_way(model: object) -> str | None:
    """How a model answers a question; None where it cannot."""
    if isinstance(model, Answerer):
        return "answer"
    return "answer by match" if isinstance(model, Matcher | DualEncoder | Reader) else None


def read_way(model: object) -> str | None:
    """How a model reads a text; None where it cannot."""
    return "perplexity" if isinstance(model, Reader) else None


def described(pair: Match) -> Ask:
    """Put a pair as a question, for an answerer."""
    question = f'Does "{pair.text}" describe the picture?'
    return Ask(picture=pair.picture, question=question, choices=("yes", "no"))


def agreement(answer: Prediction) -> float | Problem:
    """The score of a pair from the answer to whether its text describes its picture."""
    if answer.problem is not None:
        return Problem(why=answer.problem, skipped=answer.skipped)
    return float(normal_answer(answer.answer or "") == "yes")


def plausible(read: Prediction) -> float | Problem:
    """The score of a pair from the perplexity of its text alone."""
    if read.score is None:
        return Problem(why=read.problem or "no perplexity", skipped=read.skipped)
    return -read.score


def completed(question: Ask, choice: str) -> Match:
    """Put a question and one of its choices as a pair, for a matcher."""
    return Match(picture=question.picture, text=f"{question.question} {choice}")


def best_choice(question: Ask, scores: dict[Request, Prediction]) -> str | Problem:
    """The choice whose pair scores highest; ``TIED`` where several do."""
    if not question.choices:
        return Problem(why="a model that only matches cannot answer a question without choices")
    found = [scores[completed(question, choice)] for choice in question.choices]
    for reply in found:
        if reply.score is None:
            return Problem(why=reply.problem or "no score", skipped=reply.skipped)
    best = max(reply.score for reply in found if reply.score is not None)
    winners = [choice for choice, reply in zip(question.choices, found, strict=True) if reply.score == best]
    return winners[0] if len(winners) == 1 else TIED
