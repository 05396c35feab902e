"""What a classifier over a fixed list of answers replies: where the list is found, and the choice among its scores.

LXMERT's and VisualBERT's checkpoints number their answers without naming them; the names lie in files of the releases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from vlgate.errors import ModelLoadError
from vlgate.models.fingerprint import digest
from vlgate.models.vqa_choices import MODES, Vocabulary, best, refuse, restricted
from vlgate.types import Ask, FloatArray

_SHOWN = 3
_UNNAMED = re.compile(r"LABEL_\d+")


class AnswerList:
    """The answers that a model can give, in the order of its scores.

    A question is answered by one of its choices; in the mode ``open``, and where it has none, by any of the answers.
    """

    def __init__(self, answers: Sequence[str], mode: str) -> None:
        """Take the answers; ``mode`` is one of ``vqa_choices.MODES``."""
        self.answers = tuple(answers)
        self.fingerprint = digest(*answers, mode)
        self._mode = mode
        self._vocabulary = Vocabulary(self.answers)
        self._unknown: set[str] = set()

    @property
    def note(self) -> str:
        """How many choices so far the model cannot give; "" for none."""
        if not self._unknown:
            return ""
        some = ", ".join(map(repr, sorted(self._unknown)[:_SHOWN]))
        return (
            f"{len(self._unknown)} choices are none of the model's {len(self.answers)} answers ({some}); questions "
            "with them have no reply, except with ?mode=open"
        )

    def check(self, questions: Sequence[Ask]) -> None:
        """Leave out, before anything is computed, questions with a choice that the model cannot give.

        Raises: NoReplyError with their positions.
        """
        reasons: dict[int, str] = {}
        for place, question in enumerate(questions):
            if restricted(question, self._mode) and (unknown := self._vocabulary.unknown(question.choices)):
                self._unknown.update(unknown)
                reasons[place] = f"the choice {unknown[0]!r} is none of the answers that the model knows"
        refuse(reasons)

    def choose(self, scores: FloatArray, questions: Sequence[Ask]) -> list[str]:
        """Answer questions that ``check`` let pass: the choice, or the answer, with the highest score.

        Two choices that are one answer of the model (two, 2) score the same.

        Args:
            scores: of shape (n, answers).
            questions: n of them.

        Returns: n answers, ``TIED`` where the best score exactly the same.
        Raises: ModelReplyError where a score is not finite.
        """
        held = [restricted(question, self._mode) for question in questions]
        offered = [question.choices if one else self.answers for question, one in zip(questions, held, strict=True)]
        rows = zip(scores, questions, held, strict=True)
        return best(offered, [row[self._places(question)] if one else row for row, question, one in rows])

    def _places(self, question: Ask) -> list[int]:
        return [place for choice in question.choices if (place := self._vocabulary.place(choice)) is not None]


def answer_list(file: Path | None, named: Mapping[int, str], count: int, *, mode: str, where: str) -> AnswerList:
    """The answers of a model with ``count`` scores.

    Args:
        file: where the answers' names are; None for those of the configuration.
        named: the configuration's ``id2label``, which often has made-up names only (LABEL_0).
        count: how many answers the model scores.
        mode: one of ``vqa_choices.MODES``; "" for the first.
        where: where a user finds the list, for the error.

    Raises: ModelLoadError where there is no list, or one of another length.
    """
    if file is not None:
        answers = read_answers(file)
    elif sorted(named) == list(range(count)) and not any(_UNNAMED.fullmatch(name) for name in named.values()):
        answers = tuple(named[place] for place in sorted(named))
    else:
        raise ModelLoadError(f"the checkpoint has {count} answers and does not say which; give answers=FILE: {where}")
    if len(answers) != count:
        raise ModelLoadError(
            f"{file}: {len(answers)} answers for a model that has {count}; give the right one: {where}"
        )
    return AnswerList(answers, check_mode(mode))


def check_mode(mode: str) -> str:
    """Hold ``mode`` against ``MODES``.

    Returns: the mode, the first of them where it is empty.
    Raises: ModelLoadError.
    """
    if mode and mode not in MODES:
        raise ModelLoadError(f"mode={mode!r}: expected {' or '.join(MODES)}")
    return mode or MODES[0]


def answers_file(asked: str, folder: Path, beside: Path | None, names: Sequence[str]) -> Path | None:
    """Where the names of a model's answers are.

    Args:
        asked: the file that the user named; "" for none.
        folder: where the user started.
        beside: the folder of the weights; None where it is not known yet.
        names: what such a file is called there.

    Returns: the file, None where there is none.
    Raises: ModelLoadError where the user named one that is not there.
    """
    if asked:
        file = folder / Path(asked).expanduser()
        if not file.is_file():
            raise ModelLoadError(f"answers={asked!r}: there is no file {file}")
        return file
    if beside is None:
        return None
    return next((beside / name for name in names if (beside / name).is_file()), None)


def check_answers(asked: str, folder: Path) -> None:
    """Say whether the file of answers that the user named ("" for none) is there and can be read.

    Raises: ModelLoadError.
    """
    file = answers_file(asked, folder, None, ())
    if file is not None:
        read_answers(file)


def read_answers(file: Path) -> tuple[str, ...]:
    """Read a list of answers, in any of the forms that they are released in.

    Args:
        file: JSON, as a list of answers, a list of objects with ``ans``, or an object from answers to numbers or from
            numbers to answers; any other file has an answer a line.

    Returns: the answers in the order of their numbers.
    Raises: ModelLoadError.
    """
    try:
        text = file.read_text(encoding="utf-8")
        answers = _of_json(json.loads(text)) if file.suffix == ".json" else _of_lines(text)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelLoadError(
            f"{file} cannot be read as answers ({type(error).__name__}: {error}); expected a JSON list of strings "
            "in the order of the model's scores, a JSON object from answers to numbers, or a text with an answer a line"
        ) from error
    return answers


def _of_lines(text: str) -> tuple[str, ...]:
    # Not splitlines(), to which a stray form feed in an answer is an end, and all answers behind it move by one.
    return tuple(line.strip() for line in text.removesuffix("\n").split("\n"))


def _of_json(content: object) -> tuple[str, ...]:
    if isinstance(content, list):
        answers = tuple(item["ans"] if isinstance(item, dict) else item for item in content)
    elif isinstance(content, dict):
        by_number = all(isinstance(name, str) for name in content.values())
        numbered = {int(key if by_number else value): value if by_number else key for key, value in content.items()}
        if sorted(numbered) != list(range(len(content))):
            raise ValueError(f"its numbers are not 0 to {len(content) - 1}, each once")
        answers = tuple(numbered[place] for place in range(len(numbered)))
    else:
        raise TypeError(f"it holds a {type(content).__name__}")
    if not all(isinstance(answer, str) for answer in answers):
        raise TypeError("an answer in it is no string")
    return answers
