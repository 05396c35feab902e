"""Rewrite a text without a parse: its numbers, negations, spatial relations and phrases."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from vlgate.perturb.text.grammar import article, capitalised_like, only_span, plural, put, singular
from vlgate.perturb.word_lists import words

# Replace the number in a text by another, as VALSE's counting instruments do (section 3.3).

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
# In "one of the cups" and "no one" another number cannot replace "one".
_NUMBER = re.compile(rf"(?<!no )(?<!\w)(?:{'|'.join(NUMBER_WORDS)}|\d+)(?![\w:]|-\w)(?! of\b)", re.IGNORECASE)
_EXISTENCE = re.compile(
    r"(?P<start>.*\b)(?P<head>there is|there are|is there|are there)(?P<adverb> (?:exactly|only|just))? "
    r"(?P<number>\w+) "
    r"(?P<phrase>[a-z]+(?: [a-z]+)*?)(?P<tail>(?: (?:in|on|at|near|under|of|with|that|which)\b.*)?[.?!]*)",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\b(?:exactly|only|just) $", re.IGNORECASE)
_COUNTED = 3  # the most words from a number to its noun
_HEADS = {"there is": "there are", "there are": "there is", "is there": "are there", "are there": "is there"}


def replace_number(text: str, new: int) -> str | None:
    """Replace the number in ``text`` by ``new``; a word stays a word, and digits stay digits.

    From one to another number, and back, the verb and the noun change too. This is done only in sentences with "there
    is" or "there are". Numbers in captions of any form need a parse: see ``counts.recounted``.

    Returns: the new text, or None if the text does not have exactly one number, its number is ``new`` already, ``new``
    is not in 0..20 and must be a word, the number is not before a known noun that it counts, the verb or the noun would
    have to change and cannot, or ``new`` is lower and the text does not say "exactly": where there are three cups,
    there are two cups as well.

    >>> replace_number("There are exactly three cups.", 5)
    'There are exactly five cups.'
    >>> replace_number("There is exactly one red cup in the image.", 2)
    'There are exactly two red cups in the image.'
    """
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or (len(numbers[0][0]) > 1 and numbers[0][0].isupper()):
        return None
    digits = numbers[0][0].isdigit()
    old = int(numbers[0][0]) if digits else NUMBER_WORDS.index(numbers[0][0].lower())
    if old == new or not (digits or 0 <= new < len(NUMBER_WORDS)):
        return None
    word = str(new) if digits else NUMBER_WORDS[new]
    if new < old and not _EXACT.search(text[: numbers[0].start()]):
        return None
    if (old == 1) != (new == 1):
        return _agreeing(text, word, to_one=new == 1)
    if not any(singular(word) is not None for word in re.findall(r"[A-Za-z'-]+", text[numbers[0].end() :])[:_COUNTED]):
        return None
    return _NUMBER.sub(lambda match: capitalised_like(match[0], word), text)


def _agreeing(text: str, word: str, *, to_one: bool) -> str | None:
    match = _EXISTENCE.fullmatch(text)
    if match is None or _NUMBER.fullmatch(match["number"]) is None:
        return None
    *adjectives, noun = match["phrase"].split(" ")
    inflected = singular(noun) if to_one else plural(noun)
    if inflected is None:
        return None
    head = capitalised_like(match["head"], _HEADS[match["head"].lower()])
    phrase = " ".join((word, *adjectives, inflected))
    return f"{match['start']}{head}{match['adverb'] or ''} {phrase}{match['tail']}"


# Negate a sentence about existence.
# VALSE's existence instrument (section 3.1) contrasts "There are no animals shown." with "There are animals shown."
# CARETS' negation test (section 3.3) asks "Is there no cup?" after "Is there a cup?", and the answer must change.

# "a lot", "a few" and the like are quantities, not things, and "no" does not negate them.
_QUANTITY = (
    r"(?:lot|few|couple|bit|little|number|pair|variety|group|bunch|dozen|plenty|handful|multitude|great|good|whole)\b"
)
_SINGULAR = re.compile(
    rf"(?P<head>there is|is there) (?P<word>an?|any|no) (?!{_QUANTITY}|one\b|longer\b|way\b)(?P<rest>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_PLURAL = re.compile(
    r"(?P<head>there are|are there) (?:(?P<word>some|any|no) )?(?P<rest>\w.*)", re.IGNORECASE | re.DOTALL
)
# To negate the first operand or the first sentence alone, or twice, would not negate the text.
_JOINED = re.compile(
    r"\b(?:and|or|nor|but|not|never|without|nothing|only|also|except|because|if)\b|n't\b|[,;:]|[.?!]\s*\w",
    re.IGNORECASE,
)
# "There is no very tall giraffe" says little of giraffes.
_INTENSIFIED = re.compile(rf"\b(?:{'|'.join(sorted(words('intensifier')))})\b", re.IGNORECASE)
_CAPITALS = re.compile(r"\b(?:THERE|IS|ARE)\b")
_OTHER_QUANTITY = re.compile(
    r"(?:exactly|only|just|at|more|fewer|less|many|few|several|all|both|two|three|four|five|six|seven|eight|nine|ten|\d+"
    r"|the|not|a|an|each|every|one|plenty|lots|dozens|hundreds|thousands|tons|loads|numerous|multiple|various|different"
    r"|other|most|enough|these|those|such|almost|about|nearly|eleven|twelve|twenty|hardly|so)\b",
    re.IGNORECASE,
)


def negate(text: str) -> str | None:
    """Turn a sentence about existence into its negation, and a negated one back.

    The noun after "There is no" is taken to be countable: "There is no cup." becomes "There is a cup."

    Captions of any other form need a parse: see ``negating.negated``.

    Returns: the new text, or None if the text is not one plain statement or question about existence.

    >>> negate("There is a red cup in the image.")
    'There is no red cup in the image.'
    >>> negate("Is there no apple?")
    'Is there an apple?'
    >>> negate("There are no cups.")
    'There are cups.'
    >>> negate("There is a cup and a ball.") is None
    True
    """
    if _JOINED.search(text) or _CAPITALS.search(text) or _INTENSIFIED.search(text):
        return None
    if match := _SINGULAR.fullmatch(text):
        positive = article(match["rest"])
    elif (match := _PLURAL.fullmatch(text)) and not _OTHER_QUANTITY.match(match["rest"]):
        positive = "any" if match["head"].lower() == "are there" else ""
    else:
        return None
    word = positive if (match["word"] or "").lower() == "no" else "no"
    return " ".join(part for part in (match["head"], word, match["rest"]) if part)


def flip(answer: str) -> str | None:
    """Return the answer to the negated question: "no" for "yes" and "yes" for "no", None for anything else.

    >>> flip("yes"), flip("red")
    ('no', None)
    """
    return {"yes": "no", "no": "yes"}.get(answer)


# Replace a spatial relation by its opposite.
# VALSE's relations instrument (section 3.4) replaces prepositions, and so do VL-CheckList's spatial relations (section
# 3). Here the replacement is the opposite, which is false whenever the relation holds.

_TWOS = (
    ("left of", "right of"),
    ("left side of", "right side of"),
    ("above", "below"),
    ("over", "under"),
    ("in front of", "behind"),
    ("inside", "outside"),
)
OPPOSITES: Mapping[str, str] = MappingProxyType({a: b for two in _TWOS for a, b in (two, two[::-1])})
# A particle or an adverb has no thing behind it ("bending over to kiss a dog"); "what is left of it" is about no side.
_PLACE = re.compile(
    rf"(?:{'|'.join(OPPOSITES)}) (?:the|an?|his|her|its|their|this|that|these|those|some|another|two|three)\b",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    rf"\b(?:(?:bend|bent|lean|look|lay|laid|jump|turn|go|went|gone|run|ran|watch|hang|hung|drape|all|what is|what's)\w*"
    rf"(?: (?:right|out|up|down))?|from|up) (?:{'|'.join(OPPOSITES)})\b",
    re.IGNORECASE,
)
# Who is in front of a laptop is behind it to somebody on its other side.
_FACED = re.compile(
    rf"\b(?:in front of|behind) (?:[\w-]+ ){{1,3}}(?:{'|'.join(sorted(words('faced')))})s?\b", re.IGNORECASE
)
_RELATION = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)


def opposite_relation(text: str) -> str | None:
    """Replace the spatial relation of ``text`` by its opposite.

    Captions of any form need a parse: see ``spatial.opposed``.

    Returns: the new text, or None if it names no such relation or more than one, or the relation is not directly before
    a thing.

    >>> opposite_relation("The cup is to the left of the ball.")
    'The cup is to the right of the ball.'
    >>> opposite_relation("Below the cup is a ball.")
    'Above the cup is a ball.'
    """
    if len(_RELATION.findall(text)) != 1 or not _PLACE.search(text) or _NO_PLACE.search(text) or _FACED.search(text):
        return None
    return _RELATION.sub(lambda match: capitalised_like(match[0], OPPOSITES[match[0].lower()]), text)


# Replace a phrase by another, or exchange two phrases.
# ``replace`` makes foils as in FOIL it! and in VALSE's noun phrases (VALSE, section 3.6). ``exchange`` makes captions
# as in Winoground (section 3): two captions of exactly the same words that mean different things.

_ARTICLE = re.compile(
    r"(?:an?|the|some|any|no|two|three|four|five|six|seven|eight|nine|ten|\d+|many|several) ", re.IGNORECASE
)
# Words that agree with the number of a noun: verbs anywhere, and a determiner directly before the noun.
_FORMS = re.compile(r"\b(?:is|are|was|were|has|have|does|do)\b", re.IGNORECASE)
_DETERMINER = re.compile(
    r"\b(?:an?|one|this|that|each|every|another|these|those|many|several|few|both|two|three|four|five|six|seven|eight|nine"
    r"|ten|\d+)(?: \w+)? $",
    re.IGNORECASE,
)


def replace(text: str, old: str, new: str) -> str | None:
    """Replace the phrase ``old`` by ``new``; an article before it agrees, and a capital letter is kept.

    Returns: the new text, or None if ``old`` does not occur exactly once as whole words, or equals ``new``, or one is
    singular, the other one is plural, and a word of the text agrees with it.

    >>> replace("A cup and a ball.", "cup", "apple")
    'An apple and a ball.'
    """
    span = only_span(text, old)
    if span is None or old.lower() == new.lower() or _disagree(text, span, old, new):
        return None
    return put(text, span, new)


def exchange(text: str, first: str, second: str) -> str | None:
    """Exchange the phrases ``first`` and ``second``, which are written as given, or with a capital to begin a sentence.

    Returns: the new text, or None if one of them does not occur exactly once as whole words, or they overlap, or one is
    singular, the other one is plural, and a word of the text agrees with it.

    >>> exchange("A cup to the left of an apple.", "a cup", "an apple")
    'An apple to the left of a cup.'
    >>> exchange("A red cup and an orange ball.", "red", "orange")
    'An orange cup and a red ball.'
    """
    left, right = only_span(text, first), only_span(text, second)
    if left is None or right is None:
        return None
    if left > right:
        left, right, first, second = right, left, second, first
    if left[1] > right[0] or _disagree(text, left, first, second) or _disagree(text, right, second, first):
        return None
    return put(put(text, right, first), left, second)


def _disagree(text: str, span: tuple[int, int], old: str, new: str) -> bool:
    numbers = {_is_plural(old), _is_plural(new)}
    if numbers != {True, False}:
        return False
    own = _ARTICLE.match(old) is not None and _ARTICLE.match(new) is not None
    return _FORMS.search(text) is not None or (not own and _DETERMINER.search(text[: span[0]]) is not None)


def _is_plural(phrase: str) -> bool | None:
    """Whether the last noun of a phrase is a known plural, or a known singular; None if neither or both."""
    noun = phrase.rsplit(" ", maxsplit=1)[-1]
    one, many = singular(noun), plural(noun)
    return None if (one is None) == (many is None) else one is not None
