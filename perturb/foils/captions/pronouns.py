"""The pronouns of a caption that refer to one of its noun phrases, and their forms in the other number."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading
from vlgate.perturb.foils.captions.word_lists import words
from vlgate.perturb.inflection import singular
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.parsing.parsed import Token

UNSURE_PRONOUN = "a pronoun may refer to two nouns"

_SUBJECTS = ("nsubj", "nsubjpass")
_HE = {"he": "they", "him": "them", "his": "their", "himself": "themselves"}
_SHE = {"she": "they", "her": "them", "herself": "themselves"}
_IT = {"it": "they", "its": "their", "itself": "themselves"}
_THEY = frozenset({"they", "them", "their", "theirs", "themselves"})
_ONE = {
    "he": {"they": "he", "them": "him", "their": "his", "theirs": "his", "themselves": "himself"},
    "she": {"they": "she", "them": "her", "their": "her", "themselves": "herself"},
    "it": {"they": "it", "them": "it", "their": "its", "theirs": "its", "themselves": "itself"},
}
_MALE = words("male")
_FEMALE = words("female")


def pronouns_of(reading: Reading, phrase: NounPhrase) -> tuple[dict[int, str], tuple[str, ...]]:
    """Find the pronouns that refer to a noun phrase.

    The antecedent of a pronoun is the only noun before it that it may refer to, else the subject of its clause.

    Returns: what they become in the other number, by their places; and ``UNSURE_PRONOUN`` if the antecedent of one is
        not sure.
    """
    changed: dict[int, str] = {}
    sure = True
    for place, token in enumerate(reading.parsed.tokens):
        refers = _refers(reading, phrase, place) if token.tag in {"PRP", "PRP$"} else False
        text = _in_other_number(token, phrase) if refers else token.lower
        sure = sure and refers is not None and text is not None
        if text is not None and text != token.lower:
            changed[place] = text
    return changed, () if sure else (UNSURE_PRONOUN,)


def is_person(noun: str) -> bool:
    """Whether a noun in the singular names a person.

    >>> [is_person(noun) for noun in ("woman", "surfer", "dog")]
    [True, True, False]
    """
    return noun in _MALE or noun in _FEMALE or noun == "person" or _is(noun, "person")


def _may_be_animal(noun: str) -> bool:
    ontology = default_ontology()
    return ontology.knows(noun) and "animal" in ontology.possible(noun)


def _is(noun: str, kind: str) -> bool:
    ontology = default_ontology()
    return ontology.knows(noun) and kind in ontology.certain(noun)


def _refers(reading: Reading, phrase: NounPhrase, place: int) -> bool | None:
    """Whether the pronoun at a place refers to a noun phrase; None if that is not sure."""
    token = reading.parsed.tokens[place]
    pronoun = token.lower
    if place < phrase.span[1]:
        return False
    if not _may_refer(pronoun, phrase.singular_noun, several=phrase.plural):
        # "A pitcher throws his ball": if nothing else can be meant, the noun is not known well enough.
        return (
            None
            if pronoun in {*_HE, *_SHE} and not phrase.plural and not dict(_rivals(reading, phrase, place))
            else False
        )
    if reading.parsed.tokens[place + 1 : place + 2] and reading.parsed.tokens[place + 1].text.startswith("'"):
        return None
    rivals = dict(_rivals(reading, phrase, place))
    if not rivals:
        return True
    if pronoun in _THEY and not _lively(phrase.singular_noun) and any(map(_lively, rivals.values())):
        return False
    return _subject_decides(reading, phrase, place, rivals)


def _subject_decides(reading: Reading, phrase: NounPhrase, place: int, rivals: Collection[int]) -> bool | None:
    """Whether the subject of a pronoun's clause says that it refers to the phrase rather than to another noun."""
    subject, by_verb = _clause_subject(reading, place)
    if by_verb and reading.parsed.tokens[place].dep not in {"poss", *_SUBJECTS}:
        return None  # "a woman with a dog trailing behind her", but "a dog trailing its leash"
    if subject == phrase.head:
        return True
    return False if subject in rivals else None


def _rivals(reading: Reading, phrase: NounPhrase, place: int) -> Iterator[tuple[int, str]]:
    """Yield the other nouns before a pronoun that it may refer to, by their places, in the singular."""
    for _, end in reading.parsed.chunks:
        token = reading.parsed.tokens[end - 1]
        if end > place or end - 1 == phrase.head or not token.tag.startswith("NN"):
            continue
        several = token.tag in {"NNS", "NNPS"}
        noun = (singular(token.lower) if several else None) or token.lower
        if _may_refer(reading.parsed.tokens[place].lower, noun, several=several):
            yield end - 1, noun


def _may_refer(pronoun: str, noun: str, *, several: bool) -> bool:
    if pronoun in _THEY:
        return several or is_person(noun)
    if several:
        return False
    if pronoun in _IT:
        return not is_person(noun) or noun in {"baby", "child"}
    return (pronoun in _HE and _lively(noun) and noun not in _FEMALE) or (
        pronoun in _SHE and _lively(noun) and noun not in _MALE
    )


def _lively(noun: str) -> bool:
    return is_person(noun) or _may_be_animal(noun)


def _clause_subject(reading: Reading, place: int) -> tuple[int | None, bool]:
    """Return the head of the subject of the nearest verb above a place, and whether there is such a verb."""
    tokens = reading.parsed.tokens
    for _ in tokens:
        token = tokens[place]
        if token.pos in {"VERB", "AUX"}:
            subjects = reading.dependents(place, *_SUBJECTS, "npadvmod")
            if subjects and subjects[0] < place and tokens[subjects[0]].tag not in {"WP", "WDT"}:
                return subjects[0], True
            if token.dep in {"acl", "relcl"}:
                return token.head, True
        if token.head == place:
            return (place if token.tag in {"NN", "NNS"} else None), False
        place = token.head
    return None, False


def _in_other_number(token: Token, phrase: NounPhrase) -> str | None:
    """Return the pronoun in the other number; of "person" it stays "they"."""
    noun, pronoun = phrase.singular_noun, token.lower
    if phrase.plural:
        if is_person(noun) and noun not in _MALE | _FEMALE:
            return None if pronoun == "themselves" else pronoun
        return _ONE["he" if noun in _MALE else "she" if noun in _FEMALE else "it"][pronoun]
    if pronoun in _THEY:
        return pronoun
    if pronoun == "her":
        return "their" if token.tag == "PRP$" else "them"
    if pronoun == "it":
        return "they" if token.dep in _SUBJECTS else "them"
    return {**_HE, **_SHE, **_IT}[pronoun]
