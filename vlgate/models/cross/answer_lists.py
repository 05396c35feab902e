"""Fixed lists of answers: find and read a list, and choose an answer or one of a question's choices by the scores."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from vlgate.asking.batching import OVERFLOW
from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.judging.normal import normal_answer
from vlgate.models.checkpoints.fingerprint import digest, expanded
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.types import TIED, Ask, FloatArray

# Nothing is guessed. A question with a choice that the model does not know as an answer has no reply, with a reason.
# If the best choices have exactly the same score, the reply is ``TIED``.

_DIGITS = {word: str(number) for number, word in enumerate(NUMBER_WORDS[:11])}
_ARTICLES = frozenset(("a", "an", "the"))


def vqa_form(text: str) -> str:
    """Return an answer in the form of the labels of VQA v2: no articles or punctuation, numbers up to ten as digits."""
    # The answer processing of the VQA evaluation (Antol et al. 2015, visualqa.org/evaluation).
    words = (word.strip("':") for word in re.sub(r"[^\w\s':]", " ", normal_answer(text)).split())
    return " ".join(_DIGITS.get(word, word) for word in words if word and word not in _ARTICLES)


class Vocabulary:
    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._exact: dict[str, int] = {}
        self._formed: dict[str, int] = {}
        for index, label in enumerate(self.labels):
            self._exact.setdefault(normal_answer(label), index)
            self._formed.setdefault(vqa_form(label), index)
        self._formed.pop("", None)  # from a label that is only an article

    def place(self, choice: str) -> int | None:
        formed = vqa_form(choice)
        places = (self._exact.get(normal_answer(choice)), self._exact.get(formed), self._formed.get(formed))
        return next((place for place in places if place is not None), None)

    def unknown(self, choices: Sequence[str]) -> list[str]:
        return [choice for choice in choices if self.place(choice) is None]


def refuse(reasons: Mapping[int, str]) -> None:
    if reasons:
        why = next(iter(reasons.values()))
        raise NoReplyError([place for place, reason in reasons.items() if reason == why], why)


def best(choices: Sequence[Sequence[str]], scores: Sequence[FloatArray]) -> list[str]:
    replies = []
    for offered, values in zip(choices, scores, strict=True):
        if not np.isfinite(values).all():
            raise ModelReplyError(f"a score of an answer is not finite: {OVERFLOW}")
        first = np.flatnonzero(values == np.max(values))
        replies.append(offered[int(first[0])] if len(first) == 1 else TIED)
    return replies


def restricted(question: Ask, mode: str) -> bool:
    return mode == "restricted" and bool(question.choices)


# LXMERT's and VisualBERT's checkpoints number their answers but do not name them; the names are in files of the
# releases.

_SHOWN = 3
_UNNAMED = re.compile(r"LABEL_\d+")


class AnswerList:
    def __init__(self, answers: Sequence[str], mode: str) -> None:
        self.answers = tuple(answers)
        self.fingerprint = digest(*answers, mode)
        self._mode = mode
        self._vocabulary = Vocabulary(self.answers)
        self._unknown: set[str] = set()

    @property
    def note(self) -> str:
        if not self._unknown:
            return ""
        some = ", ".join(map(repr, sorted(self._unknown)[:_SHOWN]))
        return (
            f"{len(self._unknown)} choices are none of the model's {len(self.answers)} answers ({some}); questions "
            "with them have no reply, except with ?mode=open"
        )

    def check(self, questions: Sequence[Ask]) -> None:
        reasons: dict[int, str] = {}
        for index, question in enumerate(questions):
            if restricted(question, self._mode) and (unknown := self._vocabulary.unknown(question.choices)):
                self._unknown.update(unknown)
                reasons[index] = f"the choice {unknown[0]!r} is none of the answers that the model knows"
        refuse(reasons)

    def choose(self, scores: FloatArray, questions: Sequence[Ask]) -> list[str]:
        offered, rows = [], []
        for row, question in zip(scores, questions, strict=True):
            held = restricted(question, self._mode)
            offered.append(question.choices if held else self.answers)
            # Two choices that are the same answer of the model ("two" and "2") tie.
            places = [self._vocabulary.place(choice) for choice in question.choices]
            rows.append(row[[place for place in places if place is not None]] if held else row)
        return best(offered, rows)


def answer_list(file: Path | None, named: Mapping[int, str], count: int, *, mode: str, where: str) -> AnswerList:
    if file is not None:
        answers = read_answers(file)
    elif sorted(named) == list(range(count)) and not any(_UNNAMED.fullmatch(name) for name in named.values()):
        answers = tuple(named[place] for place in sorted(named))
    else:
        raise ModelLoadError(
            f"the checkpoint has {count} answers and does not say which they are; give answers=FILE: {where}"
        )
    if len(answers) != count:
        raise ModelLoadError(
            f"{file} has {len(answers)} answers for a model that has {count}; give the right answers=FILE: {where}"
        )
    return AnswerList(answers, mode)


def answers_file(asked: str, folder: Path, beside: Path | None, names: Sequence[str]) -> Path | None:
    if asked:
        file = expanded(asked, folder)
        if not file.is_file():
            raise ModelLoadError(f"answers={asked!r}: there is no file {file}")
        return file
    if beside is None:
        return None
    return next((beside / name for name in names if (beside / name).is_file()), None)


def check_answers(asked: str, folder: Path) -> None:
    file = answers_file(asked, folder, None, ())
    if file is not None:
        read_answers(file)


def read_answers(file: Path) -> tuple[str, ...]:
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise ModelLoadError(f"{file} is not a regular file; name a list of answers")
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".json":
            return _of_json(json.loads(text))
        # Not splitlines(): it also splits at a stray form feed in an answer, which would shift all later answers.
        return tuple(line.strip() for line in text.removesuffix("\n").split("\n"))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelLoadError(
            f"{file} cannot be read as answers ({type(error).__name__}: {error}); expected a JSON list of strings in "
            "the order of the model's scores, a JSON object from answers to numbers, or text with one answer per line"
        ) from error


def _of_json(content: object) -> tuple[str, ...]:
    if isinstance(content, list):
        answers = tuple(item["ans"] if isinstance(item, dict) else item for item in content)
    elif isinstance(content, dict):
        by_number = all(isinstance(name, str) for name in content.values())
        numbered = {int(key if by_number else value): value if by_number else key for key, value in content.items()}
        if sorted(numbered) != list(range(len(content))):
            raise ValueError(f"the numbers must be 0 to {len(content) - 1}, each once")
        answers = tuple(numbered[index] for index in range(len(numbered)))
    else:
        raise TypeError(f"it holds a value of type {type(content).__name__}")
    if not all(isinstance(answer, str) for answer in answers):
        raise TypeError("not all answers in it are strings")
    return answers
