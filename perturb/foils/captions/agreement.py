"""One noun phrase of a caption in the other number: its head, its verbs and the pronouns that refer to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.text.grammar import form, lemmas, singular
from vlgate.perturb.text.parsed import Edit, Token
from vlgate.perturb.word_lists import words

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
_THIRD_PERSON = frozenset({*_HE, *_SHE, *_IT, *_THEY})
_MALE = words("male")
_FEMALE = words("female")
_GROUPS = words("group") | words("group of people") | words("group of animals")
_SIDES = words("part") | words("image")
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})


def pronouns_of(reading: Reading, phrase: NounPhrase) -> tuple[dict[int, str], str | None]:
    """Find the pronouns that refer to a noun phrase, and what they become in the other number, by their places."""
    # ``UNSURE_PRONOUN`` is returned beside them if the phrase is one of several nouns that a pronoun may refer to, if
    # it is behind the pronoun ("He waits while a dog eats"), and if no noun before the pronoun fits it.
    changed: dict[int, str] = {}
    sure = True
    for index, token in enumerate(reading.parsed.tokens):
        if token.lower not in _THIRD_PERSON:
            continue
        nouns = tuple(
            noun
            for noun, before in enumerate(reading.parsed.tokens[:index])
            if before.tag in _NOUNS
            and before.dep != "compound"
            and not _is_side(reading, noun)
            and _may_refer(reading, index, noun)
        )
        if index < phrase.head:
            sure = sure and not (index < phrase.span[0] and not nouns and _may_refer(reading, index, phrase.head))
            continue
        text = _in_other_number(token, phrase) if phrase.head in nouns[:1] else token.lower
        short = any(after.text.startswith("'") for after in reading.parsed.tokens[index + 1 : index + 2])
        unclear = len(nouns) > 1 or text is None or short
        sure = sure and bool(nouns) and not (phrase.head in nouns and unclear)
        if text is not None and text != token.lower:
            changed[index] = text
    return changed, None if sure else UNSURE_PRONOUN


def is_person(noun: str) -> bool:
    ontology = default_ontology()
    known = noun in _MALE or noun in _FEMALE or noun == "person"
    return known or (ontology.knows(noun) and "person" in ontology.certain(noun))


def _is_side(reading: Reading, noun: int) -> bool:
    token, after = reading.parsed.tokens[noun], reading.parsed.tokens[noun + 1 : noun + 2]
    return token.lower in _SIDES and (token.dep == "pobj" or any(one.lower == "of" for one in after))


def _may_refer(reading: Reading, index: int, noun: int) -> bool:
    pronoun, token = reading.parsed.tokens[index].lower, reading.parsed.tokens[noun]
    several = token.tag in {"NNS", "NNPS"}
    name = (singular(token.lower) if several else None) or token.lower
    group = name in _GROUPS
    joined = token.dep == "conj" or bool(reading.dependents(noun, "conj"))
    person, known = is_person(name), default_ontology().knows(name)
    if pronoun in _THEY:
        return several or group or joined or person or not known
    if several and not group:
        return False
    if pronoun in _IT:
        return not person or name in {"baby", "child", "infant", "toddler"}
    others = _FEMALE if pronoun in _HE else _MALE
    return name not in others and (not known or person or "animal" in default_ontology().possible(name))


def _in_other_number(token: Token, phrase: NounPhrase) -> str | None:
    """Return the pronoun in the other number; of "person" only "their" stays, "a single skier ... they" is unclear."""
    noun, pronoun = phrase.singular_noun, token.lower
    if phrase.plural:
        if is_person(noun) and noun not in _MALE | _FEMALE:
            return pronoun if pronoun == "their" else None
        return _ONE["he" if noun in _MALE else "she" if noun in _FEMALE else "it"].get(pronoun)
    if pronoun in _THEY:
        return pronoun
    if pronoun == "her":
        return "their" if token.tag == "PRP$" else "them"
    if pronoun == "it":
        return "they" if token.dep in _SUBJECTS else "them"
    return {**_HE, **_SHE, **_IT}[pronoun]


UNSURE_CLAUSE = "a relative clause may belong to two nouns"
UNSURE_VERB = "a verb does not agree with its subject"

_BE = {"is": "are", "are": "is", "was": "were", "were": "was", "'s": "are", "am": "are", "has": "have", "have": "has"}
_PLURAL_FORMS = frozenset({"are", "were", "have"})
_THIRD_PERSONS = words("third person")
_CAUSES = frozenset({"help", "let", "make", "have", "see", "watch", "hear", "feel"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Renumbered:
    edits: tuple[Edit, ...]
    doubt: str | None


def renumbered(reading: Reading, phrase: NounPhrase) -> Renumbered:
    edits = [Edit(span=(phrase.head, phrase.head + 1), text=phrase.other)]
    pronouns, doubt = pronouns_of(reading, phrase)
    indexes = [verb for verb, subject in _finite(reading) if subject == phrase.head and _alone(reading, phrase.head)]
    for index, text in pronouns.items():
        edits.append(Edit(span=(index, index + 1), text=text))
        indexes += [verb for verb, subject in _finite(reading) if subject == index]
    for index in dict.fromkeys(indexes):
        form = _conjugated(reading, index)
        if form is None:
            doubt = doubt or "a verb whose forms are not known"
        else:
            edits.append(Edit(span=(index, index + 1), text=form))
    return Renumbered(edits=tuple(edits), doubt=doubt or next(_other_doubts(reading, phrase), None))


def quantified(reading: Reading, phrase: NounPhrase, quantifier: str, edits: Sequence[Edit] = ()) -> str:
    first, end = phrase.lead
    opening = reading.parsed.tokens[first]
    if first < end or first not in {0, *(start for start, _ in reading.parsed.sentences)} or opening.pos == "PROPN":
        return reading.parsed.edited([Edit(span=phrase.lead, text=quantifier), *edits])
    span = (first, first + 1)
    word = next((edit.text for edit in edits if edit.span == span), opening.text)
    edits = [edit for edit in edits if edit.span != span]
    return reading.parsed.edited([Edit(span=span, text=f"{quantifier} {word[:1].lower()}{word[1:]}"), *edits])


def _finite(reading: Reading) -> Iterator[tuple[int, int | None]]:
    for index, token in enumerate(reading.parsed.tokens):
        marked = token.tag in {"VBZ", "VBP"} or (token.tag == "VBD" and token.lower in {"was", "were"})
        if token.tag == "VB" and token.dep == "conj" and token.pos == "VERB" and not reading.dependents(index, "aux"):
            subject = _subject(reading, index)
            several = subject is not None and reading.parsed.tokens[subject].tag in {"NNS", "PRP"}
            if several and not _governed(reading, index):
                yield index, subject
        elif token.tag == "VB" and token.pos in {"VERB", "AUX"} and not reading.dependents(index, "aux", "auxpass"):
            # the present tense of a plural subject
            subject = _subject(reading, index) if reading.dependents(index, *_SUBJECTS) else None
            if subject is not None and reading.parsed.tokens[subject].dep in _SUBJECTS:
                yield index, subject
        elif marked and token.lower != "'m" and token.pos in {"VERB", "AUX"}:
            verb = token.head if token.dep in {"aux", "auxpass"} else index
            yield index, _subject(reading, verb)


def _governed(reading: Reading, index: int) -> bool:
    tokens = reading.parsed.tokens
    while tokens[index].dep == "conj":
        index = tokens[index].head
    return tokens[index].tag == "VB" and bool(reading.dependents(index, "aux"))


def _subject(reading: Reading, verb: int) -> int | None:
    tokens = reading.parsed.tokens
    for _ in tokens:
        subjects = reading.dependents(verb, *_SUBJECTS)
        if reading.dependents(verb, "expl"):
            things = reading.dependents(verb, "attr", *_SUBJECTS, "dobj")
            subjects = tuple(thing for thing in things if thing > verb)
        if subjects and tokens[subjects[0]].tag in {"WP", "WDT"}:
            if tokens[subjects[0]].lower == "what":
                return subjects[0]
            return tokens[verb].head if tokens[verb].dep in {"relcl", "acl"} else None
        if subjects:
            return subjects[0]
        if tokens[verb].dep != "conj" or tokens[tokens[verb].head].pos not in {"VERB", "AUX"}:
            inverted = [dependent for dependent in reading.dependents(verb, "attr") if dependent > verb]
            return inverted[0] if inverted and reading.dependents(verb, "prep", "advmod") else None
        verb = tokens[verb].head
    return None


def _alone(reading: Reading, head: int) -> bool:
    """Whether a noun is not joined with another one, or is the first behind "there is"."""
    tokens = reading.parsed.tokens
    if tokens[head].dep == "conj":
        return False
    joined = reading.dependents(head, "conj")
    return not joined or (tokens[head].dep not in _SUBJECTS and bool(reading.dependents(tokens[head].head, "expl")))


def _conjugated(reading: Reading, index: int) -> str | None:
    token = reading.parsed.tokens[index]
    before = reading.parsed.tokens[index - 1] if index else None
    if token.lower == "'s":
        return " are" if before is not None and not before.space else "are"
    if token.lower in _BE:
        return _BE[token.lower]
    thirds = form(token.lemma, "VBZ", guess=False)
    if token.tag == "VBZ":
        return token.lemma if token.lower in thirds else None
    return thirds[0] if thirds and token.lower == token.lemma else None


def _number(reading: Reading, index: int) -> bool | None:
    # Whether the subject at a place is plural; None if it is not known.
    token = reading.parsed.tokens[index]
    if token.tag == "PRP":
        return None if token.lower in {"you", "i"} else token.lower in {"they", "we", "them"}
    if token.tag not in {"NN", "NNS"}:
        return None
    if not _alone(reading, index) and reading.dependents(index, "conj"):
        return True
    return token.tag == "NNS"


def _other_doubts(reading: Reading, phrase: NounPhrase) -> Iterator[str]:
    tokens = reading.parsed.tokens
    joined = any(_may_be_joined_verb(reading, n) for n in range(len(tokens)))
    if tokens[phrase.head].dep in _SUBJECTS and (
        joined or (phrase.plural and _is_bare(reading, tokens[phrase.head].head))
    ):
        yield UNSURE_VERB
    if any(token.tag == "NNS" and token.lower in _THIRD_PERSONS for token in tokens):
        yield UNSURE_VERB
    for verb, subject in _finite(reading):
        if subject is None:
            yield UNSURE_VERB
            continue
        form = tokens[verb]
        several = form.lower in _PLURAL_FORMS or form.tag in {"VBP", "VB"}
        number = phrase.plural if subject == phrase.head and _alone(reading, subject) else _number(reading, subject)
        helped = form.tag in {"VB", "VBP"} and form.dep == "ccomp" and tokens[form.head].lemma in _CAUSES
        if (number is not None and number != several) or (helped and subject == phrase.head):
            yield UNSURE_VERB
        if subject == phrase.head and (_predicates(reading, verb) - {subject}):
            yield "a predicate noun would have to change too"
        if phrase.head == subject and _in_relative_clause(reading, verb):
            between = [one for n, one in reading.phrases.items() if phrase.head < n < verb]
            if not _alone(reading, subject) or any(one.plural == phrase.plural for one in between):
                yield UNSURE_CLAUSE
        elif _in_relative_clause(reading, verb) and (
            phrase.head in _nouns_above(reading, subject) or subject < phrase.head < verb
        ):
            yield UNSURE_CLAUSE


def _predicates(reading: Reading, verb: int) -> set[int]:
    """Return the nouns behind "be", and behind the "as" of a verb: "umbrellas are used as parasols"."""
    tokens = reading.parsed.tokens
    main = tokens[verb].head if tokens[verb].dep in {"aux", "auxpass"} else verb
    behind = [one for one in reading.dependents(main, "prep") if tokens[one].lower == "as"]
    nouns = {noun for one in behind for noun in reading.dependents(one, "pobj")}
    return nouns | ({*reading.dependents(verb, "attr")} if tokens[verb].lemma == "be" else set())


def _is_bare(reading: Reading, index: int) -> bool:
    """Whether a noun or participle with a subject may be a verb in the present: "two girls with long hair play"."""
    token = reading.parsed.tokens[index]
    bare = token.tag in {"NN", "VBN"} and token.lower in lemmas(token.lower, "VERB")
    return bare and not reading.dependents(index, "aux", "auxpass", "cop", "det")


def _may_be_joined_verb(reading: Reading, index: int) -> bool:
    """Whether a bare noun behind "and" may be a verb: "two zebras stand in a field and graze"."""
    token = reading.parsed.tokens[index]
    of_verb = token.tag == "NNS" and reading.parsed.tokens[token.head].pos == "VERB"  # "sits up, and swats at a fly"
    if index < 2 or token.dep != "conj" or token.tag not in {"NN", "NNS"} or (reading.children[index] and not of_verb):
        return False
    return reading.parsed.tokens[index - 1].lower == "and" and bool(lemmas(token.lower, "VERB"))


def _in_relative_clause(reading: Reading, index: int) -> bool:
    tokens = reading.parsed.tokens
    while tokens[index].dep in {"aux", "auxpass", "conj"}:
        index = tokens[index].head
    return tokens[index].dep == "relcl"


def _nouns_above(reading: Reading, index: int) -> Iterator[int]:
    """Yield the nouns that a noun is in a phrase of: of "house" both others in "a bus next to a tree by a house"."""
    tokens = reading.parsed.tokens
    while tokens[index].dep == "pobj":
        index = tokens[index].head
        while tokens[index].dep in {"prep", "advmod"} and tokens[index].pos not in {"NOUN", "VERB"}:
            index = tokens[index].head
        yield index
