"""The number of noun phrases; replace a number in a caption by its parse, with all that agrees with it."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.noun_phrases import number
from vlgate.perturb.text.fitness import REVERSED, first, reverses, unfit
from vlgate.perturb.text.grammar import capitalised_like, plural, singular
from vlgate.perturb.text.parsed import Edit, Parsed
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.perturb.word_lists import words

INDEFINITE = frozenset(("a", "an", "some", "another", "one"))
"""Words before a noun that only say that there is one, or some."""
_MANY = frozenset(("several", "many", "multiple", "numerous", "various", "couple", "few", "some", "different"))
_SMALL_NUMBERS = frozenset("two three four five six seven eight nine ten twelve 2 3 4 5 6".split())
_OF = frozenset("lot lots couple bunch number variety plenty dozen dozens handful assortment".split())
"""Nouns before "of" that are a quantity of what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indefinite:
    """An indefinite noun phrase: the positions of its noun and of the end of its quantity, and its number."""

    noun: int
    start: int
    end_of_quantity: int
    is_plural: bool


def is_plural(parsed: Parsed, position: int) -> bool | None:
    """Return whether a noun is plural; None if the tag and the dictionary disagree, or it may be either."""
    token = parsed.tokens[position]
    if token.tag not in {"NN", "NNS"} or token.pos == "PRON":
        return None
    word = token.lower
    if word in {"people", "men", "women", "children", "police", "cattle"}:
        return True
    one, many = singular(word), plural(word)
    if one == word or (one is not None and many is not None):
        return None if parsed.children(position, "det", "nummod") == () else token.tag == "NNS"
    if token.tag == "NNS":
        return True if one is not None or (many is None and word.endswith("s")) else None
    return False if one is None else None


def indefinite(parsed: Parsed, start: int, noun: int) -> Indefinite | None:
    """Read the phrase from ``start`` to ``noun`` as an indefinite one; None if it is definite or not understood.

    "A lot of" and "a couple of" are quantities: the noun is the one that follows them.
    """
    tokens = parsed.tokens
    first = tokens[start].lower
    if tokens[noun].lower in _OF and noun + 1 < len(tokens) and tokens[noun + 1].lower == "of":
        counted = parsed.children(noun + 1, "pobj")
        if len(counted) != 1 or not _plain(parsed, noun + 2, counted[0]) or first not in {"a", *_OF}:
            return None
        return _of_number(parsed, start, noun + 2, counted[0])
    if first == "a" and start + 1 < noun and tokens[start + 1].lower in {"few", "couple", "dozen"}:
        return _of_number(parsed, start, start + 2, noun)
    if first in INDEFINITE | _MANY | _SMALL_NUMBERS and first != "few":
        return _of_number(parsed, start, start + 1, noun) if _plain(parsed, start + 1, noun) else None
    return _of_number(parsed, start, start, noun) if _plain(parsed, start, noun) else None


def _plain(parsed: Parsed, start: int, noun: int) -> bool:
    """Whether only modifiers of the noun stand before it: no determiner, number, possessor or comparison."""
    fine = {"amod", "compound", "advmod", "nmod", "punct", "npadvmod", "cc", "conj"}
    tags = {"DT", "CD", "PRP$", "POS", "PDT", "WDT", "WP", "JJR", "JJS", "PRP", "NNP", "NNPS", "EX", "RBR", "RBS", "IN"}
    return start <= noun and all(
        token.dep in fine and token.tag not in tags and not (token.dep == "compound" and token.tag == "NNS")
        for token in parsed.tokens[start:noun]
    )


def _of_number(parsed: Parsed, start: int, end: int, noun: int) -> Indefinite | None:
    while start < end < noun and parsed.tokens[end].lower in {"different", "various", "assorted", "other"}:
        after = parsed.tokens[end + 1]
        if after.text.endswith("ed") or after.lower in {"kinds", "types", "sorts"}:
            break
        end += 1  # "several different dogs": "no different dogs" would say something else
    many = is_plural(parsed, noun)
    if many is None or noun < end:
        return None
    if not many and end > start + 1 and plural(parsed.tokens[noun].lower) is not None:
        return None  # "a lot of vegetable"
    first = parsed.tokens[start].lower if end > start else "some"
    of_one = first in INDEFINITE and first != "some"
    if first != "some" and of_one == many and parsed.tokens[start + 1].lower not in {"few", "dozen"} | _OF:
        return None  # "a dogs", "two dog"
    return Indefinite(noun=noun, start=start, end_of_quantity=end, is_plural=many)


# Replace a number in a caption by its parse, as VALSE's counting does (section 3.3), with all that agrees with it.
# "Two dogs" is still true of three, so a lower number makes a foil only with "exactly", on the caption and on the
# foil.

# What is measured and not counted, and what is a number by convention.
_MEASURES = words("not counted")
# "Each other", "the other one": the number of things is told elsewhere, too.
_TOLD = words("tells the number")
_NEAR = frozenset("exactly about around at least most than only just or to nearly almost".split())
_RANGE = frozenset(("or", "to", "-", "and"))
_RAISED = _TOLD - {"them", "their", "they", "themselves", "each", "together", "row", "line", "group", "different"}
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_SINGULAR_VERBS = {many: one for one, many in _VERBS.items()}


def recounted(parsed: Parsed, new: int) -> Perturbed:
    """Replace each number of a caption by ``new``, with the noun and the verb that agree with it.

    Returns: one candidate per number that can be replaced; if ``new`` is the lower number, its caption and its foil
        say "exactly". Numbers behind a definite article, approximate ones, measures, and numbers that other words of
        the caption tell as well ("each other", "both") are refused, each with its reason.
    """
    numbers = [index for index, token in enumerate(parsed.tokens) if token.tag == "CD" and token.dep == "nummod"]
    if not numbers:
        return Perturbed.of("no number before a noun")
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    return Perturbed.of(*(_recounted(parsed, index, new) for index in numbers))


def _recounted(parsed: Parsed, index: int, new: int) -> Foil | str:
    tokens = parsed.tokens
    old, noun = number(tokens[index].lower), tokens[index].head
    if old is None or not 1 <= old < len(NUMBER_WORDS) or not 1 <= new < len(NUMBER_WORDS) or old == new:
        return "the number is replaced by itself, or by one that has no word"
    if why := _uncertain(parsed, index, noun, lower=new < old):
        return why
    edits = _agreeing(parsed, index, noun, old=old, new=new)
    if isinstance(edits, str):
        return edits
    digits = tokens[index].text.isdigit()
    word = str(new) if digits else capitalised_like(tokens[index].text, NUMBER_WORDS[new])
    if new > old:
        caption, foil = parsed.text, parsed.edited([*edits, Edit(span=(index, index + 1), text=word)])
        says = "there are fewer of them"
    else:
        caption = parsed.edited([Edit(span=(index, index + 1), text=f"exactly {tokens[index].lower}")])
        foil = parsed.edited([*edits, Edit(span=(index, index + 1), text=f"exactly {word.lower()}")])
        says = "there are more of them"
    return Foil(caption=caption, foil=foil, classes=(tokens[index].lower, word.lower()), why=says)


def _uncertain(parsed: Parsed, index: int, noun: int, *, lower: bool) -> str:
    tokens = parsed.tokens
    chunk = next((span for span in parsed.chunks if span[0] <= index < span[1]), None)
    place_words = frozenset(("to", "around", "about", "at")) if tokens[noun].dep == "pobj" else frozenset()
    near = index > 0 and tokens[index - 1].lower in _NEAR - place_words
    near = near or any(token.lower in _RANGE for token in tokens[index + 1 : index + 2])
    parts = tokens[noun].lemma.lower() in _MEASURES or any(token.text == "-" for token in tokens[index : noun + 1])
    joined = parsed.children(noun, "cc", "conj", "appos") or any(token.dep == "appos" for token in tokens)
    return first(
        (chunk != (index, noun + 1), "the number does not begin a noun phrase"),
        (near or bool(parsed.children(index)), "the number is approximate or exact"),
        (parts, "a measure or a part"),
        (bool(joined), "several things are joined"),
        (_is_told(parsed, index, _TOLD if lower else _RAISED), "other words tell the number, too"),
    )


def _is_told(parsed: Parsed, index: int, words: frozenset[str]) -> bool:
    return not words.isdisjoint(token.lower for token in (*parsed.tokens[:index], *parsed.tokens[index + 1 :]))


def _agreeing(parsed: Parsed, index: int, noun: int, *, old: int, new: int) -> list[Edit] | str:
    word = parsed.tokens[noun]
    if word.tag not in {"NN", "NNS"} or (word.tag == "NN" and old > 1 and word.lower not in {"people", "sheep"}):
        return "the noun does not agree"
    if (old == 1) == (new == 1):
        return []
    inflected = (singular if new == 1 else plural)(word.lower)
    why = first(
        (_is_told(parsed, index, _TOLD), "other words tell the number, too"),
        (inflected is None or word.text != word.lower, "the noun has no other number"),
        (bool(parsed.children(noun, "relcl")), "the verb cannot agree"),
    )
    verb = _agreeing_verb(parsed, noun, to_one=new == 1)
    if why or isinstance(verb, str) or inflected is None:
        return why or str(verb)
    return [Edit(span=(noun, noun + 1), text=inflected), *verb]


def _agreeing_verb(parsed: Parsed, noun: int, *, to_one: bool) -> list[Edit] | str:
    index = _verb(parsed, noun)
    if index is None:
        return []
    verb = parsed.tokens[index]
    word = (_SINGULAR_VERBS if to_one else _VERBS).get(verb.lower) if index != noun else None
    if word is not None:
        return [Edit(span=(index, index + 1), text=word)]
    stays = index != noun and verb.tag in {"VBG", "VBN", "VBD", "MD"} and verb.lower not in {"was", "were"}
    return [] if stays else "the verb cannot agree"


def _verb(parsed: Parsed, noun: int) -> int | None:
    """The verb that agrees with a noun: None if there is none, the noun itself if the sentence is not understood."""
    tokens = parsed.tokens
    head = tokens[noun].head
    inside = any(token.tag in {"VBZ", "VBP"} and token.head == noun for token in tokens)
    exists = tokens[noun].dep == "attr" and parsed.children(head, "expl")
    if inside or (tokens[noun].dep == "attr" and not exists):
        return noun
    if tokens[noun].dep not in {"nsubj", "nsubjpass"} and not exists:
        return None
    named = any(tokens[index].tag in {"NN", "NNS"} for index in parsed.children(head, "attr"))
    if (named and not exists) or any(tokens[index].tag in {"VBZ", "VBP"} for index in parsed.children(head, "conj")):
        return noun
    return min((*parsed.children(head, "aux", "auxpass"), head))
