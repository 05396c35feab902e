"""VALSE's pieces from questions, dialogs and role frames: existence, counting, coreference, actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from vlgate.making.inputs.records import Answer, Dialog
from vlgate.making.inputs.records import Frame as FrameInput
from vlgate.making.kinds.kind import UNPAIRED, Item, Kind, Made, MakeSome, Selected, Work, selecting
from vlgate.making.sets.folder import valse
from vlgate.perturb.foils import coreference, how_many
from vlgate.perturb.foils.actions import actant_swap, action_gap, action_replacements, filled_actions, space_of
from vlgate.perturb.foils.balance import matched
from vlgate.perturb.foils.candidates import Foil, Gap, Perturbed
from vlgate.perturb.foils.frames import Frame, frame_of, role_verb
from vlgate.perturb.foils.how_many import INSTRUMENTS, countable
from vlgate.perturb.ontology.wordnet import WordRelations
from vlgate.seeds import quick_generator

# Kinds that are made of how-many questions and of dialogs: VALSE's existence, counting and coreference.

WHOLE = "questions about the image as a whole are at most a third of the set"
"""Why a question such as "is it sunny?" is not chosen: nothing in the caption is what its "it" stands for."""

_CLEAN = "VisualDialog_val2018_"  # VisDial's names of the images of its validation part
_SINGULAR_ZEROS = 1 / 3  # the share of ones among the answers above zero in VALSE's release


def _existence(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
        for one, question in zip(inputs, work.tools.parser.parse([one.question for one in inputs]), strict=True):
            singular = quick_generator(f"{work.seed}:singular:{one.origin}").random() < _SINGULAR_ZEROS
            found = how_many.existence(question, one.answer, singular=singular)
            yield Made(image=one.image, origin=one.origin, found=found)

    return make_some


def _counting(name: str) -> Callable[[Work], MakeSome]:
    def start(work: Work) -> MakeSome:

        def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
            parsed = work.tools.parser.parse([one.question for one in inputs])
            said = [countable(question, one.answer) for one, question in zip(inputs, parsed, strict=True)]
            places = [place for place, one in enumerate(said) if not isinstance(one, str)]
            statements = [one for one in said if not isinstance(one, str)]
            foils = INSTRUMENTS[name](statements, seed=work.seed)
            made = {places[number]: foil for number, foil in foils.items()}
            for place, one in enumerate(inputs):
                yield _counted(one, made.get(place), said[place])

        return make_some

    return start


def _counted(one: Answer, foil: Foil | None, said: object) -> Made:
    if foil is not None:
        numbers = {
            "answer": int(foil.classes[0]),
            "classes": int(foil.classes[0]),
            "classes_foil": int(foil.classes[1]),
        }
        return Made(image=one.image, origin=one.origin, found=Perturbed.of(foil), extra=(numbers,))
    reason = said if isinstance(said, str) else "not needed to use each number as often in captions as in foils"
    return Made(image=one.image, origin=one.origin, found=Perturbed.of(reason))


def _coreference(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[Dialog]) -> Iterator[Made]:
        texts = [text for one in inputs for text in (one.caption, *(turn.question for turn in one.turns))]
        parsed = iter(list(work.tools.parser.parse(texts)))
        for one in inputs:
            caption = next(parsed)
            questions = [next(parsed) for _ in one.turns]
            found = coreference.coreference(one, caption, questions)
            extra = tuple({"only_caption": one.caption} for _ in found.candidates)
            yield Made(image=one.image, origin=one.origin, found=found, extra=extra)

    return make_some


def _half_from_zero(foils: Sequence[Foil], _: Sequence[str], seed: int) -> Sequence[int]:
    return how_many.selected_existence(foils, seed=seed)


def _half_yes(items: Sequence[Item], seed: int) -> Selected:
    """Choose as many "yes" as "no", and among the questions few about the image as a whole."""
    foils = [item.candidate for item in items if isinstance(item.candidate, Foil)]
    chosen = coreference.selected(foils, seed=seed)
    uncapped = coreference.selected(foils, seed=seed, image_share=1.0)
    whole = [sum(foils[n].tags["antecedent"] == "image" for n in places) for places in (uncapped, chosen)]
    dropped = {WHOLE: max(whole[0] - whole[1], 0)}
    dropped |= {UNPAIRED: len(items) - len(chosen) - dropped[WHOLE]}
    return Selected(items=tuple(items[n] for n in chosen), dropped={why: n for why, n in dropped.items() if n})


def _coreference_release(items: Sequence[Item]) -> Mapping[str, str]:
    """Write items as VALSE's two files: dialogs of VisDial's validation part are its clean instrument ("hard")."""
    clean = [item for item in items if item.image.startswith(_CLEAN)]
    standard = [item for item in items if not item.image.startswith(_CLEAN)]
    parts = (("coreference-standard.json", standard), ("coreference-hard.json", clean))
    files = [valse(file, "coreference")(some) for file, some in parts if some]
    return {name: text for each in files for name, text in each.items()}


def _counting_kind(name: str, sentence: str, file: str) -> Kind:
    return Kind(
        name=name,
        sentence=sentence,
        takes=("answers",),
        start=_counting(name),
        release=valse(file, "counting"),
        needs=("parser",),
        uses=("lm",),
        whole=True,
        inference="unused",
    )


EXISTENCE = Kind(
    name="existence",
    sentence="there are no dogs, there are dogs (VALSE)",
    takes=("answers",),
    start=_existence,
    release=valse("existence.json", "existence"),
    needs=("parser",),
    uses=("lm",),
    select=selecting(_half_from_zero),
    inference="unused",
)

COUNTING_BALANCED = _counting_kind(
    "counting-balanced", "another number, each as often in captions as in foils (VALSE)", "counting-hard.json"
)
COUNTING_SMALL = _counting_kind(
    "counting-small", "another number, captions and foils of 0 to 3 (VALSE)", "counting-small-quant.json"
)
COUNTING_ADVERSARIAL = _counting_kind(
    "counting-adversarial", "foils of 0 to 3 for captions of 4 and more (VALSE)", "counting-adversarial.json"
)

COREFERENCE = Kind(
    name="coreference",
    sentence="a caption, a question with a pronoun, and the other answer: yes, no (VALSE)",
    takes=("dialogs",),
    start=_coreference,
    release=_coreference_release,
    needs=("parser",),
    uses=("lm",),
    select=_half_yes,
    inference="unused",
)


# Kinds that are made of role frames: VALSE's action replacement and actant swap.

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


def _made(one: FrameInput, found: Perturbed) -> Made:
    return Made(image=one.image, origin=one.origin, found=found)


def _swap(work: Work) -> MakeSome:
    things = WordRelations(work.tools.wordnet)

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        for one in inputs:
            frame = _frame(one)
            yield _made(one, Perturbed.of(frame) if isinstance(frame, str) else actant_swap(frame, things))

    return make_some


def _replacement(work: Work) -> MakeSome:
    actions = WordRelations(work.tools.wordnet)
    frames = {one.origin: _frame(one) for one in work.inputs}
    space = space_of(frame for frame in frames.values() if not isinstance(frame, str))
    filling = work.tools.has("mlm")

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        gaps = _gaps(inputs, frames) if filling else {}
        filled = dict(zip(gaps, work.tools.mlm.fill(list(gaps.values()), _TOP), strict=True)) if gaps else {}
        for one in inputs:
            frame = frames[one.origin]
            if isinstance(frame, str):
                found = Perturbed.of(frame)
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
    start=_swap,
    release=valse("actant-swap.json", "actions"),
    needs=("wordnet",),
    uses=("grammar", "lm"),
    inference="unused",
    select=_actors_first,
    permuted=True,
)
