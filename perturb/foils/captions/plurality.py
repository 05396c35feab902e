"""Plurality as in VALSE (3.2 and A.2): one thing in the caption and several in the foil, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vlgate.perturb.captions.fitness import unfit
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.captions.agreement import quantified, renumbered
from vlgate.perturb.foils.captions.mentions import Mentions
from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading, read
from vlgate.perturb.foils.captions.plurality_doubts import doubts_of
from vlgate.perturb.parsing.parsed import Edit, Parsed

ONE = ("exactly one", "a single")
"""The quantifiers of a singular noun phrase."""
SEVERAL = ("some", "a number of")
"""The quantifiers of a plural noun phrase."""

MOST_TOKENS = 80
_PIECES = re.compile(r"\w+|[^\w\s]")
_PIECE = 12  # a longer word is more than one piece in BERT's vocabulary


def plurals(parsed: Parsed, others: Sequence[Mentions] = (), *, doubtful: bool = False) -> Found:
    """Make foils of each noun phrase of a caption: a singular becomes plural ("sg2pl") or a plural singular ("pl2sg").

    Caption and foil get each of the two quantifiers for their number, so there are four candidates for a noun phrase:
    "exactly one dog" and "a single dog" with "some dogs" and "a number of dogs". Verbs and pronouns agree.

    Args:
        parsed: the caption.
        others: the other captions of the same image. They tell whether there is only one thing of that name.
        doubtful: whether candidates that may be ungrammatical or true of the image are kept, as the released data keeps
            them. Their tag "doubt" says why; it is "none" for a sure one.

    Returns: the candidates, tagged with "direction", "quantifiers" and, if ``doubtful``, "doubt"; and the reason for
        each noun phrase that gave none.
    """
    if _pieces(parsed.text) > MOST_TOKENS:
        return Found(refused=("the caption has more than 80 tokens",))
    if not parsed.chunks:
        return Found(refused=("no noun phrase",))
    reading = read(parsed)
    why = unfit(parsed)
    candidates: list[Foil] = []
    refused = list(reading.refused)
    for phrase in reading.phrases.values():
        changed = renumbered(reading, phrase)
        doubts = tuple(filter(None, (*changed.doubts, *doubts_of(reading, phrase, others), why)))
        if doubts and not doubtful:
            refused.append(doubts[0])
        else:
            candidates += _foils(reading, phrase, changed.edits, doubts, tagged=doubtful)
    return Found(candidates=tuple(candidates), refused=tuple(refused))


def _foils(
    reading: Reading, phrase: NounPhrase, edits: Sequence[Edit], doubts: Sequence[str], *, tagged: bool
) -> Iterator[Foil]:
    truth, false = (SEVERAL, ONE) if phrase.plural else (ONE, SEVERAL)
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
                tags={**tags, "doubt": doubts[0] if doubts else "none"} if tagged else tags,
            )


def _pieces(text: str) -> int:
    """Return about as many tokens as BERT's tokenizer makes of a text."""
    return sum(1 + (len(piece) - 1) // _PIECE for piece in _PIECES.findall(text))
