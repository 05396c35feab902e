"""Kinds that are made of role frames: VALSE's action replacement and actant swap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vlgate.making.inputs.records import Frame as FrameInput
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Selected, Work
from vlgate.making.kinds.selecting import selecting
from vlgate.making.releases.valse import valse
from vlgate.perturb.foils.actants import actant_swap
from vlgate.perturb.foils.actions import action_gap, action_replacements, filled_actions, space_of
from vlgate.perturb.foils.candidate import Found
from vlgate.perturb.foils.frames import Frame, frame_of, role_verb
from vlgate.perturb.foils.pairing import matched
from vlgate.perturb.foils.tools import Gap
from vlgate.perturb.foils.word_relations import WordRelations
from vlgate.seeds import quick_generator

NO_TEMPLATE = "the verb has no template; add imsitu_space.json to --from"
NO_ROLES = "the image lacks the agent or every other role"
NO_ACTORS = "no case has persons or animals in both roles"
FEW_ACTORS = "persons or animals have both roles in at least half of the set"
"""Why a swap of an actor and a thing is not chosen: "the ground walks on a man" is told from the text alone."""
_TOP = 50  # fillings that are asked for


def _frame(one: FrameInput) -> Frame | str:
    verb = role_verb(one.verb, one.template, one.similar) if one.template else None
    if verb is None:
        return NO_TEMPLATE
    return frame_of(verb, one.roles) or NO_ROLES


def _made(one: FrameInput, found: Found) -> Made:
    return Made(image=one.image, origin=one.origin, found=found)


def _swap(work: Work) -> MakeSome:
    things = WordRelations(work.tools.wordnet)

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        for one in inputs:
            frame = _frame(one)
            yield _made(one, Found(refused=(frame,)) if isinstance(frame, str) else actant_swap(frame, things))

    return make_some


def _replacement(work: Work) -> MakeSome:
    actions = WordRelations(work.tools.wordnet)
    frames = {one.origin: _frame(one) for one in work.inputs}
    space = space_of(frame for frame in frames.values() if not isinstance(frame, str))
    filling = work.tools.has("mlm")

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        gaps = _gaps(inputs, frames) if filling else {}
        filled = dict(zip(gaps, work.tools.mlm.fill(list(gaps.values()), _TOP), strict=True)) if gaps else {}
        for one in inputs:
            frame = frames[one.origin]
            if isinstance(frame, str):
                found = Found(refused=(frame,))
            elif filling:
                found = filled_actions(frame, filled.get(one.origin, []), space, actions)
            else:
                found = action_replacements(frame, space, actions)
            yield _made(one, found)

    return make_some


def _gaps(inputs: Sequence[FrameInput], frames: Mapping[str, Frame | str]) -> dict[str, Gap]:
    known = ((one.origin, frames[one.origin]) for one in inputs)
    gaps = ((origin, action_gap(frame)) for origin, frame in known if not isinstance(frame, str))
    return {origin: gap for origin, gap in gaps if gap is not None}


def _actors_first(items: Sequence[Item], seed: int) -> Selected:
    """Keep all cases whose two roles persons or animals have, and at most as many others, which text alone tells."""
    both = [item.id for item in items if _has_two_actors(item)]
    others = [item.id for item in items if not _has_two_actors(item)]
    if not both:
        return Selected(items=tuple(items), note=NO_ACTORS)
    kept = {*both, *quick_generator(f"{seed}/actors").sample(others, min(len(both), len(others)))}
    left = tuple(item for item in items if item.id in kept)
    return Selected(items=left, dropped={FEW_ACTORS: len(items) - len(left)} if len(left) < len(items) else {})


def _has_two_actors(item: Item) -> bool:
    return item.candidate.tags["actors"] == "both"


ACTION_REPLACEMENT = Kind(
    name="action-replacement",
    sentence="another action of the same actors: a man pushes a cart, a man pulls a cart (VALSE)",
    takes=("frames",),
    shape="pair",
    start=_replacement,
    release=valse("action-replacement.json", "actions"),
    needs=("wordnet",),
    uses=("mlm", "grammar", "lm"),
    select=selecting(matched),
    inference="unused",
)

ACTANT_SWAP = Kind(
    name="actant-swap",
    sentence="the actors exchanged: a man feeds a dog, a dog feeds a man (VALSE)",
    takes=("frames",),
    shape="pair",
    start=_swap,
    release=valse("actant-swap.json", "actions"),
    needs=("wordnet",),
    uses=("grammar", "lm"),
    inference="unused",
    select=_actors_first,
    permuted=True,
)
