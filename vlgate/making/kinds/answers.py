"""Kinds that are made of how-many questions and of dialogs: VALSE's existence, counting and coreference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from vlgate.making.inputs.records import Answer
from vlgate.making.inputs.records import Dialog as DialogInput
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Selected, Work
from vlgate.making.kinds.selecting import UNPAIRED, selecting
from vlgate.making.releases.valse import valse
from vlgate.perturb.foils import coreference, existence
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.counting import INSTRUMENTS, countable
from vlgate.perturb.foils.inputs import Dialog, Turn
from vlgate.seeds import quick_generator

WHOLE = "questions about the image as a whole are at most a third of the set"
"""Why a question such as "is it sunny?" is not chosen: nothing in the caption is what its "it" stands for."""

_CLEAN = "VisualDialog_val2018_"  # VisDial's names of the images of its validation part
_SINGULAR_ZEROS = 1 / 3  # the share of ones among the answers above zero in VALSE's release


def _existence(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        for one, question in zip(inputs, work.tools.parser.parse([one.question for one in inputs]), strict=True):
            singular = quick_generator(f"{work.seed}:singular:{one.origin}").random() < _SINGULAR_ZEROS
            found = existence.existence(question, one.answer, singular=singular)
            yield Made(image=one.image, origin=one.origin, found=found)

    return make_some


def _counting(name: str) -> Callable[[Work], MakeSome]:
    def start(work: Work) -> MakeSome:
        """Prepare what needs all inputs."""

        def make_some(inputs: Sequence[Answer]) -> Iterator[Made]:
            """Make the candidates of a block of inputs."""
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
        return Made(image=one.image, origin=one.origin, found=Found(candidates=(foil,)), extra=(numbers,))
    reason = said if isinstance(said, str) else "not needed to use each number as often in captions as in foils"
    return Made(image=one.image, origin=one.origin, found=Found(refused=(reason,)))


def _coreference(work: Work) -> MakeSome:
    def make_some(inputs: Sequence[DialogInput]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        texts = [text for one in inputs for text in (one.caption, *(question for question, _ in one.turns))]
        parsed = iter(list(work.tools.parser.parse(texts)))
        for one in inputs:
            caption = next(parsed)
            questions = [next(parsed) for _ in one.turns]
            turns = tuple(Turn(question=question, answer=answer) for question, answer in one.turns)
            found = coreference.coreference(Dialog(caption=one.caption, turns=turns), caption, questions)
            extra = tuple({"only_caption": one.caption} for _ in found.candidates)
            yield Made(image=one.image, origin=one.origin, found=found, extra=extra)

    return make_some


def _half_from_zero(foils: Sequence[Foil], _: Sequence[str], seed: int) -> Sequence[int]:
    return existence.selected(foils, seed=seed)


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
        shape="pair",
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
    shape="pair",
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
    shape="pair",
    start=_coreference,
    release=_coreference_release,
    needs=("parser",),
    uses=("lm",),
    select=_half_yes,
    inference="unused",
)
