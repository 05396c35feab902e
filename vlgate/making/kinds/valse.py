"""VALSE's pieces from questions, dialogs and role frames: existence, counting, coreference, actions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from vlgate.making.inputs.records import Answer, Dialog
from vlgate.making.inputs.records import Frame as FrameInput
from vlgate.making.kinds.kind import UNPAIRED, Item, Made, MakeSome, Selected, Work, both_ways, kind_of
from vlgate.making.sets.folder import valse
from vlgate.perturb.foils import coreference, how_many
from vlgate.perturb.foils.actions import actant_swap, action_gap, action_replacements, filled_actions, space_of
from vlgate.perturb.foils.balance import ENOUGH, half_likelier, most, one_of_each
from vlgate.perturb.foils.candidates import Foil, Gap, Perturbed
from vlgate.perturb.foils.frames import Frame, frame_of, role_verb
from vlgate.perturb.foils.how_many import INSTRUMENTS, countable
from vlgate.perturb.ontology.wordnet import WordRelations
from vlgate.seeds import generator, quick_generator

WHOLE = "questions about the image as a whole are at most a third of the set"
"""Why a question such as "is it sunny?" is not chosen: nothing in the caption is what its "it" stands for."""

_CLEAN = "VisualDialog_val2018_"  # VisDial's names of the images of its validation part
_NOT_NEEDED = "not needed to use each number as often in captions as in foils"
_SINGULAR_ZEROS = 1 / 3  # the share of ones among the answers above zero in VALSE's release


def _existence(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
        for input_, question in zip(
            inputs, work.tools.parser.parse([input_.question for input_ in inputs]), strict=True
        ):
            singular = quick_generator(f"{work.seed}:singular:{input_.origin}").random() < _SINGULAR_ZEROS
            yield _made(input_, how_many.existence(question, input_.answer, singular=singular))

    return make_some


def _made(one: Answer | Dialog | FrameInput, perturbed: Perturbed, extra: Mapping[str, Any] | None = None) -> Made:
    further = () if extra is None else tuple(extra for _ in perturbed.candidates)
    return Made(image=one.image, origin=one.origin, found=perturbed, extra=further)


def _counting(name: str) -> Callable[[Work], MakeSome]:
    def start(work: Work) -> MakeSome:

        def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
            parsed = work.tools.parser.parse([input_.question for input_ in inputs])
            counted = [countable(question, input_.answer) for input_, question in zip(inputs, parsed, strict=True)]
            places = [index for index, said in enumerate(counted) if not isinstance(said, str)]
            foils = INSTRUMENTS[name]([said for said in counted if not isinstance(said, str)], seed=work.seed)
            made = {places[number]: of_one for number, of_one in foils.items()}
            for index, input_ in enumerate(inputs):
                said = counted[index]
                of_one = made.get(index, (said if isinstance(said, str) else _NOT_NEEDED,))
                numbers = [tuple(map(int, foil.classes)) for foil in of_one if isinstance(foil, Foil)]
                extra = tuple({"answer": right, "classes": right, "classes_foil": wrong} for right, wrong in numbers)
                yield Made(image=input_.image, origin=input_.origin, found=Perturbed.of(*of_one), extra=extra)

        return make_some

    return start


def _coreference(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[Dialog]) -> Iterator[Made]:
        texts = [text for input_ in inputs for text in (input_.caption, *(turn.question for turn in input_.turns))]
        parsed = iter(list(work.tools.parser.parse(texts)))
        for input_ in inputs:
            caption = next(parsed)
            perturbed = coreference.coreference(input_, caption, [next(parsed) for _ in input_.turns])
            yield _made(input_, perturbed, {"only_caption": input_.caption})

    return make_some


def _half_yes(items: Sequence[Item], seed: int) -> Selected:
    foils = [item.candidate for item in items if isinstance(item.candidate, Foil)]
    chosen = coreference.selected(foils, seed=seed)
    uncapped = coreference.selected(foils, seed=seed, image_share=1.0)
    whole = [sum(foils[n].tags["antecedent"] == "image" for n in places) for places in (uncapped, chosen)]
    dropped = {WHOLE: max(whole[0] - whole[1], 0)}
    dropped |= {UNPAIRED: len(items) - len(chosen) - dropped[WHOLE]}
    return Selected(items=tuple(items[n] for n in chosen), dropped={why: n for why, n in dropped.items() if n})


def _coreference_release(items: Sequence[Item]) -> Mapping[str, str]:
    """Write items as VALSE's two files: dialogs of VisDial's validation part are its clean instrument ("hard")."""
    files: dict[str, str] = {}
    for name, clean in (("coreference-standard.json", False), ("coreference-hard.json", True)):
        some = [item for item in items if item.image.startswith(_CLEAN) is clean]
        files |= valse(name, "coreference")(some) if some else {}
    return files


EXISTENCE = kind_of("existence", _existence, valse("existence.json", "existence"), both_ways)

_rings = partial(both_ways, rings=True)
COUNTING_BALANCED, COUNTING_SMALL, COUNTING_ADVERSARIAL = (
    kind_of(name, _counting(name), valse(file, "counting"), select)  # ``select`` balances what the checks leave
    for name, file, select in (
        ("counting-balanced", "counting-hard.json", _rings),
        ("counting-small", "counting-small-quant.json", _rings),
        ("counting-adversarial", "counting-adversarial.json", None),
    )
)

COREFERENCE = kind_of("coreference", _coreference, _coreference_release, _half_yes)


NO_TEMPLATE = "the verb has no template; add imsitu_space.json to --from"
NO_ROLES = "the image lacks the agent or every other role"
NO_ACTORS = "no case has persons or animals in both roles"
FEW_ACTORS = "persons or animals have both roles in four of five cases, and half of the captions are the likelier text"
"""Why a swap of an actor and a thing is not chosen: "the ground walks on a man" is told from the text alone."""
_TOP = 50  # fillings that are asked for


def _frame(frame_input: FrameInput) -> Frame | str:
    verb = role_verb(frame_input.verb, frame_input.template, frame_input.similar) if frame_input.template else None
    return NO_TEMPLATE if verb is None else frame_of(verb, frame_input.roles) or NO_ROLES


def _swap(work: Work) -> MakeSome:
    things = WordRelations(work.tools.wordnet)

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        for input_ in inputs:
            frame = _frame(input_)
            yield _made(input_, Perturbed.of(frame) if isinstance(frame, str) else actant_swap(frame, things))

    return make_some


def _replacement(work: Work) -> MakeSome:
    actions = WordRelations(work.tools.wordnet)
    frames = {input_.origin: _frame(input_) for input_ in work.inputs}
    space = space_of((frame for frame in frames.values() if not isinstance(frame, str)), actions)
    filling = work.tools.has("mlm")

    def make_some(inputs: Sequence[FrameInput]) -> Iterator[Made]:
        gaps: dict[str, Gap] = {}
        for one in inputs if filling else ():
            frame = frames[one.origin]
            if not isinstance(frame, str) and (gap := action_gap(frame)) is not None:
                gaps[one.origin] = gap
        filled = dict(zip(gaps, work.tools.mlm.fill(list(gaps.values()), _TOP), strict=True)) if gaps else {}
        for input_ in inputs:
            frame = frames[input_.origin]
            if isinstance(frame, str):
                perturbed = Perturbed.of(frame)
            elif filling:
                perturbed = filled_actions(frame, filled.get(input_.origin, []), space, actions)
            else:
                perturbed = action_replacements(frame, space, actions)
            yield _made(input_, perturbed)

    return make_some


def _actors_first(items: Sequence[Item], seed: int) -> Selected:
    """Keep few cases of an actor and a thing, which text alone tells, and half of the captions the likelier text."""
    both = [item.candidate.tags["actors"] == "both" for item in items]
    if not any(both):
        return Selected(items=tuple(items), note=NO_ACTORS)
    # the rule "a person or an animal does it" is right in (both / 2 + others) / all: 0.6 with a fifth of others
    few = {index: -0.25 if acting else 1 for index, acting in enumerate(both)}
    rows = [*one_of_each([item.id for item in items]), *half_likelier([item.lead or 0.0 for item in items]), (few, 0)]
    chosen = most(generator(f"{seed}/actors").random(len(items)).tolist(), rows, ())
    if len(chosen) < ENOUGH:  # a set of fewer stays as it is, and its report says what text alone tells
        things = [index for index, acting in enumerate(both) if not acting]
        chosen = (*(index for index, acting in enumerate(both) if acting), *things[: sum(both)])
    return Selected(
        items=tuple(items[index] for index in sorted(chosen)), dropped=+Counter({FEW_ACTORS: len(items) - len(chosen)})
    )


ACTION_REPLACEMENT = kind_of("action-replacement", _replacement, valse("action-replacement.json", "actions"), _rings)

ACTANT_SWAP = kind_of("actant-swap", _swap, valse("actant-swap.json", "actions"), _actors_first)
