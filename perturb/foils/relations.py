"""Relations as in VALSE (section 3.4, appendix A.4): a caption whose spatial preposition is replaced by another one.

There are two ways to propose the replacement. A masked language model fills the place of the preposition, as in the
paper (``gaps`` and ``filled_relations``); its proposals need a model of entailment to be false. The table of
prepositions that contradict each other needs no model (``relations``): what it proposes is false of the same thing.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from types import MappingProxyType

from vlgate.perturb.foils.candidates import Filling, Foil, Gap, Perturbed
from vlgate.perturb.foils.captions.mentions import is_kind_of, may_be_same
from vlgate.perturb.foils.prepositions import (
    AROUND,
    SEVERAL,
    Preposition,
    Said,
    contrasts,
    may_be_of_another,
    prepositions,
)
from vlgate.perturb.text.fitness import reverses, unfit
from vlgate.perturb.text.parsed import Edit, Parsed

MOST_TOKENS = 80  # the longest caption, in tokens; longer texts are not captions

NO_PREPOSITION = "no preposition"
TOO_LONG = "the text is too long for a caption"
NOT_SPATIAL = "the preposition is not spatial"
NO_THING = "no noun with its article behind the preposition"
PHRASE = "the preposition is part of a longer phrase"
CAPITALS = "the text is in capital letters"
NEGATED = "the caption has a negation or is a question"
NO_CONTRAST = "no preposition certainly contradicts this one here"
NOT_ATTESTED = "no contradicting preposition is attested in the captions"
ABSURD = "nobody would say so of such things"
SAID = "a caption of the image says what the foil would say"

_OPEN = frozenset({"no", "any", "every", "each", "either", "neither", "what", "which", "another", "other"})
_BESIDE = frozenset({"next to", "beside", "near", "close to", "in front of", "behind", "in back of", "by", "alongside"})
_EITHERS = _BESIDE | {"at"}  # where one of two things may be while the other one is on, in or under it


def relations(parsed: Parsed, attested: Collection[str], said: Said = MappingProxyType({})) -> Perturbed:
    # ``attested`` are the preposition sequences of the collection, ``said`` what the captions of the image say, which a
    # foil must not say.
    return _perturbed(parsed, attested, said, None)


def gaps(parsed: Parsed) -> tuple[Gap, ...]:
    return tuple(
        Gap(before=parsed.said((0, spot.span[0])), after=parsed.said((spot.span[1], len(parsed.tokens))))
        for spot in _spots(parsed)
        if isinstance(spot, Preposition)
    )


def filled_relations(
    parsed: Parsed, fillings: Sequence[Sequence[Filling]], attested: Collection[str], said: Said = MappingProxyType({})
) -> Perturbed:
    # For each number of words, the best filling that is another attested preposition is kept. Pairs that may be true
    # together ("on", "on top of") are not. The rest may still be true of the image: a model of entailment must call
    # caption and foil a contradiction.
    expected = sum(isinstance(spot, Preposition) for spot in _spots(parsed))
    if len(fillings) != expected:
        raise ValueError(f"len(fillings)={len(fillings)} for {expected} gaps of {parsed.text!r}; fill gaps(parsed)")
    return _perturbed(parsed, attested, said, fillings)


def _perturbed(
    parsed: Parsed, attested: Collection[str], said: Said, fillings: Sequence[Sequence[Filling]] | None
) -> Perturbed:
    outcomes: list[Foil | str] = []
    gap = 0
    for spot in _spots(parsed):
        if isinstance(spot, str):
            outcomes.append(spot)
            continue
        names, why = _replacements(parsed, spot, attested, None if fillings is None else fillings[gap])
        gap += 1
        fresh = [name for name in names if not _is_said(parsed, spot, name, said)]
        outcomes += [_foil(parsed, spot, name, by_table=fillings is None) for name in fresh]
        if not fresh:
            outcomes.append(SAID if names else why)
    return Perturbed.of(*outcomes)


def _spots(parsed: Parsed) -> list[Preposition | str]:
    if len(parsed.tokens) > MOST_TOKENS:
        return [TOO_LONG]
    present = prepositions(parsed)
    if not present:
        return [NO_PREPOSITION]
    if sum(token.text.isupper() and len(token.text) > 1 for token in parsed.tokens) > len(parsed.tokens) / 3:
        return [CAPITALS]
    if reverses(parsed) or parsed.text.rstrip().endswith("?"):
        return [NEGATED]
    why = unfit(parsed)
    return [_problem(parsed, one) or why or one for one in present]


def _problem(parsed: Parsed, preposition: Preposition) -> str | None:
    if preposition.name not in contrasts().spatial:
        return NOT_SPATIAL
    if preposition.thing is None or preposition.head is None or not _is_thing(parsed, preposition.thing):
        return NO_THING
    return PHRASE if _in_phrase(parsed, preposition, preposition.head, preposition.thing) else None


def _is_thing(parsed: Parsed, index: int) -> bool:
    token = parsed.tokens[index]
    before = [parsed.tokens[child] for child in parsed.children(index, "det", "poss", "nummod")]
    words = range(parsed.subtree(index)[0] + 1, index)
    inside = any(parsed.tokens[n].tag == "VBG" and parsed.tokens[n - 1].tag == "NN" for n in words)
    if (before and inside) or (token.tag == "NNS" and any(one.lower in {"a", "an"} for one in before)):
        return False  # in "a terminal boarding buses" the article belongs to the terminal
    if any(one.lower in _OPEN for one in before):
        return False
    return token.tag == "NNS" or (token.tag == "NN" and bool(before))


def _in_phrase(parsed: Parsed, preposition: Preposition, head: int, thing: int) -> bool:
    tokens = parsed.tokens
    first, end = preposition.span
    inside = [child for index in range(first, end) for child in parsed.children(index, "cc", "conj", "advmod")]
    particles = set(parsed.children(head, "prt")) - set(range(first, end))
    return (
        (first > 0 and tokens[first - 1].pos in {"ADP", "ADV", "PART", "SCONJ"})
        or tokens[end].pos in {"ADP", "CCONJ", "SCONJ", "PUNCT"}
        or any(not first <= child < end for child in inside)
        or any(tokens[child].lower == "of" for child in parsed.children(thing, "prep"))
        or (preposition.name in _EITHERS and may_be_of_another(parsed, head, first))
        or bool(parsed.children(thing, "conj", "cc"))
        or (tokens[head].pos == "VERB" and bool(particles))
    )


def _replacements(
    parsed: Parsed, preposition: Preposition, attested: Collection[str], fillings: Sequence[Filling] | None
) -> tuple[list[str], str]:
    if fillings is None:
        opposite = _opposite(parsed, preposition)
        if may_be_of_another(parsed, preposition.head, preposition.span[0]):
            opposite = tuple(name for name in opposite if name not in _EITHERS)
        sensible = [name for name in opposite if not _is_absurd(parsed, preposition, name)]
        why = NOT_ATTESTED if sensible else ABSURD if opposite else NO_CONTRAST
        return [name for name in sensible if name in attested], why
    best = sorted(fillings, key=lambda filling: (len(filling.text.split()), -filling.log_probability))
    names = []
    for _, same_length in groupby(best, key=lambda filling: len(filling.text.split())):
        texts = (filling.text.lower() for filling in same_length)
        known = (text for text in texts if text in attested and text in contrasts().spatial)
        names += [name for name in known if not contrasts().compatible(preposition.name, name)][:1]
    return names, "no filling is another attested preposition"


def _opposite(parsed: Parsed, preposition: Preposition) -> tuple[str, ...]:
    if preposition.thing is None or preposition.head is None:
        return ()
    head, thing = parsed.tokens[preposition.head], parsed.tokens[preposition.thing]
    lemma = head.lemma.lower()
    if head.pos in {"VERB", "AUX"}:
        verb: str | None = lemma
    elif head.pos == "NOUN" and lemma not in contrasts().not_somewhere:
        verb = None
    else:
        return ()
    subjects = [parsed.tokens[index].lemma.lower() for index in _subjects(parsed, preposition.head)]
    several = thing.tag == "NNS"
    return contrasts().opposite(preposition.name, thing.lemma.lower(), several=several, head=verb, subjects=subjects)


def _is_absurd(parsed: Parsed, preposition: Preposition, name: str) -> bool:
    if preposition.head is None or preposition.thing is None:
        return False
    thing = parsed.tokens[preposition.thing].lemma.lower()
    subjects = (parsed.tokens[index].lemma.lower() for index in _subjects(parsed, preposition.head))
    return any(contrasts().is_absurd(subject, name, thing) for subject in subjects)


def _subjects(parsed: Parsed, index: int) -> Iterator[int]:
    """Yield the nouns that a word says something about: itself, the subject of a verb, the noun of a participle."""
    tokens = parsed.tokens
    for _ in tokens:
        if tokens[index].pos in {"NOUN", "PROPN"}:
            groups = (child for child in parsed.children(index, "prep") if tokens[child].lower == "of")
            yield from (index, *(child for of in groups for child in parsed.children(of, "pobj")))
            return
        yield from (child for child in parsed.children(index, "nsubj", "nsubjpass") if tokens[child].pos == "NOUN")
        if tokens[index].head == index:
            return
        index = tokens[index].head


def _is_said(parsed: Parsed, preposition: Preposition, name: str, said: Said) -> bool:
    assert preposition.thing is not None  # noqa: S101 - a spot has a thing
    thing = parsed.tokens[preposition.thing].lemma.lower()
    if name in _BESIDE and any(SEVERAL in some for other, some in said.items() if is_kind_of(thing, other)):
        return True
    names = {name for other, some in said.items() if may_be_same(thing, other) for name in some}
    if AROUND in names and name in _BESIDE:
        return True
    return any(contrasts().compatible(name, other) for other in names if other != preposition.name)


def _foil(parsed: Parsed, preposition: Preposition, name: str, *, by_table: bool) -> Foil:
    source = "the table of contrasts" if by_table else "a masked language model"
    thing = "" if preposition.thing is None else parsed.tokens[preposition.thing].text
    return Foil(
        caption=parsed.text,
        foil=parsed.edited([Edit(span=preposition.span, text=name)]),
        classes=(preposition.name, name),
        why=f"'{preposition.name}' before '{thing}' is replaced by '{name}', which {source} proposes",
        tags={"proposed": "table" if by_table else "model"},
    )
