"""Which names in scene graphs are persons: what WordNet files under ``noun.person`` (BLA, section 4.3.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from vlgate.perturb.inflection import regular_singular, singular
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.ontology.tables import rows_of

IsPerson = Callable[[str], bool]
"""Whether a name of an object is one of persons."""

_FILE = "people.tsv"
_ROOTS = frozenset(("person", "people"))
# Persons to the ontology's questions in no certain sense; here they are, as all that photographs of people are named.
_GROUPS = frozenset(("male", "males", "female", "females"))

_MALE = frozenset(
    (
        *("man", "boy", "guy", "gentleman", "father", "dad", "son", "husband", "brother", "grandfather", "grandpa"),
        *("groom", "king", "waiter"),
    )
)
_FEMALE = frozenset(
    (
        *("woman", "girl", "lady", "mother", "mom", "daughter", "wife", "sister", "grandmother", "grandma", "bride"),
        *("queen", "waitress"),
    )
)
_CHILDREN = frozenset(("boy", "girl", "child", "kid", "toddler", "baby", "infant", "newborn"))
_ADULTS = frozenset(
    (
        *("man", "woman", "guy", "lady", "gentleman", "adult", "father", "mother", "dad", "mom", "parent", "husband"),
        *("wife", "grandfather", "grandmother"),
    )
)
_ROLES = frozenset(("batter", "catcher", "umpire", "pitcher", "referee", "goalie", "spectator"))


@cache
def may_be_one_person(one: str, other: str) -> bool:
    """Return whether a person of one name may be called the other: not a man and a woman, not a man and a child.

    A young man may be called a boy.

    >>> [may_be_one_person("man", name) for name in ("player", "men", "woman", "child")]
    [True, True, False, False]
    """
    mine, theirs = (singular(name) or regular_singular(name) or name for name in (one, other))
    one_head, other_head = mine.rpartition(" ")[2], theirs.rpartition(" ")[2]
    if {one_head, other_head} <= _ROLES:
        return one_head == other_head
    kinds = [(_MALE, _FEMALE)] if "young " in f"{mine} {theirs}" else [(_MALE, _FEMALE), (_CHILDREN, _ADULTS)]
    return not any((one_head in a and other_head in b) or (one_head in b and other_head in a) for a, b in kinds)


@cache
def known_person(name: str) -> bool:
    """Return whether a name is a kind of person in the ontology or in the table ``people.tsv``, in either number.

    A compound counts if its last word does and the ontology does not know the whole.

    >>> [known_person(name) for name in ("woman", "tall men", "batter", "businessmen", "crowd", "pole")]
    [True, True, True, True, False, False]
    """
    ontology = default_ontology()
    one = singular(name) or regular_singular(name) or name
    if name in _GROUPS or {name, one} & _people():
        return True
    if ontology.knows(name):
        return not ontology.certain(name).isdisjoint(_ROOTS)
    first, _, head = name.rpartition(" ")
    return bool(first) and known_person(head)


def wordnet_person(lexicon: str = "oewn:2024") -> IsPerson:
    """Return a function that looks a name up in an installed wordnet: its first sense must be of ``noun.person``.

    "person" itself, which WordNet files under ``noun.Tops``, is one too. A compound that the wordnet lacks is looked up
    by its last word.

    Raises: ValueError if the library ``wn`` or the lexicon is not installed.

    >>> is_person = wordnet_person()  # doctest: +SKIP
    >>> is_person("paramedic"), is_person("ambulance")  # doctest: +SKIP
    (True, False)
    """
    try:
        import wn
    except ImportError:
        raise ValueError("wordnet_person needs the library wn; pip install 'vlgate[text]'") from None
    try:
        wordnet = wn.Wordnet(lexicon, expand="")
    except wn.Error:
        raise ValueError(
            f"lexicon={lexicon!r} is not installed; run `python -m wn download oewn:2024`, or name one that is"
        ) from None

    @cache
    def is_person(name: str) -> bool:
        """Return whether the first sense of a name, or else of its last word, is a person."""
        if name in _ROOTS:
            return True
        found = wordnet.synsets(name, pos="n") or wordnet.synsets(singular(name) or name, pos="n")
        if not found and " " in name:
            return is_person(name.rpartition(" ")[2])
        return bool(found) and found[0].lexfile() == "noun.person"

    return is_person


@cache
def _people() -> frozenset[str]:
    text = Path(__file__).with_name(_FILE).read_text(encoding="utf-8")
    return frozenset(row["name"] for row in rows_of(_FILE, text, "name"))
