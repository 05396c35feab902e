"""Action replacement as in VALSE (section 3.5, appendix A.5): another verb of the space replaces a frame's."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Protocol

from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.frames import NO_PART, Frame, RoleVerb, is_participant, noun_number, realised
from vlgate.perturb.foils.tools import Filling, Gap

NUMBER = "the number of a noun is not certain"
NO_VERB = "no other verb of the collection has both nouns"
NOT_OTHER = "every verb that fits may be true as well"
NO_FILLING = "no filling is another verb of the space"


class Actions(Protocol):
    """What knows whether two verbs say the same, such as ``WordRelations``."""

    def same_action(self, one: str, other: str) -> bool:
        """Return whether two verbs are synonyms, or one a hypernym of the other; antonyms are not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The verbs of a collection of frames.

    ``verbs`` are all of them by name. ``said_of`` has for each noun the verbs that have it as their other role, each
    with that role, and ``said_by`` the names of the verbs that have it as their agent.
    """

    verbs: Mapping[str, RoleVerb]
    said_of: Mapping[str, tuple[tuple[RoleVerb, str], ...]]
    said_by: Mapping[str, frozenset[str]]


def space_of(frames: Iterable[Frame]) -> Space:
    """Return the verbs of frames and the nouns that go with each; the frames of all images make one space."""
    verbs: dict[str, RoleVerb] = {}
    said_of: dict[str, dict[tuple[str, str], tuple[RoleVerb, str]]] = {}
    said_by: dict[str, set[str]] = {}
    for frame in frames:
        verbs.setdefault(frame.verb.name, frame.verb)
        said_of.setdefault(frame.other, {}).setdefault((frame.verb.name, frame.role), (frame.verb, frame.role))
        said_by.setdefault(frame.agent, set()).add(frame.verb.name)
    return Space(
        verbs=MappingProxyType(verbs),
        said_of=MappingProxyType({noun: tuple(some.values()) for noun, some in said_of.items()}),
        said_by=MappingProxyType({noun: frozenset(some) for noun, some in said_by.items()}),
    )


def action_replacements(frame: Frame, space: Space, actions: Actions) -> Found:
    """Replace the verb of a frame by each verb that the collection says of both nouns, without any model.

    The replacement comes with its own preposition. It is not a synonym, hypernym or hyponym of the verb, not of its
    FrameNet frame, and not an action that may be seen together with it (``actions.toml``). Neither of the two verbs is
    what one does beside other things ("hold").

    Returns: a candidate for each replacement, or the reason why there is none.
    """
    said_by = space.said_by.get(frame.agent, frozenset())
    known = [
        Frame(verb=verb, agent=frame.agent, role=role, other=frame.other)
        for verb, role in space.said_of.get(frame.other, ())
        if verb.name != frame.verb.name and verb.name in said_by
    ]
    return _found(frame, known, actions, NO_VERB)


def action_gap(frame: Frame) -> Gap | None:
    """Return the sentence of a frame with a gap in the place of its verb, for a masked language model such as BERT."""
    caption = realised(frame)
    number = noun_number(frame.agent)
    if caption is None or number is None:
        return None
    said = f" {frame.verb.verb(frame.role).present(number)} "
    before, found, after = caption.partition(said)
    rest = frame.verb.before[frame.role]
    return Gap(before=before, after=f"{rest} {after}".strip(), lengths=(1,)) if found else None


def filled_actions(frame: Frame, fillings: Sequence[Filling], space: Space, actions: Actions) -> Found:
    """Replace the verb of a frame by the verbs of the space among the fillings of a masked language model.

    The preposition stays, as the model saw it. The conditions on the verbs are those of ``action_replacements``.

    Args:
        frame: a frame.
        fillings: the fillings of ``action_gap(frame)``.
        space: the verbs that may be said.
        actions: what knows whether two verbs say the same.
    """
    number = noun_number(frame.agent)
    said = {} if number is None else {verb.verb(frame.role).present(number): verb for verb in _with_role(frame, space)}
    known = [
        Frame(verb=said[text], agent=frame.agent, role=frame.role, other=frame.other)
        for filling in fillings
        if (text := f"{filling.text} {frame.verb.before[frame.role]}".strip()) in said
    ]
    return _found(frame, known, actions, NO_FILLING)


def _with_role(frame: Frame, space: Space) -> Iterator[RoleVerb]:
    """Yield the other verbs of the space, with the preposition of the frame's verb before its role."""
    for verb in space.verbs.values():
        if verb.name != frame.verb.name:
            yield RoleVerb(
                name=verb.name,
                base=verb.base,
                agent=verb.agent,
                roles=(frame.role,),
                before={frame.role: frame.verb.before[frame.role]},
                similar=verb.similar,
            )


def _found(frame: Frame, replaced: Sequence[Frame], actions: Actions, why_none: str) -> Found:
    caption = realised(frame)
    if caption is None:
        return Found(refused=(NUMBER,))
    if not is_participant(frame):
        return Found(refused=(NO_PART,))
    if not replaced:
        return Found(refused=(why_none,))
    other = [one for one in replaced if is_participant(one) and _differs(frame.verb, one.verb, actions)]
    made = [(one, foil) for one in other if (foil := realised(one)) is not None]
    if not made:
        return Found(refused=(NOT_OTHER,))
    return Found(candidates=tuple(_foil(frame, one, caption, foil) for one, foil in made))


def _differs(one: RoleVerb, other: RoleVerb, actions: Actions) -> bool:
    together, beside_others = _seen_together()
    beside = bool({one.base, other.base} & beside_others)
    if one.base == other.base or beside or (one.similar and one.similar == other.similar):
        return False
    if other.base in together.get(one.base, frozenset()):
        return False
    return not actions.same_action(one.base, other.base)


@cache
def _seen_together() -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
    """Return the verbs that may be seen together with each verb, and those that may be seen with any."""
    raw = tomllib.loads(files(__package__).joinpath("actions.toml").read_text(encoding="utf-8"))
    groups = [frozenset(line.split()) for line in raw["together"]]
    together = {verb: frozenset().union(*(one for one in groups if verb in one)) for group in groups for verb in group}
    return together, frozenset(raw["beside_others"].split())


def _foil(frame: Frame, replaced: Frame, caption: str, foil: str) -> Foil:
    return Foil(
        caption=caption,
        foil=foil,
        classes=(frame.verb.name, replaced.verb.name),
        why=f"'{replaced.verb.name}' replaces '{frame.verb.name}' and does not say the same",
        tags={"verb": frame.verb.name, "role": frame.role},
    )
