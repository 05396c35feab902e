"""Letters and numbers of options: the choice that "(b)", "option 2" or "A: sleeping" means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_lowercase

MARK = "\ue000"  # stands before the number of an option; a private character, which replies do not contain
_HERE = "\ue001"  # marks the place of a letter or number that may be an option
_CAPITAL = "\ue002"  # marks that of a capital that is one
_LABEL = r"(?:[a-z]|\d{1,2})"
_ONE = re.compile(_LABEL, re.IGNORECASE)
_MEANT = re.compile(
    r"""(?<!\w)[(\[\{]\s*([a-z]|\d{1,2})\s*[)\]\}]  # (2), [b]
    | (?<![\w(])([a-z]|\d{1,2})\)  # 2)
    | (?<=\ue002)([a-z])
    | (?<=\ue001)([a-z]|\d{1,2})
      (?=\s*(?:$|[.,;:!?"'*\n()\[\]/\u2013\u2014-]|(?:is|was|because|since|as|and|or|but|which|over|not|rather|instead)\b))
    | ^[^\w\n(\[]*([a-z]|\d{1,2})(?=[^\w\n]*$|[.:]\s|\s+[-\u2013\u2014]\s|\s*\()  # B., 2: a dog, A - a dog
    | (?<!\w)([a-z])(?=:\s)""",
    re.VERBOSE | re.MULTILINE,
)
_BEFORE = re.compile(
    r"\b((?:answer|caption|choice|choose|image|letter|number|option|output|pick|prediction|result|select|statement|"
    r"verdict|conclusion)(?:\s+(?:is|would\s+be|letter|number|option))*)[\s:#*\"']+(?=\w)"
)
_CAPITAL_A = re.compile(  # "so A is right", but not "A dog"
    r"(?<=[a-z,:;]\s)(A)(?![\w'\u2019-]|\.\w)"
    r"(?=\s*(?:[^\s\w]|$|(?:and|or|is|was|because|since|as|rather|instead|over)\b))"
    r"|(?<=(?:[Oo]ption|[Cc]hoice|[Ll]etter)\s)(A)(?![\w'\u2019-]|\.\w)"
)
_LISTED = re.compile(rf"(?<![\w'])[(\[]?({_LABEL})(?:[)\]]\s*[.:]?|[.:](?=\s|\w))\s*", re.IGNORECASE)


def labels_of(choices: Sequence[str], aliases: Sequence[str]) -> Mapping[str, int]:
    """Return the number of the choice that each letter or number means; empty if options have none.

    Options have letters or numbers if these are their aliases, or if all choices are letters or, with other aliases,
    numbers.

    >>> labels_of(("red", "blue"), ("a", "b"))["2"], labels_of(("A", "B"), ())["b"], labels_of(("2", "3"), ())
    (1, 1, {})
    """
    if aliases and all(_ONE.fullmatch(alias) for alias in aliases):
        numbers = {str(number + 1): number for number in range(len(choices))}
        letters = dict(zip(ascii_lowercase, range(len(choices)), strict=False))
        return {**numbers, **letters, **{alias.casefold(): number for number, alias in enumerate(aliases)}}
    folded = [choice.strip().strip("()[].:").casefold() for choice in choices]
    lettered = all(len(one) == 1 and one.isalpha() for one in folded)
    if len(choices) > 1 and (lettered or (aliases and all(_ONE.fullmatch(one) for one in folded))):
        return {label: number for number, label in enumerate(folded)}
    return {}


def mark_capitals(reply: str, labels: Mapping[str, int]) -> str:
    """Return a reply with a mark before each capital that can only be the letter of an option: not "A" or "I"."""
    letters = "".join(label.upper() for label in labels if label.isalpha() and len(label) == 1 and label not in "ai")
    capital = rf"(?<![\w'\u2019.-])([{letters}])(?![\w'\u2019-]|\.\w)" if letters else r"((?!))"
    marked = re.sub(capital, rf"{_CAPITAL}\1", reply)
    return _CAPITAL_A.sub(rf"{_CAPITAL}A", marked) if "a" in labels else marked


def replace_labels(text: str, labels: Mapping[str, int], texts: Mapping[str, int], count: int) -> str:
    """Return a reply in lower case, with each letter or number of an option replaced by ``MARK`` and its number.

    Args:
        text: the reply.
        labels: the number of the choice that each label means.
        texts: the number of each choice whose whole text is one word; a label that is the text of another choice, and
            a number beyond the last option, become the number -1.
        count: how many choices there are.
    """

    def mark(match: re.Match[str]) -> str:
        label = next(group for group in match.groups() if group is not None)
        number = labels.get(label)
        if number is None or not 0 <= number < count:
            return f" {MARK}-1 " if label.isdigit() else match[0]
        return f" {MARK}{number if texts.get(label, number) == number else -1} "

    return _MEANT.sub(mark, _BEFORE.sub(rf"\1 {_HERE}", text)).replace(_HERE, "").replace(_CAPITAL, "")


@lru_cache(maxsize=4096)
def listed_aliases(question: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a question calls its choices if it lists them with letters or numbers.

    Returns: the texts of choices that are letters or numbers, or the letters or numbers of choices that are texts;
        empty if the question does not list all of them.

    >>> listed_aliases("What does it do? A: sleeping; B: playing", ("a", "b"))
    ('sleeping', 'playing')
    >>> listed_aliases("Is it (1) red or (2) blue?", ("blue", "red"))
    ('2', '1')
    """
    if len(choices) < 2:  # a choice
        return ()
    marks = list(_LISTED.finditer(question))
    if len(marks) < len(choices):
        return ()
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    texts = {mark[1].casefold(): _bare(question[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)}
    folded = [_bare(choice) for choice in choices]
    if all(_ONE.fullmatch(one) for one in folded):
        found = tuple(texts.get(one, "") for one in folded)
    else:
        found = tuple(next((label for label, text in texts.items() if _begins(text, one)), "") for one in folded)
    return found if all(found) and len(set(found)) == len(choices) else ()


def _bare(text: str) -> str:
    """An option as a question lists it, without what separates it from the rest."""
    option = re.split(r"\n|\?|\.\s", text.strip(), maxsplit=1)[0]
    return re.sub(r"[\s;.,!]*(?:\b(?:or|and|options?))?[\s;:,.!(\[]*$", "", option.strip("\"'()[]")).casefold()


def _begins(text: str, choice: str) -> bool:
    return text == choice or re.match(rf"{re.escape(choice)}(?!\w)", text) is not None
