"""How a request reaches a model: through the method made for it, or through an adapter to another method.

An adapter asks a matcher which choice completes a question best, and an answerer whether a text describes an image.
"""

from collections.abc import Mapping

from vlgate.asking.batching import Problem
from vlgate.errors import printable
from vlgate.types import TIED, Answerer, Ask, Comparer, DualEncoder, LanguageModel, Match, Matcher, Prediction, Request

COMPARES = "compare(), for questions about several images"
_SHOWN = 80  # characters of an answer in a message
YES_OR_NO = "the score of a match is 1 for yes and 0 for no"
ANSWERED = "adapter: the score is 1 if answer() to"
_ADAPTERS = {
    "match": "match(): scores pairs together",
    "encode": "encode_images() and encode_texts(): the score is the dot product",
    "answer": "answer()",
    "perplexity": "perplexity()",
    "compare": "compare(): several images in one prompt, in two orders; a choice counts if it is made in both",
    "match by answer": f'{ANSWERED} "Does TEXT describe the image?" is yes, else 0',
    "match by perplexity": "adapter: the score is minus the perplexity of the text; the image is not used",
    "answer by match": "adapter: the choice whose 'QUESTION CHOICE' scores highest; an exact tie counts as no answer",
}


def adapters(model: object, *, together: bool = False) -> dict[str, str]:
    read = "perplexity" if isinstance(model, LanguageModel) else None
    found = {"Match": match_adapter(model), "Ask": ask_adapter(model), "Read": read}
    found |= {"Compare": "compare"} if together and isinstance(model, Comparer) else {}
    lines = {kind: _ADAPTERS[name] for kind, name in found.items() if name is not None}
    reading = getattr(model, "reading", None)  # how a dual encoder reads texts
    if found["Match"] == "encode" and isinstance(reading, str) and reading:
        lines["Match"] += f"; {printable(reading)}"
    return lines


def match_adapter(model: object) -> str | None:
    if isinstance(model, Matcher):
        return "match"
    if isinstance(model, DualEncoder):
        return "encode"
    if isinstance(model, Answerer):
        return "match by answer"
    return "match by perplexity" if isinstance(model, LanguageModel) else None


def ask_adapter(model: object) -> str | None:
    if isinstance(model, Answerer):
        return "answer"
    return "answer by match" if isinstance(model, Matcher | DualEncoder | LanguageModel) else None


def described(pair: Match) -> Ask:
    question = f'Does "{pair.text}" describe the image?'
    return Ask(image=pair.image, question=question, choices=("yes", "no"))


def agreement(answer: Prediction) -> float | Problem:
    from vlgate.judging.answers import read_answer

    if answer.problem is not None:
        return Problem(why=answer.problem, skipped=answer.skipped)
    if answer.answer is None:
        return Problem(why="the answers yes and no are equally likely")
    said = read_answer(answer.answer, ("yes", "no"))
    if said is None:  # as a 0, it would make a foil look rejected
        return Problem(why=f"the answer {answer.answer[:_SHOWN]!r} is neither yes nor no")
    return float(said == "yes")


def plausible(read: Prediction) -> float | Problem:
    if read.score is None:
        return Problem(why=read.problem or "no perplexity", skipped=read.skipped)
    return -read.score


def completed(question: Ask, choice: str) -> Match:
    return Match(image=question.image, text=f"{question.question} {choice}")


def best_choice(question: Ask, scores: Mapping[Request, Prediction]) -> str | Problem:
    if not question.choices:
        why = "a model that only matches cannot answer a question without choices"
        return Problem(why=f'{why}; add "choices" to the case, or give the model a method answer()')
    found = [scores[completed(question, choice)] for choice in question.choices]
    for reply in found:
        if reply.score is None:
            return Problem(why=reply.problem or "no score", skipped=reply.skipped)
    best = max(reply.score for reply in found if reply.score is not None)
    winners = [choice for choice, reply in zip(question.choices, found, strict=True) if reply.score == best]
    return winners[0] if len(winners) == 1 else TIED
