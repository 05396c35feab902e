"""Negate a caption by its parse, if it makes one statement about one thing."""

from itertools import pairwise

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.text.counts import Indefinite, indefinite, is_plural
from vlgate.perturb.text.fitness import first, unfit
from vlgate.perturb.text.grammar import lemmas
from vlgate.perturb.text.parsed import Edit, Parsed
from vlgate.perturb.word_lists import words

_SINGLE = frozenset(("one", "first", "second", "third", "former", "latter"))
# What opens a subordinate clause: "while", "where", "that", "as", "with".
_OPENING = frozenset(("IN", "WRB", "WDT", "WP", "CC"))
FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))
"""The Penn tags of finite verbs and modals."""


def runs_on(parsed: Parsed) -> bool:
    """Whether two statements stand side by side, also if a parser reads them as one: "a bear lands a bear is there"."""
    tokens = parsed.tokens
    for index, token in enumerate(tokens):
        finite = token.tag in FINITE or any(tokens[n].tag in FINITE for n in parsed.children(index, "aux", "auxpass"))
        opened = any(tokens[n].tag in _OPENING for n in parsed.children(index))
        between = tokens[token.head + 1 : index]
        if token.dep == "conj" and finite and not any(one.tag in {"CC", ",", "HYPH", ":"} for one in between):
            return True
        if token.dep == "advcl" and finite and not opened and parsed.children(index, "nsubj", "nsubjpass"):
            return True
        if token.dep in {"nsubj", "nsubjpass"} and tokens[token.head].dep == "ROOT":
            within = range(index + 1, token.head)
            if any(tokens[n].lower == token.lower for n in within):
                return True
    return False


def told_apart(parsed: Parsed, noun: int) -> bool:
    """Whether words behind a plural tell of single ones: "two plates, one with wine", "boys and one of the boys"."""
    rest = range(noun + 1, len(parsed.tokens))
    ones = (index for index in rest if parsed.tokens[index].lower in _SINGLE)
    alone = any(parsed.tokens[index].dep not in {"nummod", "det", "amod", "poss"} for index in ones)
    return alone or any(parsed.tokens[index].lemma.lower() == parsed.tokens[noun].lemma.lower() for index in rest)


def two_names(parsed: Parsed) -> bool:
    """Whether nouns are joined inside the first noun phrase: "a kitchen and dining room"."""
    tokens = parsed.tokens
    inside = range(1, parsed.chunks[0][1]) if parsed.chunks else range(0)
    return any(tokens[index].tag == "CC" and tokens[index - 1].tag in {"NN", "NNS", "NNP"} for index in inside)


def listed(parsed: Parsed) -> bool:
    """Whether a noun that is joined to another one has a description of its own, and may be a second subject."""
    joined = [index for index, token in enumerate(parsed.tokens) if token.dep == "conj" and token.pos == "NOUN"]
    return any(parsed.children(index, "acl", "relcl", "prep", "nsubj") for index in joined)


def main(parsed: Parsed, position: int) -> bool:
    """Whether a verb is finite and in no subordinate clause, so that the text is a sentence."""
    tokens = parsed.tokens
    if (
        tokens[position].tag not in {"VBZ", "VBP", "MD", "VB"} and tokens[position].lower not in {"was", "were", "had"}
    ) or tokens[position - 1].lower == "to":
        return False
    while tokens[position].head != position:
        if tokens[position].dep == "relcl" and not parsed.children(position, "nsubj", "nsubjpass"):
            return True  # "a breakfast was delivered"
        if tokens[position].dep in {"relcl", "advcl", "ccomp", "pcomp", "xcomp"}:
            return False
        position = tokens[position].head
    return True


# Negate a caption by its parse.
# A caption says that there is something. Its negation, with the widest scope of "no" and the narrowest of "not", is
# false whenever the caption is true:
# - "A dog on a bench." becomes "There is no dog on a bench.", and "There are two dogs." becomes "There are no dogs.";
# - "A dog is sleeping." becomes "No dog is sleeping.", since "A dog is not sleeping." may be true of another dog; -
# "The dog sleeps." becomes "The dog does not sleep.", as the dog is known; - "A picture of a dog." becomes "This is
# not a picture of a dog."

_NEGATIVE = frozenset("no not n't never without nothing nobody none neither nor hardly barely nowhere".split())
# Words that a negation would have to change, or that it does not reach: "all dogs", "only one", "also".
_FIXED = words("not negated")
_IMAGES = words("picture word")
_INTRANSITIVE = words("intransitive")
_EITHER_NUMBER = words("group of people") - {"police", "players", "spectators"}
_INTENSIFIERS = words("intensifier")
_BROKEN = ("appos", "parataxis", "dep", "ccomp", "meta", "intj", "csubj")
_RELATIVE = frozenset((("of", "which"), ("of", "whom"), ("of", "whose")))


def negated(parsed: Parsed) -> Perturbed:
    """Negate a caption, a statement or a question about existence.

    Returns: one candidate, or the reason why there is none. Double negations, statements with "all", "only" and the
        like, and several statements or several things that are joined are refused, since their negation is not sure
        to be false.
    """
    if why := unfit(parsed) or _unsure(parsed):
        return Perturbed.of(why)
    root = next(index for index, token in enumerate(parsed.tokens) if token.dep == "ROOT")
    foil = _negation(parsed, root)
    if isinstance(foil, str):
        return Perturbed.of(foil)
    edits, classes, said = foil
    return Perturbed.of(Foil(caption=parsed.text, foil=parsed.edited(edits), classes=classes, why=said))


_Negation = tuple[list[Edit], tuple[str, str], str]


def _unsure(parsed: Parsed) -> str:
    words = [token.lower for token in parsed.tokens]
    after = {words[index + 1] for index in range(len(words) - 1) if words[index] == "a"}
    fixed = any(word in _FIXED and not (word in {"few", "little"} and word in after) for word in words)
    return first(
        (not _NEGATIVE.isdisjoint(words), "negated already"),
        (any(pair in _RELATIVE for pair in pairwise(words)), "a relative clause that lacks its noun"),
        (runs_on(parsed), "several statements without a conjunction"),
        (fixed, "a word that a negation does not go with"),
        (any(token.dep in _BROKEN for token in parsed.tokens), "not one plain sentence"),
    )


def _negation(parsed: Parsed, root: int) -> _Negation | str:
    tokens = parsed.tokens
    if parsed.children(root, "expl"):
        return _existence(parsed, root)
    subjects = parsed.children(root, "nsubj", "nsubjpass")
    if tokens[root].pos == "NOUN" and not subjects:
        return _phrase(parsed, root)
    if len(subjects) != 1 or parsed.subtree(subjects[0])[0] != 0:
        return "does not begin with its subject"
    return _clause(parsed, root, subjects[0])


def _existence(parsed: Parsed, root: int) -> _Negation | str:
    things, [there] = parsed.children(root, "attr", "nsubj"), parsed.children(root, "expl")[:1]
    if len(things) != 1 or things[0] < root or abs(there - root) != 1 or parsed.tokens[root].lemma != "be":
        return "not one plain sentence"
    if _joined(parsed, root) or _joined(parsed, things[0]):
        return "several things are joined"
    start = max(root, there) + 1
    phrase = indefinite(parsed, start, things[0])
    if phrase is None:
        return "not an indefinite noun phrase"
    if phrase.is_plural != (parsed.tokens[root].lower in {"are", "were", "re"}):
        return "the verb does not agree"
    return _no(parsed, phrase, "no")


def _phrase(parsed: Parsed, root: int) -> _Negation | str:
    tokens = parsed.tokens
    if _joined(parsed, root) or listed(parsed) or two_names(parsed):
        return "several things are joined"
    if parsed.subtree(root)[0] != 0 or not any(span[0] == 0 and span[1] == root + 1 for span in parsed.chunks):
        return "does not begin with its noun phrase"
    if any(main(parsed, index) for index in range(len(tokens))) or parsed.children(root, "advcl"):
        return "not one plain sentence"
    if _may_be_its_verb(parsed, root) or any(_may_be_their_verb(parsed, index) for index in range(root, len(tokens))):
        return "a noun that may be the verb"
    if tokens[0].lower in {"a", "an"} and tokens[root].lower in _IMAGES:
        says = "the text does not describe this image any more"
        return [Edit(span=(0, 1), text=f"this is not {tokens[0].lower}")], (tokens[0].lower, "not"), says
    return _there_is_no(parsed, root)


def _there_is_no(parsed: Parsed, noun: int) -> _Negation | str:
    tokens = parsed.tokens
    phrase = indefinite(parsed, 0, noun)
    if phrase is None:
        return "not an indefinite noun phrase"
    if not lemmas(tokens[noun].lower, "NOUN") and lemmas(tokens[noun].lower, "ADJ"):
        return "an adjective without its noun"
    if phrase.end_of_quantity == 0 and not phrase.is_plural:
        return "a noun without an article"
    if any(_may_be_past(parsed, index) for index in range(len(tokens))):
        return "a participle that may be a verb in the past"
    return _no(parsed, phrase, "there are no" if phrase.is_plural else "there is no")


def _clause(parsed: Parsed, root: int, subject: int) -> _Negation | str:
    tokens = parsed.tokens
    if _joined(parsed, subject) or two_names(parsed):
        return "several things are joined"
    if any(parsed.children(index, "nsubj", "nsubjpass", "expl") for index in parsed.children(root, "conj")):
        return "several statements are joined"
    verbs = [index for index in (*parsed.children(root, "aux", "auxpass"), root) if tokens[index].tag in FINITE]
    if not verbs or (tokens[min(verbs)].tag == "VBD" and not _may_be_past(parsed, min(verbs))):
        return _there_is_no(parsed, subject) if tokens[root].tag in {"VBG", "VBN", "VBD"} else "no finite verb"
    verb = min(verbs)
    if verb < subject:
        return "a question"
    doing = tokens[verb].tag == "VBZ" and [token.tag for token in tokens[verb + 1 : verb + 2]] == ["VBG"]
    if doing and tokens[verb].lemma != "be" and lemmas(tokens[verb].lower, "NOUN"):
        return "a verb that may be a noun"
    known = tokens[0].tag in {"PRP", "PRP$"} or tokens[0].lower in {"the", "this", "that", "these", "those"}
    return _with_not(parsed, root, subject, verb) if known else _no_subject(parsed, subject, verb)


def _no_subject(parsed: Parsed, subject: int, verb: int) -> _Negation | str:
    phrase = indefinite(parsed, 0, subject)
    if phrase is None:
        return "not an indefinite noun phrase"
    if not _agrees(parsed, verb, subject, many=phrase.is_plural):
        return "the verb does not agree"
    return _no(parsed, phrase, "no")


def _with_not(parsed: Parsed, root: int, subject: int, verb: int) -> _Negation | str:
    tokens = parsed.tokens
    many = tokens[subject].lower in {"they", "we", "these", "those"} or is_plural(parsed, subject)
    if parsed.children(root, "conj"):
        return "several statements are joined"
    if any(_joined(parsed, child) for child in parsed.children(root, "attr")):
        return "several things are joined"
    if not _agrees(parsed, verb, subject, many=bool(many)):
        return "the verb does not agree"
    word = tokens[verb]
    says = "it is denied of the same subject"
    if word.tag == "MD" or verb != root or word.lemma == "be":
        return [Edit(span=(verb + 1, verb + 1), text="not")], (word.lower, f"{word.lower} not"), says
    infinitives = lemmas(word.lower, "VERB")
    if len(infinitives) != 1:
        return "a verb whose infinitive is not known"
    do = {"VBZ": "does not", "VBP": "do not", "VBD": "did not"}[word.tag]
    return [Edit(span=(verb, verb + 1), text=f"{do} {infinitives[0]}")], (word.lower, f"{do} {infinitives[0]}"), says


def _may_be_its_verb(parsed: Parsed, root: int) -> bool:
    """Whether the noun of a caption may be the verb of the word before it: "white and orange fur lays on a blanket"."""
    compound = root > 0 and parsed.tokens[root].tag == "NNS" and parsed.tokens[root - 1].tag == "NN"
    if not compound or not lemmas(parsed.tokens[root].lower, "VERB"):
        return False
    phrase = indefinite(parsed, 0, root)
    return phrase is None or not phrase.end_of_quantity


def _may_be_their_verb(parsed: Parsed, index: int) -> bool:
    """Whether the last of several joined nouns may be their verb: "a knife, tape and wrapping paper lie on a table"."""
    token, before = parsed.tokens[index], parsed.tokens[index - 1]
    joined = token.dep == "conj" and token.tag == "NN" and before.dep == "compound" and before.tag == "NN"
    return joined and bool(lemmas(token.lower, "VERB")) and not parsed.children(index, "det", "poss")


def _agrees(parsed: Parsed, verb: int, subject: int, *, many: bool) -> bool:
    word = parsed.tokens[verb]
    if parsed.tokens[subject].lower in _EITHER_NUMBER and word.tag in {"VBP", "VBZ"}:
        return word.text not in {"'s", "'re", "s"}  # "the team is", "the team are"
    if word.tag in {"MD", "VBD"}:
        return word.lower not in {"was", "were"} or many == (word.lower == "were")
    return many == (word.tag == "VBP") and word.text not in {"'s", "'re", "s"}


def _no(parsed: Parsed, phrase: Indefinite, no: str) -> _Negation | str:
    start, end = phrase.start, phrase.end_of_quantity
    if phrase.is_plural and told_apart(parsed, phrase.noun):
        return "a word for single ones of several"
    if any(token.lower in _INTENSIFIERS for token in parsed.tokens[start : phrase.noun]):
        return "an adjective with an intensifier"  # where a giraffe is tall, "no very tall giraffe" may be true
    said = parsed.said((start, end)).lower()
    head = parsed.tokens[start]
    name = "" if end > start else head.text[:1].lower() + head.text[1:] if head.text[1:].islower() else head.text
    edit = Edit(span=(start, end), text=no) if end > start else Edit(span=(start, start + 1), text=f"{no} {name}")
    return [edit], (said, "no"), "there is at least one in the image"


def _joined(parsed: Parsed, position: int) -> bool:
    return bool(parsed.children(position, "cc", "conj", "preconj"))


def _may_be_past(parsed: Parsed, position: int) -> bool:
    token = parsed.tokens[position]
    participle = token.tag in {"VBN", "VBD"} and token.dep in {"acl", "ROOT"}
    if not participle or parsed.children(position, "aux", "auxpass"):
        return False
    if token.tag == "VBD" and not token.lower.endswith("ed"):
        return True
    return bool(parsed.children(position, "dobj")) or token.lemma in _INTRANSITIVE
