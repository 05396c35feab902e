"""Coreference: "a woman on a motorcycle. is she wearing a helmet? yes." against "no." (VALSE, section 3.6 and A.6).

Caption and foil are the caption of an image, a question of a dialog about it, and its answer cut down to "yes" or "no",
in lower case as in the release. The release takes any question with a pronoun, and 77 % of its records are valid.
``coreference`` also asks whether the pronoun has an antecedent in the caption and whether the answer can be relied on
(``dialogs/``); with ``checked=False`` it does as the release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vlgate.perturb.foils.balance import even_within
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.dialogs.antecedents import PRONOUNS, of_the_image, without_antecedent
from vlgate.perturb.foils.dialogs.certainty import uncertain
from vlgate.perturb.foils.inputs import Dialog, Turn
from vlgate.perturb.parsing.parsed import Parsed
from vlgate.seeds import quick_generator

INSTRUMENTS: Mapping[str, str] = MappingProxyType({"train": "coreference-standard", "val": "coreference-clean"})
"""The instrument by VisDial's split; models that were trained on VisDial know the dialogs of the first."""

IMAGE_SHARE = 1 / 3
"""The largest share of questions about an image as a whole ("is it sunny?") in a set."""

_OPPOSITE = {"yes": "no", "no": "yes"}
_ANSWER = re.compile(r"(?P<word>yes|no)(?![\w'\u2019-])(?! (?:and|or) (?:yes|no)\b)", re.IGNORECASE)
_END = " \t\n.,;:!?"


def posed(caption: str, question: str, answer: str) -> Foil | str:
    """Say caption, question and answer as one text, and the foil with the other answer.

    ``classes`` of the foil are the answers.

    Returns: the foil, or a short reason why there is none.

    >>> posed("A woman on a motorcycle.", "is she wearing a helmet", "Yes, she is").foil
    'a woman on a motorcycle. is she wearing a helmet? no.'
    """
    found = _ANSWER.match(answer.strip())
    scene, asked = caption.strip(_END).lower(), question.strip(_END).lower()
    if found is None:
        return "the answer does not begin with yes or no"
    if not scene or not asked:
        return "an empty caption or question"
    if not set(re.findall(r"\w+", asked)) & PRONOUNS:
        return "no pronoun"
    word = found["word"].lower()
    text, other = f"{scene}. {asked}?", _OPPOSITE[word]
    why = f'The answer in the dialog is "{word}", and the foil says "{other}".'
    return Foil(caption=f"{text} {word}.", foil=f"{text} {other}.", classes=(word, other), why=why)


def coreference(dialog: Dialog, caption: Parsed, questions: Sequence[Parsed], *, checked: bool = True) -> Found:
    """Make a candidate of each turn of a dialog that has a pronoun in its question and yes or no for an answer.

    ``caption`` and ``questions`` are the dialog's texts, parsed. The tag ``antecedent`` says what a question is about:
    the "image" as a whole ("is it sunny"), or what its "caption" names. Choose among the candidates of all dialogs with
    ``selected``, so that half of the captions say yes.

    Raises: ValueError if there are not as many questions as turns.
    """
    if len(questions) != len(dialog.turns):
        raise ValueError(f"len(questions)={len(questions)!r} must be len(dialog.turns)={len(dialog.turns)!r}")
    made: list[Foil] = []
    refused: list[str] = []
    for place, (turn, question) in enumerate(zip(dialog.turns, questions, strict=True)):
        one = posed(dialog.caption, turn.question, turn.answer)
        reason = one if isinstance(one, str) else ""
        if not reason and checked:
            reason = uncertain(question, turn.answer) or without_antecedent(
                question, caption, _said(dialog.turns[:place])
            )
        if reason or isinstance(one, str):
            refused.append(reason)
        else:
            made.append(replace(one, tags={"antecedent": "image" if of_the_image(question) else "caption"}))
    return Found(candidates=tuple(made), refused=tuple(refused))


def selected(
    candidates: Sequence[Foil], *, seed: int, limit: int | None = None, image_share: float = IMAGE_SHARE
) -> tuple[int, ...]:
    """Choose candidates of which half say yes, and so, as far as possible, of each question that several dialogs have.

    At most ``image_share`` of the chosen ones ask about the image as a whole: their "it" needs no antecedent.

    Returns: the positions of the chosen candidates, in ascending order.
    """
    answers = [one.classes[0] for one in candidates]
    questions = [one.caption.rpartition("? ")[0].rpartition(". ")[2] for one in candidates]
    left = list(range(len(candidates)))
    while True:
        some, asked = [answers[place] for place in left], [questions[place] for place in left]
        chosen = [left[n] for n in even_within(some, asked, ("yes", "no"), seed=seed, limit=limit)]
        whole = [place for place in chosen if candidates[place].tags["antecedent"] == "image"]
        if len(whole) <= image_share * len(chosen):
            return tuple(chosen)
        room = int(image_share / (1 - image_share) * (len(chosen) - len(whole)) + 1e-9)  # 1/3 is not exact
        rest = [place for place in left if candidates[place].tags["antecedent"] != "image"]
        more = sum(1 if answers[place] == "no" else -1 for place in rest)
        quick_generator(f"{seed}/whole images").shuffle(whole)
        left = sorted((*rest, *_some(whole, answers, min(room, len(whole) - 1), more)))


def _some(whole: Sequence[int], answers: Sequence[str], room: int, more: int) -> Sequence[int]:
    """Take ``room`` of the places in ``whole``, with ``more`` times "yes" than "no" as far as there are so many."""
    places = {answer: [place for place in whole if answers[place] == answer] for answer in ("yes", "no")}
    yes = min(len(places["yes"]), max(room - len(places["no"]), (room + more) // 2, 0), room)
    return (*places["yes"][:yes], *places["no"][: room - yes])


def _said(turns: Sequence[Turn]) -> str:
    return " ".join(f"{turn.question} {turn.answer}" for turn in turns)
