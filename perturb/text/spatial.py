"""Replace a spatial preposition of a caption by its opposite, by the parse.

Only a preposition with a thing behind it that says where something is: not a particle ("bending over"), not a
direction of a movement, not a fixed phrase ("under construction").
"""

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.prepositions import may_be_of_another
from vlgate.perturb.text.fitness import REVERSED, first, reverses, unfit
from vlgate.perturb.text.parsed import Edit, Parsed, Span
from vlgate.perturb.text.rewriting import OPPOSITES
from vlgate.perturb.word_lists import words

_LONGEST = 3  # words of a relation
# "Over" and "under" after these verbs do not say where something is: "leaning over a rail", "looking over a menu".
_NO_PLACE = words("no place behind")
_STAYS = frozenset(("sit", "lie", "rest", "lay", "sleep", "stand", "kneel", "squat", "hang", "hover", "fly", "hold"))
_SEES = frozenset(("look", "gaze", "stare", "peer", "glance", "face", "peek", "point"))
_CHANGING = frozenset("all from right just way up down out well over back far off".split())
_INSIDE = frozenset(("inside", "outside"))
_OPENINGS = frozenset(("window", "windows", "door", "doors", "gate", "gates"))
_OVER = frozenset(("over", "under"))
# What is in front of a laptop, a car or a person is behind it to somebody on its other side. These have no front, or a
# photograph shows it.
_FACADES = frozenset({"in front of", "behind"})
_NO_FRONT = words("no front")
_BUILDINGS = words("building")
# A thing is not both over and below these, or it always is: "under a blue sky".
_NO_THING = words("no other side")


def opposed(parsed: Parsed) -> Perturbed:
    """Replace each spatial preposition of a caption by its opposite.

    Returns: one candidate per preposition, and the reasons of those that are refused.
    """
    words = [token.lower for token in parsed.tokens]
    spans = [
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, start + 1 + _LONGEST)
        if " ".join(words[start:end]) in OPPOSITES and end <= len(words)
    ]
    if not spans:
        return Perturbed.of("no spatial preposition with an opposite")
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    return Perturbed.of(*(_opposed(parsed, span) for span in spans))


def _opposed(parsed: Parsed, span: Span) -> Foil | str:
    old = " ".join(token.lower for token in parsed.tokens[slice(*span)])
    if why := _no_place(parsed, span, old):
        return why
    new = OPPOSITES[old]
    text = parsed.edited([Edit(span=span, text=new)])
    return Foil(caption=parsed.text, foil=text, classes=(old, new), why=f"what is {old} it is not {new} it")


def _no_place(parsed: Parsed, span: Span, old: str) -> str:
    tokens = parsed.tokens
    start, end = span
    things = parsed.children(end - 1, "pobj")
    if tokens[end - 1].dep != "prep" or tokens[end - 1].tag != "IN" or len(things) != 1 or things[0] < end:
        return "no preposition with a thing behind it"
    thing, verb = tokens[things[0]], tokens[tokens[start].head]
    changed = start > 0 and tokens[start - 1].lower in _CHANGING
    changed = changed or tokens[end].tag in {"RB", "IN"} or bool(parsed.children(start, "advmod", "npadvmod"))
    window = old in _INSIDE and thing.lower in _OPENINGS
    several = parsed.children(things[0], "conj", "nummod")
    fronts = _NO_FRONT | (_BUILDINGS if old == "in front of" else frozenset())
    either_side = old in _FACADES and thing.lemma.lower() not in fronts
    moves = old in _OVER and verb.pos == "VERB" and verb.lemma.lower() in _NO_PLACE - _STAYS
    return first(
        (changed, "a word before the preposition changes its meaning"),
        (window or thing.lower in _NO_THING or bool(several) or thing.pos != "NOUN", "a thing without another side"),
        (start == 0, "the preposition begins the text"),
        (either_side, "a thing whose other side may be its front"),
        (may_be_of_another(parsed, tokens[start].head, start), "the place may be that of another thing"),
        (verb.lemma.lower() in _SEES, "the verb says a direction"),
        (moves, "the verb says a movement"),
    )
