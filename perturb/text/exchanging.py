"""Replace a noun phrase of a text, or exchange two of them, with all that agrees with them, by the parse.

``vlgate.perturb.text.rewriting`` does the same to texts without a parse, and leaves what does not agree to its caller.
"""

from collections.abc import Sequence
from itertools import pairwise

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.mentions import may_be_same
from vlgate.perturb.questions.readings import is_known
from vlgate.perturb.text.counts import is_plural
from vlgate.perturb.text.fitness import REVERSED, reverses, unfit
from vlgate.perturb.text.fitness import first as reason
from vlgate.perturb.text.grammar import plural, singular
from vlgate.perturb.text.parsed import Edit, Parsed, Span, Token
from vlgate.perturb.word_lists import words

_ARTICLES = frozenset(("a", "an", "the", "some"))
_NAMES = frozenset(("NN", "NNS", "NNP", "NNPS"))
# Nouns that do not name an object, so that nothing is on, in or with it.
_ABSTRACT = words("no object")
_NO_PLACES = frozenset(("of", "at", "for", "during", "as", "like", "to", "from", "after", "before", "about", "without"))
# Who is with or beside a thing has it with or beside him.
_BOTH_WAYS = frozenset(("with", "near", "beside", "by", "alongside", "against", "behind", "opposite"))
# "A biplane is flying a person", "a walkway features the tower".
_REVERSIBLE = words("reversible verb")
_OF_SEVERAL = frozenset(("together", "another", "other", "each"))
_LIGHT = frozenset(("do", "make", "have", "take", "give", "attempt", "perform"))
_POINTING = frozenset(("PRP", "PRP$", "WP", "WDT"))


def exchanged(parsed: Parsed) -> Perturbed:
    """Exchange the things of each relation in a text: "a dog on a cat" becomes "a cat on a dog".

    The first thing is what the text begins with or a subject, the second one the thing behind the next preposition or
    verb. Both have an article, and the same number, so that nothing else must agree.

    Returns: the candidates, with the same words in another order, and the reasons of the pairs that were refused.
    """
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    if len(parsed.chunks) < 2:
        return Perturbed.of("not two noun phrases")
    return Perturbed.of(*(_exchanged(parsed, first, second) for first, second in pairwise(parsed.chunks)))


def replaced(parsed: Parsed, old: str, new: str) -> Perturbed:
    """Replace the noun ``old`` by the noun ``new``, in the number of ``old``.

    "Two dogs" and "cat" give "two cats"; the article agrees. Modifiers before the noun stay.

    Returns: one candidate, or the reason why there is none: the noun is not there once, or its number is not known.
    """
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    indexes = [index for index, token in enumerate(parsed.tokens) if token.lower == old.lower()]
    if len(indexes) != 1 or parsed.tokens[indexes[0]].pos != "NOUN":
        return Perturbed.of("the noun is not there once")
    [index] = indexes
    many = is_plural(parsed, index)
    forms = {True: plural(new) or (new if singular(new) else None), False: new if plural(new) else None}
    form = None if many is None else forms[many]
    if form is None or form.lower() == old.lower():
        return Perturbed.of("the number of a noun is not known")
    if _is_part_of_a_name(parsed, index):
        return Perturbed.of("part of a longer name")
    if not many and (not parsed.children(index, "det", "poss", "nummod") or parsed.tokens[index - 1].lower == "some"):
        return Perturbed.of("a noun without an article")
    text = parsed.edited([Edit(span=(index, index + 1), text=form)])
    return Perturbed.of(Foil(caption=parsed.text, foil=text, classes=(old, form), why=f"{old} is no {new}"))


def _is_part_of_a_name(parsed: Parsed, index: int) -> bool:
    before, after = parsed.tokens[max(index - 1, 0) : index], parsed.tokens[index + 1 : index + 2]
    compound = bool(parsed.children(index, "compound")) or parsed.tokens[index].dep in {"compound", "nmod"}
    joins = any(token.lower in {"of", "-", "'s"} for token in after)
    return compound or joins or any(token.tag in _NAMES for token in (*before, *after))


def _exchanged(parsed: Parsed, first: Span, second: Span) -> Foil | str:
    tokens = parsed.tokens
    left, right = first[1] - 1, second[1] - 1
    if not _related(parsed, left, right):
        return "not two things in one relation"
    numbers = {is_plural(parsed, index) for index in (left, right)}
    after = tokens[right + 1 : right + 3]
    # A noun may be only a part of what stands there: "a stone | covered walkway", "a gray | from in water".
    tags = [token.tag for token in after]
    cut = tags == ["IN", "IN"] or (len(tags) == 2 and tags[0] in {"VBN", "VBD", "HYPH"} and tags[1] in _NAMES)
    described = any(index > right for index in parsed.children(right)) or _goes_on(after) or cut
    joined = [index for noun in (left, right) for index in parsed.children(noun, "cc", "conj")]
    joined += [right for token in after[:1] if token.tag == "CC"]  # "a person wearing a suit and tie"
    joined += [index for span in (first, second) for index in range(*span) if tokens[index].tag == "CC"]
    bare = any(tokens[span[0]].lower not in _ARTICLES or span[1] - span[0] < 2 for span in (first, second))
    # What is done is nothing that another one does: "doing a leap", "having a smoke".
    act = tokens[right].dep == "dobj" and tokens[tokens[right].head].lemma.lower() in _LIGHT
    plural_verb = tokens[tokens[left].head].tag in {"VBP", "VB"}
    why = reason(
        (bare, "a thing without an article"),
        (described, "a description that belongs to one of them"),
        (act or any(_with_verb(parsed, span) for span in (first, second)), "an act and no object"),
        (bool(_ABSTRACT & {tokens[left].lower, tokens[right].lower}), "a noun that does not name an object"),
        (len(numbers) != 1 or None in numbers, "one thing and several, or not known"),
        # In "a team crowd together" the team is several.
        (tokens[left].tag == "NN" and tokens[left].dep == "nsubj" and plural_verb, "a verb does not agree"),
        (any(token.lower in _OF_SEVERAL for token in tokens), "a word tells of several"),
        (may_be_same(tokens[left].lower, tokens[right].lower), "the two may be one kind of thing"),
        (any(token.tag in _POINTING for token in tokens), "a pronoun may mean one of the two"),
        (tokens[tokens[right].head].lemma.lower() in _REVERSIBLE, "the verb may be true of both in either order"),
        (bool(joined) or tokens[right].dep == "conj", "several things are joined"),
        (parsed.said(first).lower() == parsed.said(second).lower(), "the two are the same"),
    )
    if why:
        return why
    here, there = (parsed.said(span) for span in (first, second))
    moved = here[0].lower() + here[1:]
    text = parsed.edited([Edit(span=first, text=there), Edit(span=second, text=moved)])
    return Foil(caption=parsed.text, foil=text, classes=(here, there), why="the two things change places")


def _goes_on(after: Sequence[Token]) -> bool:
    """Whether words go on with the noun before them: "a shirt and tie"; a parser may call "hydrant" an adjective."""
    if not after:
        return False
    if after[0].tag == "CC":
        return not after[-1].tag.startswith("VB")
    return after[0].tag in _NAMES or (after[0].tag in {"JJ", "VB", "VBP"} and is_known(after[0].lower))


def _with_verb(parsed: Parsed, span: Span) -> bool:
    inside = zip(parsed.tokens[span[0] : span[1]], parsed.tokens[span[0] + 1 : span[1]], strict=False)
    return any(one.tag in _NAMES and after.text.endswith("ing") for one, after in inside)


def _related(parsed: Parsed, left: int, right: int) -> bool:
    tokens = parsed.tokens
    if tokens[right].dep not in {"pobj", "dobj"} or tokens[left].dep not in {"ROOT", "nsubj"}:
        return False
    over = tokens[right].head
    if tokens[right].dep == "pobj" and tokens[over].lower in _NO_PLACES:
        return False
    if tokens[over].dep == "prep" and tokens[over].lower in _BOTH_WAYS:
        return False
    while tokens[over].head != over and tokens[over].pos in {"ADP", "VERB"}:
        if tokens[over].head == left or (tokens[left].dep == "nsubj" and tokens[left].head == tokens[over].head):
            return True
        over = tokens[over].head
    return tokens[left].dep == "nsubj" and tokens[left].head == over
