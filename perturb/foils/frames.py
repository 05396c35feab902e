"""Role frames, as those of SWiG and imSitu, and the sentences that say them.

A verb of the space has a template, "the AGENT drinks a LIQUID from a CONTAINER at a PLACE", which tells the order of
the roles and the preposition before each. A frame gives the roles of one image their nouns. A sentence realises two
roles in the active voice: "A man drinks water."
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.text.grammar import plural
from vlgate.perturb.text.sentences import Verb, active, bare_or_a, number_of, object_of, read_predicate
from vlgate.perturb.word_lists import words

PLACE = "place"
NO_PART = "the words before the role say no part in the action"  # why a frame is not said: see ``is_participant``

_ROLE = re.compile(r"[A-Z][A-Z0-9-]+\b")
_DETERMINERS = words("determiner of a role")
_BEFORE = words("before a role")
# A photograph has one of each of these: "the ground", not "a ground".
_ONLY = frozenset("ground floor sky sun moon air sea ocean earth horizon wind outdoors opposition".split())
_SAME_IN_BOTH = frozenset(("sheep", "deer", "fish", "aircraft", "moose", "bison", "trout", "salmon", "swine"))
_SINGULAR_IN_S = ("ss", "us", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleVerb:
    """A verb of a space of role frames: "drinking", its base form, and its roles in the order of its template."""

    name: str
    base: str
    agent: str
    roles: tuple[str, ...]
    before: Mapping[str, str]  # the words between the verb or the last role and each role ("from" before the container)
    similar: str = ""  # its FrameNet frame: verbs of one frame say nearly the same

    def verb(self, role: str) -> Verb:
        return Verb(base=self.base, rest=self.before[role])


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    verb: RoleVerb
    agent: str
    role: str
    other: str


@cache
def role_verb(name: str, abstract: str, similar: str = "") -> RoleVerb | None:
    """Read a verb from its name, a participle, and its template, in which roles are in capital letters."""
    predicate = read_predicate(name)
    matches = list(_ROLE.finditer(abstract))
    if predicate is None or len(matches) < 2 or predicate.verb.rest:
        return None
    between = [abstract[one.end() : other.start()].lower().split() for one, other in pairwise(matches)]
    if not between[0]:
        return None
    between[0] = between[0][1:]  # without the verb itself
    before: dict[str, str] = {}
    for match, some in zip(matches[1:], between, strict=True):
        role, link = match[0].lower(), [word for index, word in enumerate(some) if not _is_determiner(some, index)]
        if _BEFORE.issuperset(link):
            before[role] = " ".join(link)
        elif not before and role != PLACE:
            return None  # what cannot be said is the object, without which the next role says something else
    agent, base = matches[0][0].lower(), predicate.verb.base
    if not before:
        return None
    return RoleVerb(name=name, base=base, agent=agent, roles=tuple(before), before=before, similar=similar)


def _is_determiner(words: Sequence[str], index: int) -> bool:
    """Whether a word is a determiner, or its "of": "some of the"; that of "out of the" is not."""
    behind = words[index] == "of" and index > 0 and words[index - 1] in _DETERMINERS
    return behind or words[index] in _DETERMINERS


def frame_of(verb: RoleVerb, roles: Mapping[str, str]) -> Frame | None:
    """The frame of an image with the agent and the first other role that is filled; the place comes last."""
    order = sorted(verb.roles, key=lambda role: role == PLACE)
    role = next((one for one in order if roles.get(one)), None)
    if role is None or not roles.get(verb.agent):
        return None
    return Frame(verb=verb, agent=roles[verb.agent], role=role, other=roles[role])


def realised(frame: Frame) -> str | None:
    """The sentence of a frame in the simple present; None if the number of a noun is not certain."""
    # Nouns take the indefinite article, mass nouns and plurals none, and things of which there is one ("ground") the
    # definite. A means of travel behind "by" has none ("commutes by bicycle").
    number, subject = noun_number(frame.agent), _phrase(frame.agent)
    verb = frame.verb.verb(frame.role)
    means = verb.base in _TRAVEL and verb.rest.split()[-1:] == ["by"]
    other = frame.other if means and noun_number(frame.other) == "singular" else _phrase(frame.other, verb)
    if number is None or subject is None or other is None:
        return None
    said = active(subject, verb, other, number=number)
    return f"{said[0].upper()}{said[1:]}."


def is_participant(frame: Frame) -> bool:
    # What something is done for, as or about may be no part of it ("lectures as a student"), and "by" stands before a
    # means ("disembarks by boat") but in "travels by train". Some verbs take no object at all.
    word = frame.verb.before[frame.role].split()[-1:]
    if not word and frame.verb.base in _WITHOUT_OBJECT:
        return False
    if word == ["for"]:
        return frame.verb.base in _SEEKING
    if frame.verb.before[frame.role] == "of":  # "robs of a purse", "speaks of a dog"
        return False
    return word not in (["as"], ["about"]) and (word != ["by"] or frame.verb.base in _PLACED_BY | _TRAVEL)


@cache
def noun_number(noun: str) -> Number | None:
    # A WordNet lemma is a singular unless it only is a plural.
    word = noun.lower().partition(" of ")[0].rpartition(" ")[2]
    if word in _SAME_IN_BOTH:
        return "singular"
    if word in words("mass noun"):
        return "mass"
    number = number_of(noun) or number_of(word)
    if number is not None:
        return number
    if not word.isalpha() or (word.endswith("s") and not word.endswith(_SINGULAR_IN_S)):
        return None
    return "singular" if plural(word) != word else None


_WITHOUT_OBJECT = words("verb without object")
_SEEKING = frozenset("search forage look wait reach hunt beg dig fish shop ask dive".split())
_PLACED_BY = frozenset("sit stand lie kneel wait pass walk run sleep camp crouch stop".split())
_TRAVEL = frozenset(("commute", "travel", "arrive", "come", "go", "leave", "return", "tour", "migrate"))


def _phrase(noun: str, verb: Verb | None = None) -> str | None:
    number = noun_number(noun)
    if number is None:
        return None
    if noun.lower() in _ONLY:
        return f"the {noun}"
    return bare_or_a(noun, number) if verb is None else object_of(verb, noun, number)
