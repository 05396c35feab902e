"""What a chat completion says: its text, a yes or no, or the probability of yes; or why it says nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlgate.answers import read_answer
from vlgate.calling import Problem

_ENDS = " \t\r\n\u2581\u0120\u010a\"'`*_.,:;!()"  # with the blanks of sentencepiece and of byte-level tokens
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_THOUGHTS = ("reasoning_content", "reasoning")  # where vLLM, SGLang, DeepSeek and OpenRouter put them
_REFUSED = ("content_filter", "safety", "refusal")
_SHOWN = 80


def said(reply: Mapping[str, object]) -> str | Problem:
    """The text of a reply, without the thoughts of a model that thinks aloud.

    >>> said({"choices": [{"message": {"content": " A cat. "}, "finish_reason": "stop"}]})
    'A cat.'
    """
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return choice
    if choice.get("finish_reason") == "length":
        return Problem(why="the answer is cut at the most tokens that it may have; raise max_tokens")
    text = _THOUGHT.sub("", _text(choice)).strip()
    if not text:
        return Problem(why="the answer is empty")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return Problem(why="the answer is no text: it holds half a surrogate pair")
    if text.startswith("<think>"):
        return Problem(why="the answer is a thought that does not end")
    return text


def yes_or_no(reply: Mapping[str, object]) -> float | Problem:
    """1.0 where the reply says yes, 0.0 where it says no."""
    text = said(reply)
    if isinstance(text, Problem):
        return text
    answer = read_answer(text, ("yes", "no"))
    if answer is None:
        return Problem(why=f"the answer {text[:_SHOWN]!r} is neither yes nor no")
    return float(answer == "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstWord:
    """The probabilities that an answer begins with yes and with no; None where the word is not among the likeliest."""

    yes: float | None
    no: float | None


def first_word(reply: Mapping[str, object]) -> FirstWord | Problem:
    """How likely an answer begins with yes, and how likely with no, each in any spelling.

    >>> words = [{"token": "Yes", "logprob": -0.5}, {"token": " no", "logprob": -1.0}]
    >>> choice = {"message": {"content": "Yes"}, "logprobs": {"content": [{"token": "Yes", "top_logprobs": words}]}}
    >>> round(first_word({"choices": [choice]}).yes, 3)
    0.607
    """
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return choice
    if thinks(reply):
        return Problem(why="the model thinks before it answers, so that its first word is no answer; add logprobs=0")
    likely = _likeliest(choice)
    if likely is None:
        return Problem(why="the reply has no log-probabilities, or none that can be read, though others had")
    yes, no = _probability(likely, "yes"), _probability(likely, "no")
    if yes is None and no is None:
        shown = ", ".join(repr(token) for token, _ in likely[:5])
        return Problem(why=f"neither yes nor no is among the likeliest first words ({shown}); try logprobs=0")
    return FirstWord(yes=yes, no=no)


def _probability(likely: Sequence[tuple[str, float]], word: str) -> float | None:
    found = [probability for token, probability in likely if token.strip(_ENDS).casefold() == word]
    return min(1.0, sum(found)) if found else None


def thinks(reply: Mapping[str, object]) -> bool:
    """Whether a model wrote down what it thinks before its answer, in the answer or beside it."""
    choice = _choice(reply)
    if isinstance(choice, Problem):
        return False
    aside = any(choice["message"].get(name) for name in _THOUGHTS)
    return aside or _text(choice).lstrip().startswith("<think>")


def tells_probabilities(reply: Mapping[str, object]) -> bool:
    """Whether a reply has log-probabilities that can be read, of an answer and not of thoughts before it."""
    choice = _choice(reply)
    return not isinstance(choice, Problem) and not thinks(reply) and _likeliest(choice) is not None


def _choice(reply: Mapping[str, object]) -> dict[str, Any] | Problem:
    """The first choice of a reply that is one and was not refused."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
        refusal = choice["message"].get("refusal")
        if refusal or choice.get("finish_reason") in _REFUSED:
            return Problem(why=f"the service refuses to answer: {str(refusal or choice['finish_reason'])[:_SHOWN]}")
        return choice
    if error := reply.get("error"):
        return Problem(why=f"the service answers with an error: {str(error)[:_SHOWN]}")
    return Problem(why=f"the reply is no chat completion: it has {', '.join(map(str, reply)) or 'nothing'}")


def _text(choice: Mapping[str, Any]) -> str:
    content = choice["message"].get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part, dict) and _is_text(part))
    return content if isinstance(content, str) else ""


def _is_text(part: Mapping[str, object]) -> bool:
    return isinstance(part.get("text"), str)


def _likeliest(choice: Mapping[str, Any]) -> list[tuple[str, float]] | None:
    """The likeliest first tokens that are no mere blanks, with their probabilities."""
    match choice.get("logprobs"):
        case {"content": list(tokens)}:
            for token in tokens:
                match token:
                    case {"token": str(text), "top_logprobs": [_, *_] as likely} if text.strip(_ENDS):
                        return _probabilities(likely)
                    case {"token": str(text)} if not text.strip(_ENDS):
                        continue
                return None
    return None


def _probabilities(likely: list[object]) -> list[tuple[str, float]] | None:
    found = []
    for one in likely:
        match one:
            case {"token": str(token), "logprob": int() | float() as logprob} if not math.isnan(logprob):
                found.append((token, math.exp(min(0.0, logprob))))
            case _:
                return None
    return found
