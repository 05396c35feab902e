"""Foils of captions: plurality, nouns as in FOIL it!, numbers, and another preposition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from vlgate.making.inputs.records import Caption
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome, Selected, Start, Work, selecting
from vlgate.making.sets.folder import as_cases, valse
from vlgate.perturb.foils.balance import exchanged, paired
from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.mentions import Mentions, mentions
from vlgate.perturb.foils.captions.nouns import noun_foils
from vlgate.perturb.foils.captions.numbers import counted, has_number, plurals
from vlgate.perturb.foils.prepositions import attested, said_of
from vlgate.perturb.foils.relations import filled_relations, gaps, relations
from vlgate.perturb.text.parsed import Parsed

# Foils of captions: plurality, noun foils as in FOIL it!, and the numbers in captions.

UNBALANCED = "what the foil puts in is false more often than true"
"""Why a candidate is not chosen: there is none of another caption that exchanges the same words the other way round."""

_METHODS = {"sg2pl": "checklist method, change NP to PL", "pl2sg": "checklist method, change NP to SG"}
_NO_VOTES = {"caption": 0, "foil": 0, "other": 0}

Maker = Callable[[Parsed, Sequence[Mentions]], Perturbed]


def _starting(maker: Maker, compares: Callable[[Parsed], bool] = lambda _: True) -> Start:
    """Return what makes foils of captions; ``compares`` says whether a caption is held against the others."""

    def start(work: Work) -> MakeSome:
        """Prepare what needs all inputs."""

        def make_some(inputs: Sequence[Caption]) -> Iterable[Made]:
            """Make the candidates of a block of inputs."""
            texts = list(dict.fromkeys(text for one in inputs for text in (one.text, *one.others)))
            parsed = dict(zip(texts, work.tools.parser.parse(texts), strict=True))
            mentioned = cache(lambda text: mentions(parsed[text]))
            for one in inputs:
                caption = parsed[one.text]
                found = maker(caption, [mentioned(text) for text in one.others] if compares(caption) else ())
                extra = tuple({"orig_caption": one.text} for _ in found.candidates)
                yield Made(image=one.image, origin=one.origin, found=found, extra=extra)

        return make_some

    return start


def _balanced(items: Sequence[Item], seed: int) -> Selected:
    """Keep one foil of a caption, and each word as often in captions as in foils."""
    places: dict[str, list[Item]] = {}
    for item in items:
        places.setdefault(item.origin, []).append(item)
    groups = [[one.candidate for one in group if isinstance(one.candidate, Foil)] for group in places.values()]
    by_foil = {id(item.candidate): item.id for item in items}
    kept = {by_foil[id(foil)] for _, foil in exchanged(groups, seed=seed)}
    left = tuple(item for item in items if item.id in kept)
    return Selected(items=left, dropped={UNBALANCED: len(items) - len(left)} if len(left) < len(items) else {})


def _valse(items: Iterable[Item], file: str, phenomenon: str) -> Mapping[str, str]:
    """Write items as a file of VALSE; nobody has voted on them yet, so that all counts of votes are 0."""
    records: dict[str, dict[str, Any]] = {}
    for item in items:
        made = item.candidate
        if isinstance(made, Foil):
            direction = made.tags.get("direction", "")
            records[item.id] = {
                "image_file": item.image,
                "linguistic_phenomena": phenomenon,
                **({"foil_method": _METHODS[direction]} if direction in _METHODS else {}),
                "classes": made.classes[0],
                "classes_foil": made.classes[1],
                **item.extra,
                "caption": made.caption,
                "foil": made.foil,
                "mturk": _NO_VOTES,
            }
    return {f"valse/data/{file}": json.dumps(records, ensure_ascii=False, indent=1)}


PLURALITY = Kind(
    name="plurality",
    sentence="one thing in the caption and several in the foil, or the reverse, as in VALSE",
    takes=("captions",),
    shape="pair",
    start=_starting(plurals),
    release=lambda items: _valse(items, "plurals.json", "plurals"),
    needs=("parser",),
    uses=("nli", "grammar"),
    select=_balanced,
    inference="contradiction",
)
FOIL_IT = Kind(
    name="foil-it",
    sentence="an object's name against that of a related object, as in FOIL it!",
    takes=("captions",),
    shape="pair",
    start=_starting(noun_foils),
    release=lambda items: _valse(items, "foil-it.json", "noun phrases"),
    needs=("parser",),
    uses=("nli", "grammar"),
    select=_balanced,
)
COUNTING_CAPTIONS = Kind(
    name="counting-captions",
    sentence="the number in a caption against another one, with exactly before both",
    takes=("captions",),
    shape="pair",
    start=_starting(counted, has_number),
    release=lambda items: as_cases(items, "counting-captions"),  # no benchmark has such a task
    needs=("parser",),
    uses=("nli", "grammar"),
    select=_balanced,
)


# Relations of captions as in VALSE: another preposition, by a table or by a masked language model.

_TOP = 20  # fillings of each length that are asked for


def _parsed(inputs: Sequence[Caption], work: Work) -> dict[str, Parsed]:
    """Parse the captions and the other captions of their images, each text once."""
    texts = list(dict.fromkeys(text for one in inputs for text in (one.text, *one.others)))
    return dict(zip(texts, work.tools.parser.parse(texts), strict=True))


def _relations(work: Work) -> MakeSome:
    """Fill the places of prepositions with a masked language model if there is one, else by the table of contrasts."""
    known = attested(work.tools.parser.parse([one.text for one in work.inputs]))

    def make_some(inputs: Sequence[Caption]) -> Iterator[Made]:
        """Make the candidates of a block of inputs."""
        parsed = _parsed(inputs, work)
        places = [gaps(parsed[one.text]) for one in inputs] if work.tools.has("mlm") else []
        every = [gap for some in places for gap in some]
        filled = iter(work.tools.mlm.fill(every, _TOP)) if every else iter(())
        for place, one in enumerate(inputs):
            said = said_of(parsed[text] for text in (one.text, *one.others))
            if work.tools.has("mlm"):
                fillings = [next(filled) for _ in places[place]]
                found = filled_relations(parsed[one.text], fillings, known, said)
            else:
                found = relations(parsed[one.text], known, said)
            yield Made(image=one.image, origin=one.origin, found=found)

    return make_some


RELATIONS = Kind(
    name="relations",
    sentence="another preposition: on the table, under the table (VALSE)",
    takes=("captions",),
    shape="pair",
    start=_relations,
    release=valse("relations.json", "relations"),
    needs=("parser",),
    uses=("mlm", "nli", "grammar", "lm"),
    select=selecting(paired),
    inference="contradiction",
)
