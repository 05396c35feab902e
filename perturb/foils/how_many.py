"""Existence and counting: foils of statements that how-many questions with answers give (VALSE, 3.1, 3.3)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from vlgate.perturb.foils.balance import capped, spread
from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.noun_phrases import number
from vlgate.perturb.foils.how_many_frames import Form, Frame, framed
from vlgate.perturb.foils.how_many_questions import KINDS, asked, in_plural, written
from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.grammar import capitalised_like, with_article
from vlgate.perturb.text.parsed import Parsed


def numeral(answer: str) -> int | None:
    """The number that an answer consists of, or None if it has other words or more than two digits: a guess."""
    word = answer.strip().rstrip(".!").strip().lower()
    return 0 if word == "none" else number(word)


# Turn how-many questions with a numeral for an answer into statements that can be said with any number.
# The templates are those of VALSE (appendix A.1, after Parcalabescu et al. 2021): "There are N animals shown". If
# their output is not English, another form is taken: an adjective goes before its noun ("3 green vegetables"), "have"
# becomes "with" ("3 bottles with blue caps"), other verbs go into a relative clause ("3 buildings that surround the
# tower").

_BARE = re.compile(r"(?<= in) (?=(?:picture|photo|image|pic|photograph|background|foreground|frame|shot|scene)$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement with a place for a quantifier, and the number that is true of the image."""

    number: int
    noun: str  # what is counted, in the plural
    one: Frame | None  # worded for one; None if the words behind the noun allow no singular
    many: Frame  # worded for every number but one
    # "There are # cups", "The man has # cups", "The men have # cups", "# cups were broken", "# of the cups are red"
    form: Form

    def said(self, quantifier: str, *, one: bool = False) -> str | None:
        frame = self.one if one else self.many
        if frame is None:
            return None
        text = _BARE.sub(" the ", " ".join(part for part in (frame[0], quantifier, frame[1]) if part))
        return f"{capitalised_like('A', text)}."


def statement(question: Parsed, answer: str) -> Statement | str:
    number = numeral(answer)
    if number is None:
        return "the answer is not a numeral"
    parts = asked(question)
    if isinstance(parts, str):
        return parts
    frames = framed(parts)
    if isinstance(frames, str):
        return frames
    one, many, form = frames
    if number == 1 and one is None:
        return "no wording for one"
    noun = in_plural(parts.noun, parts.head) or written(parts.noun)
    return Statement(number=number, noun=noun, one=one, many=many, form=form)


# Existence: "There are no animals shown" against "There are animals shown" (VALSE, section 3.1 and appendix A.1).
# Both come from a how-many question whose answer is a numeral. From zero the caption says "no"; from another number it
# says that there are some, in the number of the answer: "There is a dog".

_WORDS = ("0", "more")


def existence(question: Parsed, answer: str, *, singular: bool = False) -> Perturbed:
    """Make a caption and a foil about whether there are any, from a how-many question and its answer."""
    # With ``singular`` an answer of zero is said in the singular, "There is no dog", if there is a wording for it. In
    # the release only the answer one has the singular, so that "There is a dog" is always true; in a set in which some
    # zeros are singular, the number of the noun gives nothing away. The tag ``provenance`` is the release's.
    made = statement(question, answer)
    if isinstance(made, str):
        return Perturbed.of(made)
    words = {token.lower for token in question.tokens}
    noun = made.noun.lower().split()
    reason = first(
        (made.form == "group", "a part of a group is counted"),
        (bool(words & {"not", "no", "without"}), "negated"),
        (bool(set(noun) & KINDS), "kinds are counted"),
        ("and" in noun, "two nouns are counted"),
        (noun[0] in {"different", "various", "several"}, "the noun says that there are several"),
        (made.form == "clause" and "been" not in words, "what can be is not what is there"),
    )
    if reason:
        return Perturbed.of(reason)
    zero = made.number == 0
    one = made.number == 1 or (zero and singular and made.one is not None)
    nothing, something = made.said("no", one=one), _something(made, one=one)
    if nothing is None or something is None:
        return Perturbed.of("no wording for one")
    caption, foil = (nothing, something) if zero else (something, nothing)
    there = {0: "there are none", 1: "there is one"}.get(made.number, "there are some")
    why = f"The answer is {made.number}: {there}, and the foil says the opposite."
    classes = _WORDS if zero else _WORDS[::-1]
    tags = {"provenance": "zero_to_something" if zero else "something_to_zero"}
    return Perturbed.of(Foil(caption=caption, foil=foil, classes=classes, why=why, tags=tags))


def _something(made: Statement, *, one: bool) -> str | None:
    if not one:
        return made.said("")
    if made.one is None:
        return None
    before, behind = made.one
    return replace(made, number=1, one=(before, with_article(behind))).said("", one=True)


# Counting: "There are exactly 4 wheels" against another number (VALSE, section 3.3 and appendix A.3).
# The statements come from how-many questions; which number a foil takes depends on the whole set, so that a candidate
# is made in two steps: ``countable`` for one question, and ``balanced``, ``adversarial`` or ``small`` for all of them.

SMALL = (0, 1, 2, 3)  # the numbers of small-numbers captions and foils, and of adversarial foils

CAP = 130  # the most captions of one number, as in the release of counting-balanced: 121 to 131 for 0 to 5


def countable(question: Parsed, answer: str) -> Statement | str:
    made = statement(question, answer)
    one_by_one = isinstance(made, Statement) and made.form == "objects"
    return "a number that may be meant one by one" if one_by_one else made


def counted(made: Statement, number: int) -> str | None:
    """The statement with an exact number, also "exactly 0 cups", or None if it has no wording for one."""
    return made.said(f"exactly {number}", one=number == 1)


def balanced(statements: Sequence[Statement], *, seed: int, cap: int = CAP) -> Mapping[int, tuple[Foil, ...]]:
    """Make foils of every other number, by the position of their statement; a number has at most ``cap`` captions."""
    # ``balance.exchanged`` chooses among them so that each number is as often in foils as in captions.
    return _every(statements, range(len(statements)), seed=seed, cap=cap)


def small(statements: Sequence[Statement], *, seed: int, cap: int = 2 * CAP) -> Mapping[int, tuple[Foil, ...]]:
    low = [index for index, one in enumerate(statements) if one.number in SMALL]
    return _every(statements, low, seed=seed, cap=cap)


def adversarial(statements: Sequence[Statement], *, seed: int, cap: int = 2 * CAP) -> Mapping[int, tuple[Foil, ...]]:
    """Make foils of 0 to 3, as many of each, for captions of 4 and more."""
    # A model that prefers frequent numbers prefers the foils. The larger number is always the caption's.
    high = [index for index, one in enumerate(statements) if one.number > SMALL[-1]]
    kept = _capped(statements, high, cap, seed)
    chosen = spread([_sayable(statements[index], SMALL) for index in kept], seed=seed)
    return {kept[n]: tuple(_foils(statements[kept[n]], [number])) for n, number in chosen.items()}


Instrument = Callable[..., Mapping[int, tuple[Foil, ...]]]

INSTRUMENTS: Mapping[str, Instrument] = MappingProxyType(
    {"counting-balanced": balanced, "counting-small": small, "counting-adversarial": adversarial}
)


def _capped(statements: Sequence[Statement], indexes: Sequence[int], cap: int, seed: int) -> list[int]:
    return [indexes[n] for n in capped([statements[index].number for index in indexes], cap, seed=seed)]


def _every(
    statements: Sequence[Statement], indexes: Sequence[int], *, seed: int, cap: int
) -> Mapping[int, tuple[Foil, ...]]:
    kept = _capped(statements, indexes, cap, seed)
    present = sorted({statements[index].number for index in kept})
    numbers = {index: _sayable(statements[index], present) for index in kept}
    return {index: tuple(_foils(statements[index], some)) for index, some in numbers.items() if some}


def _sayable(made: Statement, numbers: Sequence[int]) -> list[int]:
    return [number for number in numbers if number != made.number and (number != 1 or made.one is not None)]


def _foils(made: Statement, numbers: Sequence[int]) -> Iterator[Foil]:
    caption = counted(made, made.number)
    for other in numbers:
        foil = counted(made, other)
        if caption is None or foil is None:
            raise ValueError(f"number={other!r} has no wording in {made.many!r}")
        why = f"The answer is {made.number}, and the foil says {other}."
        yield Foil(caption=caption, foil=foil, classes=(str(made.number), str(other)), why=why)
