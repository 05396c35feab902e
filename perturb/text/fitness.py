"""Which texts are rewritten: plain English of the length of a caption, without slips of the pen."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase

from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.text.grammar import article, is_word, lemmas, plural, singular
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words

# Slips of the pen: a word that the dictionary lacks and that is one letter away from a word which it has.

_SHORTEST = 5  # letters; most short strings are one letter away from a word
_RIGHT = frozenset("decker detector entrees goers parka rugby sippy terrier texting wheeler".split())
"""Words that the dictionary lacks, although there are others near to them."""


@lru_cache(maxsize=65_536)
def misspelt(word: str) -> bool:
    """Whether a word in lower case is unknown, but one letter or exchange away from a known one."""
    if len(word) < _SHORTEST or _known(word):
        return False
    return any(map(_known, _near(word)))


def _known(word: str) -> bool:
    return word in _RIGHT or is_word(word) or default_ontology().knows(word)


def _near(word: str) -> Iterator[str]:
    for index in range(len(word) + 1):
        before, after = word[:index], word[index:]
        yield from (f"{before}{letter}{after}" for letter in ascii_lowercase)
        if after:
            yield f"{before}{after[1:]}"
            yield from (f"{before}{letter}{after[1:]}" for letter in ascii_lowercase)
        if len(after) > 1:
            yield f"{before}{after[1]}{after[0]}{after[2:]}"


_WITHOUT_OBJECT = frozenset(("sit", "stand", "lie", "sleep", "kneel", "crouch", "squat", "lean", "smile", "arrive"))
_ITS = ("it", "'s")
_OPEN = frozenset(("NOUN", "VERB"))
_ALONE = frozenset(("it", "he", "she", "they", "him", "them"))
_NEVER_BEFORE_HE = frozenset(("to", "of", "at", "in", "on", "from", "with", "through", "into", "by"))


def slipped(parsed: Parsed) -> bool:
    tokens = parsed.tokens
    twice = any(one.lower == after.lower and one.text.isalpha() for one, after in pairwise(tokens))
    its = (index for index in range(1, len(tokens) - 1) if (tokens[index].lower, tokens[index + 1].lower) == _ITS)
    no_pronoun = any(map(_is_no_pronoun, (tokens[0], *tokens), tokens, tokens[1:]))
    if twice or no_pronoun or any(tokens[index - 1].tag in {"IN", "VBG", "VB", "VBZ", "VBP"} for index in its):
        return True
    cut = any(map(_cut, tokens, tokens[1:])) or any(_cuts_off(parsed, index) for index in range(1, len(tokens)))
    if cut or any(_lacks_preposition(parsed, *span) for span in parsed.chunks):
        return True
    return any(
        misspelt(token.text) for token in tokens if token.pos in _OPEN and token.text.isascii() and token.text.islower()
    )


def _cut(token: Token, after: Token) -> bool:
    """Whether a letter is all that is left of a word: "n the snow", "o the top"."""
    return token.text in {"n", "o"} and token.space != "" and not after.text.startswith("'")


def _is_no_pronoun(before: Token, token: Token, after: Token) -> bool:
    """Whether a pronoun is a slip for another word: "it receiver", "to he right"."""
    if token.lower not in _ALONE:
        return False
    others = any(lemmas(after.lower, kind) for kind in ("VERB", "ADJ", "ADV"))
    noun = after.tag in {"NN", "NNS", "PRP"} or (bool(lemmas(after.lower, "NOUN")) and not others)
    return noun or (token.lower in {"he", "she", "they"} and before.lower in _NEVER_BEFORE_HE)


def _cuts_off(parsed: Parsed, verb: int) -> bool:
    """Whether one comma stands between a subject and its verb: "a train with steam, passes by"."""
    tokens = parsed.tokens
    subjects = [index for index in parsed.children(verb, "nsubj", "nsubjpass") if index < verb - 1]
    if tokens[verb - 1].text != "," or not subjects:
        return False
    return sum(token.text == "," or token.tag == "CC" for token in tokens[subjects[0] : verb]) == 1


def _lacks_preposition(parsed: Parsed, start: int, end: int) -> bool:
    """Whether a noun phrase stands right behind a verb that takes none: "standing a home plate", "sitting a table"."""
    head, verb = parsed.tokens[end - 1], start - 1
    inverted = any(index < verb for index in parsed.children(verb, "prep"))  # "on a table sits a cat"
    stands = head.dep == "dobj" and head.head == verb and not inverted
    return stands and parsed.tokens[verb].lemma.lower() in _WITHOUT_OBJECT


LONGEST = 60
"""The most tokens of a text that is rewritten."""

# Nouns with a verb in either number: "a group of people walk".
_COLLECTIVE = words("group of people") | frozenset("number lot variety dozen herd flock pack cattle".split())
_ENDS = frozenset((".", "!", "?", ";", ":", "..."))
_MARKUP = re.compile(r"[<>{}\[\]|#@_\\^~*=]|https?:|www\.|&\w+;")
_FOREIGN = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\u024f\u2010-\u201f\u2026]")

# Singular nouns that stand without an article behind a preposition (Quirk et al. 1985, 5.41), by the preposition.
_WITHOUT_ARTICLE = words("without article")
# Countable nouns that are also a substance, a game or a meal.
_UNCOUNTED_TOO = words("uncounted too")
_ACTIVITY = re.compile(r"(?<!\bbuild)(?<!\bceil)(?<!\bpaint)(?<!\bsw)(?<!\bw)(?<!\br)(?<!\bk)(?<!\bdraw)(?<!\bstr)ing$")
_NEVER_BARE = frozenset(("background", "foreground", "middle", "ground", "air", "sky", "beach", "floor"))


def telegraphic(parsed: Parsed) -> bool:
    words = [token.lower for token in parsed.tokens]
    beside = (index for index in range(2, len(words)) if words[index - 2 : index] == ["next", "to"])
    acts = any(parsed.tokens[index].tag == "VB" for index in beside)  # "next to plant"
    return acts or any(_lacks_article(parsed, *span) for span in parsed.chunks)


def _lacks_article(parsed: Parsed, start: int, end: int) -> bool:
    head = parsed.tokens[end - 1]
    joined = head.dep == "conj" and parsed.tokens[head.head].tag == "NNS"  # "two dogs and cat", but not "a dog and cat"
    placed = joined or head.dep in {"pobj", "dobj", "nsubj", "nsubjpass", "ROOT", "attr"}
    determiners = {"DT", "PRP$", "CD", "POS", "WDT", "WP$", "PDT"}
    if head.tag != "NN" or not placed or any(token.tag in determiners for token in parsed.tokens[start:end]):
        return False
    before = parsed.tokens[head.head].lower if head.dep == "pobj" else ""
    noun = head.lower
    bare = f"{before}-{noun}" in _WITHOUT_ARTICLE or noun in _UNCOUNTED_TOO or _ACTIVITY.search(noun) is not None
    return noun in _NEVER_BARE or (not bare and plural(noun) is not None)


_REVERSING = words("reversing")
_REVERSING_VERBS = words("reversing verb")
REVERSED = "a word may reverse the truth of the others"


def reverses(parsed: Parsed) -> bool:
    """Whether a word may reverse the truth of what stands beneath it: "no one", "hardly", "few", "without", "lacks".

    A noun, a number or a preposition that is false of the image may make such a text true: "No one rides the cat."
    """
    tokens = parsed.tokens
    for index, token in enumerate(tokens):
        if token.lower in _REVERSING or (token.pos == "VERB" and token.lemma.lower() in _REVERSING_VERBS):
            return True
        if token.lower in {"few", "little"}:  # "a few dogs" and "two little girls" say that there are some
            bare = index == 0 or tokens[index - 1].tag not in {"DT", "PRP$", "CD", "POS", "JJ"}
            if bare and (token.lower == "few" or any(one.tag == "NN" for one in tokens[index + 1 : index + 2])):
                return True
    return False


def unfit(parsed: Parsed) -> str:
    """Return why a text is not rewritten at all; empty if it may be.

    The reasons are constant: "no words", "too long", "in capitals", "markup or symbols", "not one sentence",
    "an article does not agree", "a verb does not agree", "a slip of the pen" (a word twice or
    misspelt, "it's" for "its") and "articles are left out".

    >>> unfit(Parsed(text="", tokens=()))
    'no words'
    """
    words = [token.text for token in parsed.tokens if token.text[0].isalpha()]
    if not words or len(parsed.tokens) > LONGEST:
        return "too long" if words else "no words"
    long = [word for word in words if len(word) > 2]
    ends = {token.text for token in parsed.tokens[:-1]} & _ENDS
    reasons = holding(
        ("in capitals", lambda: 2 * sum(word.isupper() for word in long) > len(long)),
        ("markup or symbols", lambda: _MARKUP.search(parsed.text) or _FOREIGN.search(parsed.text)),
        ("not one sentence", lambda: ends or sum(token.dep == "ROOT" for token in parsed.tokens) != 1),
        ("an article does not agree", lambda: _wrong_article(parsed)),
        ("an article does not agree", lambda: any(_disagrees(parsed, *span) for span in parsed.chunks)),
        ("a verb does not agree", lambda: any(_number_differs(parsed, index) for index in range(len(parsed.tokens)))),
        ("a slip of the pen", lambda: slipped(parsed)),
        ("articles are left out", lambda: telegraphic(parsed)),
    )
    return next(reasons, "")


def holding(*reasons: tuple[str, Callable[[], object]]) -> Iterator[str]:
    """The reasons that hold, each looked into when it is asked for."""
    return (why for why, holds in reasons if holds())


def first(*reasons: tuple[bool, str]) -> str:
    """The first reason that holds; empty if none does."""
    return next((why for holds, why in reasons if holds), "")


def _wrong_article(parsed: Parsed) -> bool:
    pairs = ((one.lower, after.text) for one, after in pairwise(parsed.tokens) if one.tag == "DT")
    return any(said in {"a", "an"} and word[0].isalpha() and article(word) != said for said, word in pairs)


def _number_differs(parsed: Parsed, index: int) -> bool:
    # "There is apples", "there are a group", "a cup and a mug sits", "a stack of books sit".
    tokens = parsed.tokens
    verb = tokens[tokens[index].head]
    if tokens[index].dep == "expl":
        there = parsed.children(tokens[index].head, "attr", "nsubj", "dobj")[:1]
        after = tokens[tokens[index].head + 1 : tokens[index].head + 2]
        several = any(tokens[one].tag == "NNS" for one in there) or any(one.tag == "NNS" for one in after)
        group = any(tokens[one].lower == "group" for one in there)
        return (several and verb.lower in {"is", "'s", "was"}) or (group and verb.lower in {"are", "were"})
    if tokens[index].dep != "nsubj" or tokens[index].tag not in {"NN", "NNS"}:
        return False
    joined = any(child < tokens[index].head for child in parsed.children(index, "conj"))
    if joined and any(tokens[child].lower in {"or", "nor"} for child in parsed.children(index, "cc")):
        return False  # "neither the boy nor the girls are", but "the girls or the boy is"
    helping = [tokens[child] for child in parsed.children(tokens[index].head, "aux", "auxpass")]
    finite = next((token for token in helping if token.tag in {"VBZ", "VBP"}), verb)
    listed = any(token.tag == "CC" for token in tokens[index : tokens[index].head])  # "a man, two kids and a dog are"
    one = tokens[index].tag == "NN" and tokens[index].lower not in _COLLECTIVE and not listed
    return (joined and finite.tag == "VBZ") or (not joined and one and finite.tag == "VBP")


def _disagrees(parsed: Parsed, start: int, end: int) -> bool:
    head, articles = parsed.tokens[end - 1], parsed.tokens[start : end - 1]
    if head.tag == "NNS":
        few = {"few", "dozen", "couple", "lot"} & {token.lower for token in articles}
        return not few and any(token.lower in {"a", "an", "another"} and token.head == end - 1 for token in articles)
    many = [token for token in articles if token.head == end - 1 and token.dep == "nummod"]
    return head.tag == "NN" and any(token.lower not in {"one", "1"} for token in many) and singular(head.lower) is None
