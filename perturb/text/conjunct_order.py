"""Put the operands of a text in another order, or reword a question; the meaning stays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from types import MappingProxyType

from vlgate.perturb.ontology import Number, default_ontology
from vlgate.perturb.questions.drafts import NUMBERS
from vlgate.perturb.questions.readings import (
    QuestionReading,
    has_place,
    is_certain,
    is_known,
    is_phrase,
    readings,
    said,
    without_image,
)
from vlgate.perturb.questions.templates import TEMPLATES
from vlgate.perturb.text.counts import is_plural
from vlgate.perturb.text.fitness import first, unfit
from vlgate.perturb.text.grammar import only_span, plural, put, with_article
from vlgate.perturb.text.parsed import Edit, Parsed, Span, Token
from vlgate.perturb.text.rewriting import exchange
from vlgate.perturb.word_lists import words

# Put the operands of a question in another order, which does not change its answer.
# CARETS' order test (section 3.2) swaps the operands of conjunctions and disjunctions ("Is there a cup or a ball?")
# and the order of the choices ("Is the cup red or blue?").

_IMAGE = r"in (?:the|this) (?:photo|picture|image)"
# Words behind two operands that belong to both.
_TAIL = rf"(?P<tail>(?: (?:{_IMAGE}|anywhere|(?:is|are|be|to be|appear|visible|shown|seen)\b))*[.?!]*)"
_BOTH = re.compile(rf".*?\bboth (?P<a>[^,]+?) and (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_EITHER = re.compile(rf".*?\beither (?P<a>[^,]+?) or (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_OR = re.compile(rf"(?P<left>[^,]+) or (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_SIDES = re.compile(r".* (?P<a>(?P<where>to|on) the \w+) or (?P<b>(?P=where) the \w+)[.?!]*")
_DETERMINERS = frozenset(("a", "an", "the", "some", "any", "no"))
# A noun phrase behind one of these is not a part of a longer one.
_BEFORE = re.compile(
    r"(?:|.* )(?:there|it|this|that|he|she|see|spot|find|shows?|contain|include|have|has|is|are|\w+ing) ", re.IGNORECASE
)


def swap_operands(text: str) -> str | None:
    """Swap the operands of "both A and B" or of "A or B".

    Only operands whose words are known are swapped: two noun phrases of the same number with the same kind of
    determiner, two attributes, or two sides. For texts of any other form, see ``reordered``.

    Returns: the new text, or None if there are not exactly two operands, or they are not certain.

    >>> swap_operands("Is there both a cup and an apple in the image?")
    'Is there both an apple and a cup in the image?'
    >>> swap_operands("Is the cup red or blue?")
    'Is the cup blue or red?'
    >>> swap_operands("Is the cup dark red or blue?") is None
    True
    """
    operands = _both(text) or _either(text)
    return None if operands is None else exchange(text, *operands)


def reverse_choices(question: str, choices: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Write the choices that ``question`` names in reverse order.

    Returns: (question, choices), or None if there are fewer than two choices, a choice does not occur exactly once in
    the question, two of them overlap, or their order in the question differs from that in ``choices``.

    >>> reverse_choices("Is the cup red, green or blue?", ("red", "green", "blue"))
    ('Is the cup blue, green or red?', ('blue', 'green', 'red'))
    """
    articles = [_with_its_article(question, choice) for choice in choices]
    if len({choice.split(" ")[0] in {"a", "an"} for choice in articles}) > 1:
        return _reversed(question, articles, choices)
    return _reversed(question, choices, choices)


def _with_its_article(question: str, choice: str) -> str:
    phrase = with_article(choice)
    return choice if only_span(question, phrase) is None else phrase


def _reversed(question: str, said: Sequence[str], choices: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    spans = [span for choice in said if (span := only_span(question, choice)) is not None]
    if len(choices) < 2 or len(spans) < len(choices) or any(a[1] > b[0] for a, b in pairwise(spans)):
        return None
    for span, choice in zip(reversed(spans), said, strict=True):
        question = put(question, span, choice)
    return question, tuple(reversed(choices))


def _both(text: str) -> tuple[str, str] | None:
    match = _BOTH.fullmatch(text)
    if match is None or "any" in {match[name].split(" ")[0].lower() for name in ("a", "b")}:
        return None  # "both any leaves and any windows" is not English
    return _alike(text, match["a"], match["b"])


def _either(text: str) -> tuple[str, str] | None:
    if match := _EITHER.fullmatch(text) or _SIDES.fullmatch(text):
        return _alike(text, match["a"], match["b"])
    match = _OR.fullmatch(text)
    if match is None:
        return None
    left, words = match["left"].split(" "), match["b"].split(" ")
    if words[0].lower() in _DETERMINERS:
        indexes = [index for index, word in enumerate(left) if word.lower() in _DETERMINERS]
        start = indexes[-1] if indexes else len(left)
    else:
        start = max(len(left) - len(words), 0)
    before, first = " ".join([*left[:start], ""]), " ".join(left[start:])
    if words[0].lower() in _DETERMINERS and _BEFORE.fullmatch(before) is None and before.strip():
        return None
    # A determiner has a capital only at the start of a sentence, and it may now move away from there.
    return _alike(text, first if before.strip() else first[:1].lower() + first[1:], match["b"], before=before)


def _alike(text: str, first: str, second: str, before: str = "") -> tuple[str, str] | None:
    if len(re.findall(r"\b(?:and|or)\b", text, re.IGNORECASE)) != 1:
        return None
    if _SIDES.fullmatch(f" {first} or {second}"):
        return first, second
    words = default_ontology().attributes
    if first in words and second in words:
        last = before.split(" ")[-2:-1]
        return None if last and (last[0] in words or last[0].lower() in _DETERMINERS) else (first, second)
    kinds = _kinds(first) & _kinds(second)
    return (first, second) if kinds else None


def _kinds(operand: str) -> frozenset[tuple[str, bool]]:
    """What a noun phrase may be: its kind of determiner, and whether it is plural."""
    first, _, rest = operand.partition(" ")
    word = first.lower() if first.lower() in _DETERMINERS else ""
    numbers = _NUMBERS_OF.get(word, NUMBERS)
    phrase = rest if word else operand
    kind = "a" if word == "an" else word
    return frozenset((kind, number == "plural") for number in numbers if is_phrase(phrase, number))


_NUMBERS_OF: Mapping[str, tuple[Number, ...]] = MappingProxyType(
    {
        "a": ("singular",),
        "an": ("singular",),
        "any": ("plural", "mass"),
        "some": ("plural", "mass"),
        "": ("plural", "mass"),
    }
)


# Put two joined things of a text in the other order, by its parse: the text says the same.
# "A cat and a dog" becomes "a dog and a cat". The two are alike, so that nothing else must change: both are nouns with
# the same kind of article and number, and no description behind or before them may belong to one or to both.

_ARTICLES = frozenset(("a", "an", "the", "some", "any", "no"))
_VERBS = frozenset(("VBZ", "VBP", "VBD"))
_NAMES = frozenset(("NN", "NNS", "JJ", "VB", "VBN", "NNP"))
_DESCRIBING = frozenset(("NN", "NNS", "VBG", "VBN", "NNP", "VBD", "CC", "JJ", "VB", "MD", "CD"))
_WHOSE = "a description may belong to one of them or to both"
_OF_SENTENCE = frozenset(("ROOT", "aux", "auxpass", "advcl", "relcl", "ccomp", "conj"))
_FIXED = words("fixed pair")
_INSIDE = ("det", "amod", "compound")
_JOINED = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
# What the words after two joined things say may be of the second one alone.
_MODIFIERS = ("prep", "acl", "relcl", "appos", "advcl", "conj", "nummod", "poss", "advmod", "nmod", "neg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """The other texts, one per pair of things, and the reasons why pairs were refused; these are constant."""

    texts: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def reordered(parsed: Parsed) -> Reordered:
    """Exchange the two things around each "and" or "or" of a text.

    Returns: the texts that say the same, and the reasons for the pairs that were refused.
    """
    joined = _JOINED.search(parsed.text)  # one search for the many texts that join nothing
    joins = [index for index, token in enumerate(parsed.tokens) if token.dep == "cc"] if joined else []
    if not joins:
        return Reordered(refused=("no things are joined",))
    made = [_exchanged(parsed, index) for index in joins]
    texts = tuple(dict.fromkeys(text for text, _ in made if text))
    why = unfit(parsed) if texts else ""  # costs more than the exchange
    if why:
        return Reordered(refused=(why,))
    return Reordered(texts=texts, refused=tuple(why for _, why in made if why))


def _exchanged(parsed: Parsed, join: int) -> tuple[str, str]:
    tokens = parsed.tokens
    one = tokens[join].head
    others = parsed.children(one, "conj")
    if tokens[join].lower not in {"and", "or"} or len(others) != 1 or len(parsed.children(one, "cc")) != 1:
        return "", "not two things"
    other = others[0]
    if not {tokens[one].tag, tokens[other].tag} <= {"NN", "NNS"}:
        return "", "not two nouns"
    left, right = _span(parsed, one), _span(parsed, other)
    if why := _unlike(parsed, one, other):
        return "", why
    if left is None or right is None or left[1] != join or right[0] != join + 1:
        return "", "not two noun phrases side by side"
    shared = tokens[left[0]].lower in _ARTICLES and tokens[right[0]].lower not in _ARTICLES
    why = _unclear(parsed, left, right, shared=shared)
    return ("", why) if why else (_put(parsed, (left[0] + shared, left[1]), right), "")


def _unclear(parsed: Parsed, left: Span, right: Span, *, shared: bool) -> str:
    tokens = parsed.tokens
    articles = {tokens[span[0]].lower.replace("an", "a") for span in (left, right)}
    single = tokens[left[0]].lower in {"a", "an"}
    bare = not shared and not articles & _ARTICLES
    adjectives = left[1] - left[0] - shared > 1 or right[1] - right[0] > 1
    named = left[0] > 0 and (tokens[left[0] - 1].tag in _NAMES or tokens[left[0] - 1].dep == "amod")
    after = tokens[right[1]].tag if right[1] < len(tokens) else ""
    nouns = [tokens[span[1] - 1].lower for span in (left, right)]
    return first(
        (len(articles) > 1 and articles <= _ARTICLES, "two articles of different kinds"),
        (len(articles & _ARTICLES) == 1 and len(articles) == 2 and not shared, "an article that only one has"),
        (nouns[0] == nouns[1] and not adjectives, "the two are the same"),
        (single and not all(map(plural, nouns)), "not two countable nouns"),
        (shared and tokens[left[0]].lower != "a" and tokens[left[0]].lower != "an" and after == "IN", _WHOSE),
        (bare and named, "part of a longer name"),
        ((bare or shared) and adjectives, "an adjective may belong to both"),
    )


def _unlike(parsed: Parsed, one: int, other: int) -> str:
    tokens = parsed.tokens
    number = is_plural(parsed, one)
    pair = {f"{tokens[one].lower}-{tokens[other].lower}", f"{tokens[other].lower}-{tokens[one].lower}"}
    modifiers = {*parsed.children(one, *_MODIFIERS), *parsed.children(other, *_MODIFIERS)} - {other}
    part = tokens[one].dep in {"compound", "nmod", "amod", "npadvmod"} or (tokens[one].head == one and one > 0)
    return first(
        (number is None or number != is_plural(parsed, other), "one thing and several, or not known"),
        (bool(modifiers) or (other + 1 < len(tokens) and _goes_on(tokens[other + 1])), _WHOSE),
        (part, "part of a longer name"),
        (_listed(parsed, one), "one of several joined things"),
        (not pair.isdisjoint(_FIXED), "a pair with a fixed order"),
        (not all(is_known(tokens[index].lower) for index in (one, other)), "not two known nouns"),
    )


def _listed(parsed: Parsed, one: int) -> bool:
    while parsed.tokens[one].dep == "conj":
        one = parsed.tokens[one].head
        if parsed.children(one, "cc"):
            return True
    return False


def _goes_on(after: Token) -> bool:
    """Whether a word behind the second thing may be a part of its phrase, or say something of it."""
    return (
        after.tag in _DESCRIBING
        or after.text in ",-'"
        or after.lower in {"of", "to"}
        or is_known(after.lower)
        or after.text.endswith("ing")
        or (after.tag in _VERBS and after.dep not in _OF_SENTENCE)
    )


def _span(parsed: Parsed, noun: int) -> Span | None:
    before = [index for index in parsed.children(noun, *_INSIDE) if index < noun]
    start = min(before, default=noun)
    inner = parsed.tokens[start:noun]
    fine = all(token.tag in {"DT", "JJ", "NN", "VBG", "VBN", "JJR"} for token in inner)
    return (start, noun + 1) if fine and {token.lower for token in inner[1:]}.isdisjoint(_ARTICLES) else None


def _put(parsed: Parsed, left: Span, right: Span) -> str:
    tokens = parsed.tokens
    said = parsed.said(left)
    if (left[0] == 0 and tokens[0].text[1:].islower()) or (len(tokens[0].text) == 1 and left[0] == 0):
        said = said[0].lower() + said[1:]
    return parsed.edited([Edit(span=left, text=parsed.said(right)), Edit(span=right, text=said)])


# Reword a question with the project's own templates; the meaning, and so the answer, stays.
# CARETS' rephrasing test (section 3.2) asks one thing with two templates. Here a question of any origin is matched
# with the templates, and asked again with the others of its type. A text may match in several ways: to the templates,
# "Is the red cup large?" might ask whether the red is cup large. A rewording is returned only if it follows from all
# of them.


def rewordings(text: str, choices: Sequence[str] = (), parsed: Parsed | None = None) -> tuple[str, ...]:
    """Ask the same in other words: with the other templates of the question's type, and with its operands exchanged.

    A text is reworded only if its words are known, so that what it asks about is certain; words that only say that it
    is about the image ("in the photo", "anywhere") are left out first.

    Args:
        text: a question, or a statement, which only has its operands exchanged.
        choices: the answers that the question offers, if any; without them a question that lists choices matches no
            template.
        parsed: the text, parsed. With it, `reordered` exchanges operands in texts of any form; without it,
            `swap_operands` does so in the few forms that are certain without a parse.

    Returns: the other texts, those with the fewest changed words first, equal ones in the templates' order; empty if
        the text matches no template and has no operands.

    >>> rewordings("Is there a cup on the table?")[:2]
    ('Is it true that there is a cup on the table?', 'Is there a cup on the table in the picture?')
    >>> rewordings("Why is the cup red?")
    ()
    """
    others = dict.fromkeys(_with_templates(text, choices))
    if not choices or not all(choice.lower() in text.lower() for choice in choices):
        swapped = swap_operands(text)
        exchanged = () if parsed is None else reordered(parsed).texts
        others |= dict.fromkeys(exchanged or ((swapped,) if swapped else ()))
    others.pop(text, None)
    return tuple(
        sorted(others, key=lambda other: 1 - SequenceMatcher(None, text.split(), other.split(), autojunk=False).ratio())
    )


def _with_templates(text: str, choices: Sequence[str]) -> Sequence[str]:
    if any(with_article(choice) in text and not is_phrase(choice, "singular") for choice in choices):
        return ()
    lower = text[:1].islower()
    plain = without_image(text)
    joined = {"both", "either", "neither"} & set(plain.split(" ")) and plain.endswith("?")
    located = [f"{plain[:-1]} {place}?" for place in _PLACES] if joined else []
    versions = dict.fromkeys((plain, *located, text))
    read = (readings(version[:1].upper() + version[1:], choices) for version in versions)
    certain = next(filter(None, ([one for one in of_text if is_certain(one)] for of_text in read)), None)
    if certain is None:
        return ()
    first, *rest = [_asked_again(reading) for reading in certain]
    common = [other for other in first if all(other in others for others in rest)]
    return [other[0].lower() + other[1:] for other in common] if lower else common


def _asked_again(reading: QuestionReading) -> dict[str, None]:
    wanted = {"plain", "that"} if reading.is_related else {"none"}
    crowded = has_place(reading)
    texts: dict[str, None] = {}
    for template in TEMPLATES[reading.type]:
        text = template.negated if reading.negated else template.text
        fits = not template.categories or reading.category in template.categories
        needs_more = "{category}" in text and not reading.category
        whole = "{x.where}" not in text and not (reading.is_related and "{x.kind}" in text)
        if crowded and _PLACED.search(text):
            continue
        if template.relation in wanted and fits and whole and text and not needs_more:
            texts[said(template, reading)] = None
    return texts


_PLACES = [f"in {the} {image}" for the in ("the", "this") for image in ("picture", "photo", "image")]
"""How the templates for two things end, which all say that they are about the image."""
_PLACED = re.compile(r"[^^]\bin (?:the|this) (?:photo|picture|image)")
