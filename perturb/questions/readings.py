"""Read a question with the templates, and say which of its readings are certain."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

from vlgate.perturb.ontology import Number, default_ontology
from vlgate.perturb.questions.drafts import NUMBERS, NounPhrase
from vlgate.perturb.questions.templates import DOING, TEMPLATES, QuestionType, Template, ask
from vlgate.perturb.text.grammar import may_be_plural, singular, with_article

# There may be several readings: to the templates, "Is the red cup large?" might ask whether the red is cup large.

_WORDS = re.compile(r"\{[^}]*\}|[\w'-]+|[^\w\s]")
_FORMS = {"{Is}": {"Is", "Are"}, "{is}": {"is", "are"}, "{Does}": {"Does", "Do"}, "{does}": {"does", "do"}}
_DETERMINERS = {"any": {"a", "an", "any"}, "a": {"a", "an"}, "no": {"no"}, "the": {"the"}}
# Words that are not part of a noun phrase: they belong to the template, or to a second phrase.
_NO_PHRASE = frozenset(
    ("a", "an", "and", "any", "both", "either", "made", "neither", "no", "nor", "not", "or", "there")
)
_CLAUSE = frozenset(("that", "the", "which", "who"))
_CHOICES = {"{choices}", "{said}"}
# A phrase with one of these is related to another one, and only some templates keep their meaning around it.
_RELATED = re.compile(
    r"\b(?:at|behind|below|by|for|from|in|into|near|of|on|over|than|that|the|to|under|which|who|with)\b"
)
_MOST_CHOICES = 4

_Slots = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReading:
    """A reading of a text: the type, the phrases without determiners, and the other slots."""

    type: QuestionType
    negated: bool
    x: tuple[str, Number]
    y: tuple[str, Number] | None
    attribute: str
    category: str
    choices: tuple[str, ...]

    @property
    def is_related(self) -> bool:
        return any(_RELATED.search(phrase) for phrase, _ in (self.x, self.y or self.x))


def readings(text: str, choices: Sequence[str]) -> list[QuestionReading]:
    """Return all readings by the templates that match most of the words; ``choices`` are what the question offers."""
    words = tuple(_WORDS.findall(text))
    found: dict[QuestionReading, int] = {}
    for template, negated, pattern in _patterns():
        fixed = sum(word not in _CHOICES and "." not in word and word[0] != "{" for word in pattern)
        for slots in _fill(pattern, words):
            for reading in _of(template, slots, choices, negated=negated):
                if said(template, reading) == text:
                    found[reading] = max(fixed, found.get(reading, 0))
    most = max(found.values(), default=0)
    kept = [reading for reading, fixed in found.items() if fixed == most]
    kept = [reading for reading in kept if reading.type == _likely(reading.choices)] or kept
    return [reading for reading in kept if _may_be(reading.x) and _may_be(reading.y or reading.x)] or kept


def said(template: Template, reading: QuestionReading) -> str:
    """Return the question that ``template`` makes from a reading."""
    y = None if reading.y is None else NounPhrase(*reading.y)
    return ask(
        template,
        NounPhrase(*reading.x),
        y,
        attribute=reading.attribute,
        category=reading.category,
        choices=reading.choices,
        negated=reading.negated,
    )


def _may_be(phrase: tuple[str, Number]) -> bool:
    """Whether a phrase may have its number: a plural has a word that ends like one ("is" does not count)."""
    bare, number = phrase
    return number != "plural" or any(len(word) > 2 and may_be_plural(word) for word in bare.split())


def _likely(choices: Sequence[str]) -> str:
    """The type of a question that three types word alike: "is the man a cook or a waiter", "... tall or short"."""
    if any(choice.split()[0].lower() in _DETERMINERS["a"] for choice in choices):
        return "object-choice"
    return "action-choice" if all(choice.endswith("ing") for choice in choices) else "attribute-choice"


@cache  # two patterns per template
def _patterns() -> tuple[tuple[Template, bool, tuple[str, ...]], ...]:
    templates = [template for of_type in TEMPLATES.values() for template in of_type]
    texts = [(template, False, template.text) for template in templates]
    texts += [(template, True, template.negated) for template in templates if template.negated]
    # A template with only the class or only the relation does not contain the whole phrase.
    usable = [row for row in texts if "{x.kind}" not in row[2] and "{x.where}" not in row[2]]
    return tuple((template, negated, tuple(_WORDS.findall(text))) for template, negated, text in usable)


def _fill(pattern: tuple[str, ...], words: tuple[str, ...]) -> Iterator[_Slots]:
    """Every way to match a pattern with the words: the words of each slot."""
    if not pattern or not words:
        if not pattern and not words:
            yield {}
        return
    slot, rest = pattern[0], pattern[1:]
    if slot[0] != "{" or slot in _FORMS:
        if words[0] in _FORMS.get(slot, {slot}):
            yield from _fill(rest, words[1:])
        return
    for length in range(1, len(words) - len(rest) + 1):
        if not _may_hold(slot, words[:length]):
            continue
        for slots in _fill(rest, words[length:]):
            if slots.get(slot, words[:length]) == words[:length]:
                yield {slot: words[:length], **slots}


def _may_hold(slot: str, words: tuple[str, ...]) -> bool:
    if slot in _CHOICES:
        return True
    if slot[1:3] in {"x.", "y."}:
        inner = words[1:] if _determined(slot, words) else words
        whole = _RELATED.fullmatch(words[-1]) is None  # a phrase does not end with a preposition
    else:
        inner = words[1:] if words[:2] == ("made", "of") else words
        whole = _CLAUSE.isdisjoint(words)  # a clause belongs to the phrase before
    return whole and bool(inner) and all(word[0].isalnum() and word.lower() not in _NO_PHRASE for word in inner)


def _determined(slot: str, words: tuple[str, ...]) -> bool:
    return words[0] in _DETERMINERS[slot[3:-1]]


def _of(template: Template, slots: _Slots, choices: Sequence[str], *, negated: bool) -> Iterator[QuestionReading]:
    phrases = [_bare(slots, name) for name in ("x", "y") if any(slot[1:3] == f"{name}." for slot in slots)]
    if not phrases or any(phrase is None for phrase in phrases):
        return
    listed = slots.get("{said}", ())
    category = " ".join(slots.get("{category}", ())) or ("material" if listed[:2] == ("made", "of") else "")
    offered = _orders(choices) if _CHOICES & set(slots) else [()]
    for numbers in product(NUMBERS, repeat=len(phrases)):
        x, *y = [(phrase, number) for phrase, number in zip(phrases, numbers, strict=True) if phrase is not None]
        for order in offered:
            yield QuestionReading(
                type=template.type,
                negated=negated,
                x=x,
                y=y[0] if y else None,
                attribute=" ".join(slots.get("{attribute}", ())),
                category=category,
                choices=order,
            )


def _bare(slots: _Slots, name: str) -> str | None:
    """The words of a phrase without its determiner; None if two of its slots differ."""
    found = set()
    for slot, words in slots.items():
        if slot[1:3] == f"{name}.":
            found.add(" ".join(words[1:] if _determined(slot, words) else words))
    return found.pop() if len(found) == 1 else None


def _orders(choices: Sequence[str]) -> list[tuple[str, ...]]:
    """The choices in every order, as they are and with articles ("a cow" for "cow")."""
    if not 2 <= len(choices) <= _MOST_CHOICES:
        return []
    forms = (tuple(choices), tuple(map(with_article, choices)))
    return [order for form in forms for order in permutations(form)]


# Which readings of a question are certain: those whose phrases are known to be noun phrases of the number they have.
#
# To the templates, "Which pose is the cow doing" is about a "cow doing", and "Is there a bare trees" about one thing.
# The ontology knows "cow", "bare" and "trees", so such readings are left out. Words that it does not know are never
# certain.

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
    {*DOING, "kind", "sort", "type", "color", "shade", "material", "pattern", "shape", "size", "length"}
    | {"flavor", "texture", "style", "mood", "orientation"}
)


def without_image(text: str) -> str:
    """Return a question without the words that only say that it is about the image."""
    text = _IMAGE_FIRST.sub(lambda found: found[1].upper(), text, count=1)
    return re.sub(r"\s+\?$", "?", _IMAGE_PLACE.sub("", text))


def is_certain(reading: QuestionReading) -> bool:
    """Whether the phrases of a reading are noun phrases of their number, and its values are values."""
    phrases = [reading.x] if reading.y is None else [reading.x, reading.y]
    if not all(is_phrase(*phrase) for phrase in phrases):
        return False
    if reading.y is not None and len({reading.x[1] == "plural", reading.y[1] == "plural"}) > 1:
        return False  # "is there both cups and a ball"
    made_of, attribute = reading.attribute.removeprefix("made of "), reading.attribute
    if attribute != made_of:
        known = _is_kind(made_of, "mass") or made_of in _MATERIALS
    else:
        known = attribute in default_ontology().attributes or attribute in default_ontology().relations
    if reading.type == "attribute" and not known:
        return False
    return not reading.category or reading.category in _CATEGORIES


def agrees(question: str) -> bool:
    """Whether the verbs of a question agree with the known nouns behind "the", and a pose is not "done"."""
    # Neither does "a" stand before a known plural.
    if _CLUMSY.search(question):
        return False
    words = re.findall(r"[\w'-]+|[^\w\s]", question.lower())
    return all(_agrees(words, index) for index, word in enumerate(words) if word in {"the", "a", "an"})


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
            [word for index, word in enumerate(words[end:], end) if words[index - 1] != "that" and word in _BE][:1]
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
    """Whether a phrase without its determiner is a known noun of this number, perhaps related to another one."""
    match = _LINK.search(phrase)
    if match is None or match["link"] in _NO_LINK:
        return _is_kind(phrase, number)
    if match["verb"] and (match["verb"] == "are") != (number == "plural"):
        return False
    if re.search(rf"\b{_IMAGE}$", match["other"]):
        return False
    kind = phrase[: match.start()]
    return _is_kind(kind, number) and any(_is_kind(match["other"], one) for one in NUMBERS)


@cache
def _is_kind(words: str, number: Number) -> bool:
    parts = words.split(" ")
    for start in range(len(parts)):
        name = " ".join(parts[start:])
        if number in _numbers(name):
            return all(_is_modifier(word) for word in parts[:start])
    return False


def is_known(noun: str) -> bool:
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


_MATERIALS = frozenset(("wood", "metal", "glass", "brick", "stone", "plastic", "leather", "clay", "tin", "paper"))
