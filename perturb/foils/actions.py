"""Action replacement and actant swap from role frames, as in VALSE (section 3.5, appendix A.5)."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from vlgate.perturb.foils.candidates import Filling, Foil, Gap, Perturbed
from vlgate.perturb.foils.frames import NO_PART, Frame, RoleVerb, is_participant, noun_number, realised
from vlgate.perturb.ontology.wordnet import WordRelations
from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.sentences import Verb
from vlgate.perturb.word_lists import is_body_part, words

NUMBER = "the number of a noun is not certain"
NO_VERB = "no other verb of the collection has both nouns"
NOT_OTHER = "every verb that fits may be true as well"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The verbs of a collection, by name and by noun; adults are "person" and children "child"."""

    verbs: Mapping[str, RoleVerb]
    said_of: Mapping[str, tuple[tuple[RoleVerb, str], ...]]  # the verbs and roles that a noun is the other role of
    said_by: Mapping[str, frozenset[str]]  # the verbs of an agent


def space_of(frames: Iterable[Frame], things: WordRelations) -> Space:
    verbs: dict[str, RoleVerb] = {}
    said_of: dict[str, dict[tuple[str, str], tuple[RoleVerb, str]]] = {}
    said_by: dict[str, set[str]] = {}
    for frame in frames:
        verbs.setdefault(frame.verb.name, frame.verb)
        other, agent = (_taking_part(noun, things) for noun in (frame.other, frame.agent))
        said_of.setdefault(other, {}).setdefault((frame.verb.name, frame.role), (frame.verb, frame.role))
        said_by.setdefault(agent, set()).add(frame.verb.name)
    return Space(
        verbs=MappingProxyType(verbs),
        said_of=MappingProxyType({noun: tuple(some.values()) for noun, some in said_of.items()}),
        said_by=MappingProxyType({noun: frozenset(some) for noun, some in said_by.items()}),
    )


def _taking_part(noun: str, things: WordRelations) -> str:
    """What one adult does, or has done to them, another one can; the same of children. Other nouns stand for one."""
    lower = noun.lower()
    if lower in _CHILDREN or things.is_kind(lower, "child", 1):
        return "child"
    other = things.is_kind(lower, "animal", 3) or things.is_kind(lower, "artifact", 2)  # "plunger", "cultivator"
    person = lower in _ANYBODY or (things.is_kind(lower, "person", 1) and not other)
    return "person" if person else noun


def action_replacements(frame: Frame, space: Space, actions: WordRelations) -> Perturbed:
    # The replacement comes with its own preposition. It is not a synonym, hypernym or hyponym of the verb, not of its
    # FrameNet frame, and not an action that may be seen together with it (``actions.toml``). Neither of the two verbs
    # is what one does beside other things ("hold").
    other, agent = (_taking_part(noun, actions) for noun in (frame.other, frame.agent))
    said_by = space.said_by.get(agent, frozenset())
    known = [
        replace(frame, verb=verb, role=role)
        for verb, role in space.said_of.get(other, ())
        if verb.name != frame.verb.name and verb.name in said_by
    ]
    return _perturbed(frame, known, actions, NO_VERB)


def action_gap(frame: Frame) -> Gap | None:
    caption = realised(frame)
    number = noun_number(frame.agent)
    if caption is None or number is None:
        return None
    said = f" {frame.verb.verb(frame.role).present(number)} "
    before, gap, after = caption.partition(said)
    rest = frame.verb.before[frame.role]
    return Gap(before=before, after=f"{rest} {after}".strip(), lengths=(1,)) if gap else None


def filled_actions(frame: Frame, fillings: Sequence[Filling], space: Space, actions: WordRelations) -> Perturbed:
    # The preposition stays, as the model saw it. The conditions on the verbs are those of ``action_replacements``.
    number = noun_number(frame.agent)
    said: dict[str, RoleVerb] = {}
    if number is not None:
        others = (verb for verb in space.verbs.values() if verb.name != frame.verb.name)
        before = {frame.role: frame.verb.before[frame.role]}
        verbs = (replace(verb, roles=(frame.role,), before=before) for verb in others)
        said = {verb.verb(frame.role).present(number): verb for verb in verbs}
    known = [
        replace(frame, verb=said[text])
        for filling in fillings
        if (text := f"{filling.text} {frame.verb.before[frame.role]}".strip()) in said
    ]
    return _perturbed(frame, known, actions, "no filling is another verb of the space")


def _perturbed(frame: Frame, replaced: Sequence[Frame], actions: WordRelations, why_none: str) -> Perturbed:
    caption = realised(frame)
    why = first((caption is None, NUMBER), (not is_participant(frame), NO_PART), (not replaced, why_none))
    if caption is None or why:
        return Perturbed.of(why)
    foils = [
        Foil(
            caption=caption,
            foil=foil,
            classes=(frame.verb.name, one.verb.name),
            why=f"'{one.verb.name}' replaces '{frame.verb.name}' and does not say the same",
            tags={"verb": frame.verb.name, "role": frame.role},
        )
        for one in replaced
        if is_participant(one) and _differs(frame.verb, one.verb, actions) and (foil := realised(one)) is not None
    ]
    return Perturbed.of(*foils) if foils else Perturbed.of(NOT_OTHER)


def _differs(role_verb: RoleVerb, other: RoleVerb, actions: WordRelations) -> bool:
    together, beside_others = _seen_together()
    beside = bool({role_verb.base, other.base} & beside_others)
    if role_verb.base == other.base or beside or (role_verb.similar and role_verb.similar == other.similar):
        return False
    if other.base in together.get(role_verb.base, frozenset()):
        return False
    return not actions.same_action(role_verb.base, other.base)


@cache
def _seen_together() -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
    raw = tomllib.loads(files(__package__).joinpath("actions.toml").read_text(encoding="utf-8"))
    groups = [frozenset(line.split()) for line in raw["together"]]
    together = {
        verb: frozenset().union(*(group for group in groups if verb in group)) for group in groups for verb in group
    }
    return together, frozenset(raw["beside_others"].split())


SAME = "both roles may name one thing"
BODY = "one of the two is a part of the body"
BOTH_WAYS = "the action or the place holds in both directions"

# Actions that two take part in alike, or that a photograph shows no direction of: who talks to a woman is talked to,
# who pays a cashier is paid back, and a man leads the sheep that leads him.
_MUTUAL = words("mutual action")
# "A car drives a woman", "a ship boards a soldier", "an airplane taxis water": the object may be the passenger.
_CARRYING = frozenset("board disembark drive commute taxi fly ferry sail carry transport".split())
# A soldier camouflages leaves with himself as little as leaves camouflage themselves, but leaves do it to a soldier.
_UNCLEAR = frozenset("camouflage disguise conceal hide mask decorate adorn surround shelter overflow".split())
_MEANS = frozenset(("by", "via", "using", "by means of"))
_MUTUAL_BEFORE = frozenset(
    ("beside", "next to", "near", "alongside", "close to", "around", "against", "with", "along with")
)
# What acts, and among how many senses of a noun: the second one of "computer" is a person, that of "goat" an animal.
_ACTORS = (("person", 1), ("animal", 3))
# Who is tackled or hit is as often another athlete or soldier, whatever the frame calls them.
_CONTESTS = words("contest")
_GROUPS = words("group of people")
_CHILDREN = frozenset("child baby infant toddler boy girl kid daughter son newborn".split()) | {
    "male child",
    "female child",
}
# Whose colleague is a colleague too
_RECIPROCAL = frozenset(
    "classmate colleague companion competitor coworker friend neighbor neighbour partner peer roommate teammate".split()
)
_ANYBODY = frozenset(
    "man woman person people boy girl child adult male female lady kid teenager opponent opposition rival".split()
) | {"male child", "female child", "young man", "young woman", "old man", "old woman"}


def actant_swap(frame: Frame, things: WordRelations) -> Perturbed:
    # A foil may be true if the action is mutual ("A man talks to a woman"), if one noun is a kind of the other ("A man
    # helps a person"), or if both may have one role in a contest ("An athlete tackles a man"): these are refused. So is
    # a part of the body, which takes the article of its owner, a vehicle that carries whoever is aboard ("A car drives
    # a woman"), and a means ("commutes by train"). The tag "actors" says which nouns name persons or animals.
    verb = frame.verb.verb(frame.role)
    body = any(is_body_part(noun) or things.is_kind(noun, "body part", 1) for noun in (frame.agent, frame.other))
    why = first(
        (not is_participant(frame), NO_PART),
        (body, BODY),
        (things.same_thing(frame.agent, frame.other) or _both_contest(frame, things), SAME),
        (verb.base in _CARRYING, "a vehicle carries or lets off whoever is aboard"),
        (verb.rest in _MEANS, "the second role is a means and takes no part"),
        (verb.base in _UNCLEAR, "the verb does not tell who does it to whom"),
        (is_mutual(verb) or not _RECIPROCAL.isdisjoint((frame.agent, frame.other)), BOTH_WAYS),
    )
    if why:
        return Perturbed.of(why)
    caption, foil = realised(frame), realised(replace(frame, agent=frame.other, other=frame.agent))
    if caption is None or foil is None:
        return Perturbed.of(NUMBER)
    numbers = f"{noun_number(frame.agent)} {noun_number(frame.other)}"
    acting = {name: _acts(getattr(frame, name).lower(), things) for name in ("agent", "other")}
    actors = "both" if all(acting.values()) else next((name for name, acts in acting.items() if acts), "none")
    tags = {"verb": frame.verb.name, "role": frame.role, "numbers": numbers, "actors": actors}
    why = f"'{frame.agent}' and '{frame.other}' change their roles in '{frame.verb.name}'"
    return Perturbed.of(Foil(caption=caption, foil=foil, classes=(frame.agent, frame.other), why=why, tags=tags))


def _acts(noun: str, things: WordRelations) -> bool:
    group = noun.rpartition(" ")[2] in _GROUPS
    return noun in _ANYBODY or group or any(things.is_kind(noun, kind, senses) for kind, senses in _ACTORS)


def _both_contest(frame: Frame, things: WordRelations) -> bool:
    nouns = {frame.agent.lower(), frame.other.lower()}
    named = nouns - _ANYBODY
    known = all(things.same_thing(noun, "person") for noun in named)
    return frame.verb.base in _CONTESTS and len(named) == 1 and known


def is_mutual(verb: Verb) -> bool:
    return verb.rest in _MUTUAL_BEFORE or verb.base in _MUTUAL
