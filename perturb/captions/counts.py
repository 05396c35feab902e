"""Replace a number in a caption by its parse, as VALSE's counting does (section 3.3), with all that agrees with it.

"Two dogs" is still true of three, so a lower number makes a foil only with "exactly", on the caption and on
the foil.
"""

from __future__ import annotations

from vlgate.perturb.captions.fitness import first, unfit
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.grammar import capitalised_like
from vlgate.perturb.inflection import plural, singular
from vlgate.perturb.numbers import NUMBER_WORDS
from vlgate.perturb.parsing.parsed import Edit, Parsed

# What is measured and not counted, and what is a number by convention.
_MEASURES = frozenset(
    (
        *(
            "year",
            "month",
            "week",
            "day",
            "hour",
            "minute",
            "second",
            "foot",
            "inch",
            "mile",
            "meter",
            "metre",
            "pound",
        ),
        *("yard", "dollar", "cent", "percent", "degree", "o'clock", "time", "pm", "am", "kilometer", "liter", "way"),
        *("half", "quarter", "third", "story", "level", "tier", "lane", "sort", "kind", "type", "set", "pair", "piece"),
        *("leg", "hand", "side", "wheel", "foot", "arm", "end", "direction", "wing", "engine", "eye", "ear", "thing"),
    )
)
# "Each other", "the other one": the number of things is told elsewhere, too.
_TOLD = frozenset(
    (
        *(
            "other",
            "others",
            "another",
            "both",
            "each",
            "together",
            "pair",
            "couple",
            "twin",
            "either",
            "neither",
            "first",
        ),
        *(
            "second",
            "third",
            "between",
            "former",
            "latter",
            "them",
            "their",
            "they",
            "themselves",
            "all",
            "half",
            "trio",
        ),
        *(
            "single",
            "same",
            "apiece",
            "every",
            "total",
            "most",
            "it",
            "its",
            "he",
            "his",
            "her",
            "she",
            "him",
            "itself",
        ),
        *("himself", "herself", "alone", "remaining", "last", "rest", "more", "opposite", "similar", "identical"),
        *("different", "matching", "doubles", "row", "line", "group", "one", "circle"),
    )
)
_NEAR = frozenset(
    ("exactly", "about", "around", "at", "least", "most", "than", "only", "just", "or", "to", "nearly", "almost")
)
_RANGE = frozenset(("or", "to", "-", "and"))
_RAISED = _TOLD - {"them", "their", "they", "themselves", "each", "together", "row", "line", "group", "different"}
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_SINGULAR_VERBS = {many: one for one, many in _VERBS.items()}


def recounted(parsed: Parsed, new: int) -> Found:
    """Replace each number of a caption by ``new``, with the noun and the verb that agree with it.

    Returns: one candidate per number that can be replaced; if ``new`` is the lower number, its caption and its foil
        say "exactly". Numbers behind a definite article, approximate ones, measures, and numbers that other words of
        the caption tell as well ("each other", "both") are refused, each with its reason.
    """
    numbers = [place for place, token in enumerate(parsed.tokens) if token.tag == "CD" and token.dep == "nummod"]
    if not numbers:
        return Found(refused=("no number before a noun",))
    why = unfit(parsed)
    if why:
        return Found(refused=(why,))
    made = [_recounted(parsed, place, new) for place in numbers]
    return Found(
        candidates=tuple(one for one in made if isinstance(one, Foil)),
        refused=tuple(one for one in made if isinstance(one, str)),
    )


def _recounted(parsed: Parsed, place: int, new: int) -> Foil | str:
    tokens = parsed.tokens
    old, noun = _value(tokens[place].lower), tokens[place].head
    if old is None or not 1 <= old < len(NUMBER_WORDS) or not 1 <= new < len(NUMBER_WORDS) or old == new:
        return "the number is replaced by itself, or by one that has no word"
    why = _uncertain(parsed, place, noun, lower=new < old)
    if why:
        return why
    edits = _agreeing(parsed, place, noun, old=old, new=new)
    if isinstance(edits, str):
        return edits
    digits = tokens[place].text.isdigit()
    word = str(new) if digits else capitalised_like(tokens[place].text, NUMBER_WORDS[new])
    if new > old:
        caption, foil = parsed.text, parsed.edited([*edits, Edit(span=(place, place + 1), text=word)])
        says = "there are fewer of them"
    else:
        caption = parsed.edited([Edit(span=(place, place + 1), text=f"exactly {tokens[place].lower}")])
        foil = parsed.edited([*edits, Edit(span=(place, place + 1), text=f"exactly {word.lower()}")])
        says = "there are more of them"
    return Foil(caption=caption, foil=foil, classes=(tokens[place].lower, word.lower()), why=says)


def _uncertain(parsed: Parsed, place: int, noun: int, *, lower: bool) -> str:
    """Why a number does not tell how many things of one kind there are."""
    tokens = parsed.tokens
    chunk = next((span for span in parsed.chunks if span[0] <= place < span[1]), None)
    place_words = frozenset(("to", "around", "about", "at")) if tokens[noun].dep == "pobj" else frozenset()
    near = place > 0 and tokens[place - 1].lower in _NEAR - place_words
    parts = tokens[noun].lemma.lower() in _MEASURES or any(token.text == "-" for token in tokens[place : noun + 1])
    joined = parsed.children(noun, "cc", "conj", "appos") or any(token.dep == "appos" for token in tokens)
    return first(
        (chunk != (place, noun + 1), "the number does not begin a noun phrase"),
        (
            near or bool(parsed.children(place)) or any(one.lower in _RANGE for one in tokens[place + 1 : place + 2]),
            "the number is approximate or exact",
        ),
        (parts, "a measure or a part"),
        (bool(joined), "several things are joined"),
        (_is_told(parsed, place, _TOLD if lower else _RAISED), "other words tell the number, too"),
    )


def _is_told(parsed: Parsed, place: int, words: frozenset[str]) -> bool:
    return not words.isdisjoint(token.lower for token in (*parsed.tokens[:place], *parsed.tokens[place + 1 :]))


def _agreeing(parsed: Parsed, place: int, noun: int, *, old: int, new: int) -> list[Edit] | str:
    """The edits of the noun and the verb if the number becomes one, or ceases to be one."""
    word = parsed.tokens[noun]
    if word.tag not in {"NN", "NNS"} or (word.tag == "NN" and old > 1 and word.lower not in {"people", "sheep"}):
        return "the noun does not agree"
    if (old == 1) == (new == 1):
        return []
    inflected = (singular if new == 1 else plural)(word.lower)
    why = first(
        (_is_told(parsed, place, _TOLD), "other words tell the number, too"),
        (inflected is None or word.text != word.lower, "the noun has no other number"),
        (bool(parsed.children(noun, "relcl")), "the verb cannot agree"),
    )
    verb = _agreeing_verb(parsed, noun, to_one=new == 1)
    if why or isinstance(verb, str) or inflected is None:
        return why or str(verb)
    return [Edit(span=(noun, noun + 1), text=inflected), *verb]


def _agreeing_verb(parsed: Parsed, noun: int, *, to_one: bool) -> list[Edit] | str:
    """The edit of the verb that agrees with a noun; empty if there is none."""
    place = _verb(parsed, noun)
    if place is None:
        return []
    verb = parsed.tokens[place]
    word = (_SINGULAR_VERBS if to_one else _VERBS).get(verb.lower) if place != noun else None
    if word is not None:
        return [Edit(span=(place, place + 1), text=word)]
    stays = place != noun and verb.tag in {"VBG", "VBN", "VBD", "MD"} and verb.lower not in {"was", "were"}
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
    if any(tokens[place].tag in {"NN", "NNS"} and tokens[place].dep == "attr" for place in parsed.children(head)) and (
        not exists
    ):
        return noun
    verbs = (*parsed.children(head, "aux", "auxpass"), head)
    if any(tokens[place].tag in {"VBZ", "VBP"} for place in parsed.children(head, "conj")):
        return noun
    return min(verbs)


def _value(word: str) -> int | None:
    if word.isdigit() and len(word) < 3:
        return int(word)
    return NUMBER_WORDS.index(word) if word in NUMBER_WORDS else None
