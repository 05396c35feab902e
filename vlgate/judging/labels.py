"""Letters and numbers of options: the choice that "(b)", "option 2" or "A: sleeping" means."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase


def words_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


WORDS: Mapping[str, frozenset[str]] = {
    name: words_of(words)
    for name, words in tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8")).items()
}
MARK = "\ue000"  # stands before the number of an option; a private character, which replies do not contain
_LISTING = frozenset((2, 5))  # the groups of "2) ..." and "2. ..."
_AT_START = 5
_BARE = frozenset((4, _AT_START))  # the groups of "the answer is a" and "a"
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
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}")  # Washington D.C.
_LETTER = re.compile(
    r"(?P<before>\A|[.!?,;:][ ]|\n|\b[A-Za-z']+ )(?P<letter>[A-Z])(?![\w'\u2019-]|\.\w)"
    r"(?=(?P<after>\s*(?:[^\s\w+]|$)|\s+\w+|))"
)
_SURE = frozenset(("option", "choice", "letter", "answer", "between"))  # before any letter
_LEADING = WORDS["leading"]
_FITTING = WORDS["fitting"]
_AFTER = {"A": _FITTING - words_of("best but correctly must over rather which"), "I": frozenset[str]()}  # "A best man"
_SPEAKER = re.compile(r"^\W{0,8}a:\s{1,4}(?=\W{0,4}[b-z]\W{0,4}$)")  # "A: B" answers B
_LISTED = re.compile(rf"(?<![\w'])[(\[]?({_LABEL})(?:[)\]]\s*[.:]?|[.:](?=\s|\w))\s*", re.IGNORECASE)


def labels_of(choices: Sequence[str], aliases: Sequence[str]) -> Mapping[str, int]:
    # Options have letters or numbers if these are their aliases, or if all choices are letters or, with other aliases,
    # numbers.
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
    def mark(match: re.Match[str]) -> str:
        before, letter, after = match["before"].strip(" .!?,;:\n").lower(), match["letter"], match["after"].strip()
        fits = not after or not after[0].isalnum() or after.lower() in _FITTING
        meant = before in _SURE or (before in _LEADING and fits)
        meant = meant or (not before and after.lower() in _AFTER.get(letter, _FITTING))
        return f"{match['before']}{_CAPITAL}{letter}" if meant and letter.lower() in labels else match[0]

    return _LETTER.sub(mark, _INITIALS.sub(" ", reply))


def replace_labels(text: str, labels: Mapping[str, int], texts: Mapping[str, int], options: Sequence[str]) -> str:
    """Return a reply in lower case, with each letter or number of an option replaced by ``MARK`` and its number."""

    def mark(match: re.Match[str]) -> str:
        label = next(group for group in match.groups() if group is not None)
        number = labels.get(label)
        if number is None or not 0 <= number < len(options):
            return f" {MARK}-1 " if label.isdigit() else match[0]
        rest = text[match.end() :]
        if label == "a" and _is_article(match, rest, options[number]):
            return match[0]
        if match.lastindex in _LISTING and not _about(rest, options[number]):
            of_another = any(option and _about(rest, option) for option in options)
            if not of_another or (label.isdigit() and "\n" in text.strip()):
                return "\n"
            number = -1  # "B. sleeping", but sleeping is A
        before = match[0].partition(label)[0] if match.lastindex == _AT_START else ""  # a cross takes the option back
        return f"{before} {MARK}{number if texts.get(label, number) == number else -1} "

    text = _SPEAKER.sub("", text)
    return _MEANT.sub(mark, _BEFORE.sub(rf"\1 {_HERE}", text)).replace(_HERE, "").replace(_CAPITAL, "")


def _is_article(label: re.Match[str], rest: str, option: str) -> bool:
    """Whether a small "a" is one: "the answer is a **dog**", "a (small) dog sits there"."""
    opening = re.match(r"""\s*[*"'_`(/]+\s*(?=\w)""", rest)
    if label.lastindex not in _BARE or opening is None or (option and _about(rest, option)):
        return False
    return label.lastindex != _AT_START or re.match(r"\s*\([^)\n]*\)\W*(?:\n|$)", rest) is None


def _about(rest: str, option: str) -> bool:
    line = rest.lstrip(" .:*_)-").partition("\n")[0].casefold()
    given, said = ({*re.findall(r"\w+", words)} - {"a", "an", "the"} for words in (option.casefold(), line))
    return not option or not said or 2 * len(given & said) >= min(len(given), max(len(said), 3))


@lru_cache(maxsize=4096)
def listed_aliases(question: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a question calls its choices if it lists all of them with letters or numbers; otherwise empty."""
    if len(choices) < 2:  # a choice
        return ()
    marks = list(_LISTED.finditer(question))
    if len(marks) < len(choices):
        return ()
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    whole: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        whole.setdefault(mark[1].casefold(), question[mark.end() : end])
    folded = [choice.strip("()[]. ").casefold() for choice in choices]
    if all(one in whole for one in folded):
        found = tuple(_bare(whole[one]) for one in folded)
    else:
        listed = {label: text.strip("\"'()[] \n").casefold() for label, text in whole.items()}
        given = [choice.strip("\"'()[]. ").casefold() for choice in choices]
        found = tuple(
            next((label for label, text in listed.items() if re.match(rf"{re.escape(one)}(?!\w)", text)), "")
            for one in given
        )
    return found if all(found) and len(set(found)) == len(choices) else ()


def _bare(text: str) -> str:
    """An option as a question lists it, without what separates it from the rest."""
    option = re.split(r"\n|\?|\.\s", text.strip(), maxsplit=1)[0]
    return re.sub(r"[\s;.,!]*(?:\b(?:or|and|options?))?[\s;:,.!(\[]*$", "", option.strip("\"'()[]")).casefold()
