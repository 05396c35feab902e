"""Plurality and numbers of captions: one thing or several (VALSE, 3.2 and A.2), "exactly two" or "three dogs"."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.agreement import quantified, renumbered
from vlgate.perturb.foils.captions.doubts import doubt_of, has_things, shared_doubts, why_not_one
from vlgate.perturb.foils.captions.mentions import Mentions, say_count, say_many, say_several, say_two
from vlgate.perturb.foils.captions.noun_phrases import MORE, NounPhrase, Reading, has_kind, read, reason_of
from vlgate.perturb.text.fitness import REVERSED, reverses, unfit
from vlgate.perturb.text.grammar import singular
from vlgate.perturb.text.parsed import Edit, Parsed
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.perturb.word_lists import is_body_part, words

ONE = ("exactly one", "a single")  # the quantifiers of a singular noun phrase
SEVERAL = ("some", "a number of")  # the quantifiers of a plural noun phrase

MOST_TOKENS = 80
_PIECES = re.compile(r"\w+|[^\w\s]")
_PIECE = 12  # a longer word is more than one piece in BERT's vocabulary


def plurals(parsed: Parsed, others: Sequence[Mentions] = (), *, doubtful: bool = False) -> Perturbed:
    """Make foils of each noun phrase of a caption: a singular becomes plural ("sg2pl"), a plural singular ("pl2sg")."""
    # Four candidates for a noun phrase: "exactly one dog" and "a single dog" with "some dogs" and "a number of dogs".
    # The other captions tell whether there is only one thing of that name. ``doubtful`` keeps candidates that may be
    # ungrammatical or true of the image, as the released data do, with a tag "doubt". The tokens are about as many as
    # BERT's tokenizer makes of it.
    if sum(1 + (len(piece) - 1) // _PIECE for piece in _PIECES.findall(parsed.text)) > MOST_TOKENS:
        return Perturbed.of("the caption has more than 80 tokens")
    if not parsed.chunks:
        return Perturbed.of("no noun phrase")
    reading = read(parsed)
    why = cache(lambda: unfit(parsed) or (REVERSED if reverses(parsed) else ""))
    outcomes: list[Foil | str] = [*reading.refused]
    for phrase in reading.phrases.values():
        changed = renumbered(reading, phrase)
        doubt = changed.doubt or doubt_of(reading, phrase, others) or why()
        if doubt and not doubtful:
            outcomes.append(doubt)
        else:
            outcomes += _plurality_foils(reading, phrase, changed.edits, (doubt or "none") if doubtful else None)
    return Perturbed.of(*outcomes)


def _plurality_foils(reading: Reading, phrase: NounPhrase, edits: Sequence[Edit], doubt: str | None) -> Iterator[Foil]:
    one = ONE[:1] if _has_single_sort(reading, phrase) else ONE
    truth, false = (SEVERAL, one) if phrase.plural else (one, SEVERAL)
    captions = [quantified(reading, phrase, quantifier) for quantifier in truth]
    foils = [quantified(reading, phrase, quantifier, edits) for quantifier in false]
    for quantifier, caption in zip(truth, captions, strict=True):
        for other, foil in zip(false, foils, strict=True):
            tags = {"direction": "pl2sg" if phrase.plural else "sg2pl", "quantifiers": f"{quantifier}/{other}"}
            yield Foil(
                caption=caption,
                foil=foil,
                classes=(phrase.noun, phrase.other),
                why=f"the image shows {quantifier} {phrase.noun}, the foil says {other} {phrase.other}",
                tags=tags if doubt is None else {**tags, "doubt": doubt},
            )


def _has_single_sort(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether "single" before a noun may name a sort of it: "a single bed", "a single deck bus", "a single mother"."""
    after = reading.parsed.tokens[phrase.lead[1]].lower
    if phrase.lead[1] == phrase.head:
        return phrase.singular_noun in words("single sort")
    return (singular(after) or after) in words("single sort") | words("single part")


LARGEST = 12  # the largest number that is taken from a caption or put into a foil; nobody counts more at a glance
STEPS = (-2, -1, 1, 2)  # how far the foil's number is from the caption's

_MEASURES = words("measure")
_OF_TWO = frozenset("opposite opposing both either couple pair twin twins matching identical between all".split())
_MORE_OF_THEM = words("further")


def counted(parsed: Parsed, others: Sequence[Mentions] = ()) -> Perturbed:
    """Make foils of the numbers in a caption: "exactly" and the number in the caption, another one in the foil."""
    # "Exactly" on both sides makes a lower number false too. A number is taken if another caption gives the same, and
    # none gives another one; "a dog" is one if it may become plural (``plurals``). Without these, two is the number of
    # nine in ten captions, and hardly any foil could say two.
    if not parsed.chunks:
        return Perturbed.of("no noun phrase")
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    reading = read(parsed)
    outcomes: list[Foil | str] = [*reading.refused]
    for phrase in reading.phrases.values():
        doubt = _doubt(reading, phrase, others)
        outcomes += _counted_foils(reading, phrase, phrase.count or 1) if doubt is None else [doubt]
    return Perturbed.of(*outcomes)


def _doubt(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> str | None:
    noun = phrase.singular_noun
    if phrase.kind in {"a", "this"}:
        return doubt_of(reading, phrase, others) or renumbered(reading, phrase).doubt
    if phrase.kind != "number" or not 1 <= (phrase.count or 0) <= LARGEST:
        return "no number that can be exact"
    if noun in _MEASURES or (reason_of(noun) is not None and not has_kind(noun, MORE)):
        return "the number is not one of objects"
    caption = [token.lower for token in reading.parsed.tokens]
    if not _MORE_OF_THEM.isdisjoint(caption):
        return "the caption speaks of more of them"
    if not _OF_TWO.isdisjoint(caption) or caption.count("one") > 1:
        return "other words tell the number, too"
    return next(shared_doubts(reading, phrase), None) or _uncertain(phrase, others)


def _uncertain(phrase: NounPhrase, others: Sequence[Mentions]) -> str | None:
    noun, count = phrase.singular_noun, phrase.count or 0
    given = say_count(noun, others)
    if given - {count} or (count == 1 and say_several(noun, others)) or (count != 2 and say_two(noun, others)):
        return "another caption gives another number"
    borne_out = count in say_count(noun, others, sure=True)
    if not borne_out and not (count == 2 and say_two(noun, others, sure=True)):
        return "no other caption gives the number"
    return "another caption speaks of many" if say_many(noun, others) else None


def _not_of_one(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the caption makes no sense with one thing: one friend, one person on horses, one dog with the backs."""
    if phrase.singular_noun in words("relative") or why_not_one(reading, phrase) or has_things(reading, phrase):
        return True
    later = (one for one in reading.phrases.values() if one.head > phrase.head and one.plural)
    return any(one.kind == "the" and is_body_part(one.noun) for one in later)


def _counted_foils(reading: Reading, phrase: NounPhrase, count: int) -> Iterator[Foil]:
    said = reading.parsed.tokens[phrase.lead[1] - 1].text if phrase.kind == "number" else NUMBER_WORDS[count]
    digits = said.isdigit()
    for step in STEPS:
        number = count + step
        if not 1 <= number <= LARGEST:
            continue
        edits: tuple[Edit, ...] = ()
        if (number == 1) != (count == 1):
            changed = renumbered(reading, phrase)
            if changed.doubt or (number == 1 and _not_of_one(reading, phrase)):
                continue
            edits = changed.edits
        yield Foil(
            caption=quantified(reading, phrase, f"exactly {said.lower()}"),
            foil=quantified(reading, phrase, f"exactly {number if digits else NUMBER_WORDS[number]}", edits),
            classes=(str(count), str(number)),
            why=f"the image shows exactly {count} {phrase.noun}, the foil says {number}",
            tags={"direction": "raised" if step > 0 else "lowered", "count": str(count)},
        )
