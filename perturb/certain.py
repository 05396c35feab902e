"""Which readings of a question are certain: those whose phrases are known to be noun phrases of the number they have.

To the templates, "Which pose is the cow doing" is about a "cow doing", and "Is there a bare trees" about one thing. The
ontology knows "cow", "bare" and "trees", so such readings are left out. Words that it does not know are never certain.
"""

from __future__ import annotations

import re
from functools import cache

from vlgate.perturb.inflection import singular
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions.phrases import NUMBERS, Number
from vlgate.perturb.questions.readings import QuestionReading
from vlgate.perturb.questions.templates import action_choices

_IMAGE = r"(?:photo(?:graph)?|picture|image)"
_IMAGE_PLACE = re.compile(rf" (?:(?:anywhere )?(?:shown )?in (?:the|this) {_IMAGE}|anywhere)(?=\W*$| )", re.IGNORECASE)
_IMAGE_FIRST = re.compile(rf"(?:In|Judging by|Looking at) (?:the|this) {_IMAGE}, (\w)")
_LINK = re.compile(
    r" (?:(?P<that>that|which|who) (?P<verb>is|are) )?"
    r"(?P<link>(?:to the (?:left|right) of|in front of|on top of|next to|at|behind|below|above|by|beside|in|inside|near"
    r"|on|over|under|with|\w+ing(?: (?:at|behind|by|for|from|in|into|near|on|over|to|under|with|down|through))?"
    r"|\w+ed (?:by|in|on|to|with|under|at)))"
    r" (?P<the>the) (?P<other>.+)"
)
_NO_LINK = frozenset(("ceiling", "building", "painting", "wing", "ring", "string", "clothing", "awning", "railing"))
# A text does not add the image to another place: "people in the background in the picture".
_IN_A_PLACE = re.compile(r"\bin\b")
_CATEGORIES = frozenset(
    {*action_choices.DOING, "kind", "sort", "type", "color", "shade", "material", "pattern", "shape", "size", "length"}
    | {"flavor", "texture", "style", "mood", "orientation"}
)


def without_image(text: str) -> str:
    """Return a question without the words that only say that it is about the image.

    >>> without_image("Is there a cup anywhere in this photo?"), without_image("In the image, is the cup red ?")
    ('Is there a cup?', 'Is the cup red?')
    """
    text = _IMAGE_FIRST.sub(lambda found: found[1].upper(), text, count=1)
    return re.sub(r"\s+\?$", "?", _IMAGE_PLACE.sub("", text))


def is_certain(reading: QuestionReading) -> bool:
    """Whether the phrases of a reading are noun phrases of their number, and its values are values.

    >>> from vlgate.perturb.questions.readings import readings
    >>> [[is_certain(one) for one in readings(f"Is there a {what}?", ())] for what in ("red cup", "bare trees")]
    [[True], [False]]
    """
    phrases = [reading.x] if reading.y is None else [reading.x, reading.y]
    if not all(is_phrase(*phrase) for phrase in phrases):
        return False
    if reading.y is not None and len({reading.x[1] == "plural", reading.y[1] == "plural"}) > 1:
        return False  # "is there both cups and a ball"
    if reading.type == "attribute" and not _is_attribute(reading.attribute):
        return False
    return not reading.category or reading.category in _CATEGORIES


def agrees(question: str) -> bool:
    """Whether the verbs of a question agree with the known nouns behind "the", and a pose is not "done".

    Neither does "a" stand before a known plural.

    >>> agrees("What color is the tile, red or blue?"), agrees("What color is the tiles, red or blue?")
    (True, False)
    """
    if _CLUMSY.search(question):
        return False
    words = re.findall(r"[\w'-]+|[^\w\s]", question.lower())
    return all(_agrees(words, place) for place, word in enumerate(words) if word in {"the", "a", "an"})


def _agrees(words: list[str], the: int) -> bool:
    """Whether the verbs before and behind a noun phrase have its number; an unknown noun has no known number."""
    end = the + 1
    while end < len(words) and (_is_modifier(words[end]) or _numbers(words[end])):
        end += 1
    numbers = next(filter(None, (_numbers(" ".join(words[start:end])) for start in range(the + 1, end))), frozenset())
    if words[the] != "the" or not numbers:
        return numbers != {"plural"}
    verbs = {words[the - 1]} if the else set()
    behind = words[end : end + 2]
    verbs |= set(behind[:1] if behind[:1] != ["that"] else behind[1:])
    subject = words[the - 1] in {"think", "that", "say"} if the else False
    if subject:  # "do you think the pants to the left of the uniform is red": its verb is the first that no "that" owns
        verbs |= set(
            [word for place, word in enumerate(words[end:], end) if words[place - 1] != "that" and word in _BE][:1]
        )
    one, many = bool(verbs & {"is", "does"}), bool(verbs & {"are", "do"})
    return not (one and numbers == {"plural"}) and not (many and "plural" not in numbers)


_BE = frozenset(("is", "are"))
_CLUMSY = re.compile(r"\bpose\b.*\bdoing\b|\b(?:is|are) of the\b")


def has_place(reading: QuestionReading) -> bool:
    """Whether a phrase has a place with "in", behind which a text does not say "in the picture" as well."""
    return any(_IN_A_PLACE.search(phrase) for phrase, _ in (reading.x, reading.y or reading.x))


@cache
def is_phrase(phrase: str, number: Number) -> bool:
    """Whether a phrase without its determiner is a known noun of this number, perhaps related to another one.

    >>> is_phrase("red cups", "plural"), is_phrase("red cups", "singular"), is_phrase("cow doing", "singular")
    (True, False, False)
    >>> is_phrase("cup on the wooden table", "singular"), is_phrase("cup red", "singular")
    (True, False)
    """
    found = _related(phrase)
    if found is None:
        return _is_kind(phrase, number)
    if found["verb"] and (found["verb"] == "are") != (number == "plural"):
        return False
    if re.search(rf"\b{_IMAGE}$", found["other"]):
        return False
    kind = phrase[: found.start()]
    return _is_kind(kind, number) and any(_is_kind(found["other"], one) for one in NUMBERS)


def _related(phrase: str) -> re.Match[str] | None:
    """The relation of a phrase; "-ing" nouns such as "building" are none."""
    found = _LINK.search(phrase)
    return None if found is None or found["link"] in _NO_LINK else found


@cache
def _is_kind(words: str, number: Number) -> bool:
    """Whether the words are known attributes and nouns before a known noun of this number."""
    parts = words.split(" ")
    for start in range(len(parts)):
        name = " ".join(parts[start:])
        if number in _numbers(name):
            return all(_is_modifier(word) for word in parts[:start])
    return False


def is_known(noun: str) -> bool:
    """Whether the ontology has a noun, or its singular.

    >>> is_known("cups"), is_known("graze")
    (True, False)
    """
    return bool(_numbers(noun))


@cache
def _numbers(noun: str) -> frozenset[str]:
    nouns = default_ontology().nouns
    if noun in nouns:
        told = nouns[noun].number
        return frozenset((told, "plural")) if singular(noun) == noun else frozenset((told,))
    one = singular(noun)
    return frozenset(("plural",)) if one is not None and one in nouns else frozenset()


def _is_modifier(word: str) -> bool:
    words = default_ontology()
    return word in words.attributes or (word in words.nouns and words.nouns[word].number != "plural")


def _is_attribute(words: str) -> bool:
    if words.startswith("made of "):
        return _is_kind(words.removeprefix("made of "), "mass") or words.removeprefix("made of ") in _MATERIALS
    return words in default_ontology().attributes or words in default_ontology().relations


_MATERIALS = frozenset(("wood", "metal", "glass", "brick", "stone", "plastic", "leather", "clay", "tin", "paper"))
