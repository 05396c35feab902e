"""The changes that keep the truths of a case: moves of its images, and other wordings of its texts."""

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from operator import itemgetter
from pathlib import Path

from vlgate.errors import ModelLoadError
from vlgate.perturb.text.grammar import capitalised_like
from vlgate.perturb.text.parsed import Parsed, Parser
from vlgate.probes.shrink import FAMILIES, Family
from vlgate.probes.shrink.moves import IMAGE_MOVES, Move, Text, Truth, graph_of, perturbed, region_moves, text_of
from vlgate.probes.shrink.scenes import scene_moves, uncut
from vlgate.types import Case, images_of

LEFT_OUT = "joined things were not exchanged, because {why}"
"""What a search says about the wordings that it left out without a parser."""

_JOINS = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)


def parsed(text: str) -> Parsed | str:
    """Parse a text, or return why it cannot be parsed; "" if its wordings need no parse, since it joins nothing."""
    if _JOINS.search(text) is None:
        return ""
    parser = pipeline()
    return parser if isinstance(parser, str) else next(parser.parse([text]))


@cache  # one pipeline
def pipeline() -> Parser | str:
    from vlgate.perturb.text.spacy_parser import spacy_parser

    try:
        return spacy_parser()
    except ModelLoadError as error:
        return str(error)


_CONVERSE = {"to the left of": "to the right of", "above": "below"}
_CONVERSE |= {other: one for one, other in _CONVERSE.items()}
"""Relations that hold from one thing to the other exactly if the other one holds back; "behind" may go by what is the
front of a thing itself, so that it is not among them."""
_WORD = r"(?!(?:and|or|but|nor|not|that|which|who|than|is|are)\b)[a-z]+"
_THING = rf"(?:{_WORD} ){{0,2}}{_WORD}"
_PLACED = re.compile(rf"(The {_THING}) is ({'|'.join(_CONVERSE)}) (the {_THING})(\.?)")
_THERE = re.compile(r"(There (?:is|are) (?:no |an? |exactly |some |a number of )?[a-z][a-z ,-]*?)(\.?)")
_IMAGE = re.compile(r"\b(?:pictures?|photos?|images?|scenes?|foreground|background)\b")
_NAMES = ("picture", "image")


def restated(text: str) -> Iterator[str]:
    """Yield texts that are true of an image exactly if ``text`` is.

    >>> list(restated("The red cup is above the ball."))
    ['The ball is below the red cup.']
    >>> list(restated("There is no cup."))[:2]
    ['There is no cup in the picture.', 'In the picture, there is no cup.']
    >>> list(restated("A picture of a cup."))
    ['An image of a cup.']
    """
    placed = _PLACED.fullmatch(text)
    if placed is not None:
        one, relation, other, end = placed.groups()
        yield f"{capitalised_like('T', other)} is {_CONVERSE[relation]} {one[0].lower()}{one[1:]}{end}"
        return
    there = _THERE.fullmatch(text)
    if there is not None and _IMAGE.search(text) is None:
        said, end = there.groups()
        for name in _NAMES:
            yield f"{said} in the {name}{end}"
            yield f"In the {name}, {said[0].lower()}{said[1:]}{end}"
    elif text.endswith((" in the picture.", " in the picture")) and text.startswith(("There is ", "There are ")):
        plain, end = text.removesuffix(".").removesuffix(" in the picture"), "." * text.endswith(".")
        yield f"{plain}{end}"
        for name in _NAMES:
            if name != "picture":
                yield f"{plain} in the {name}{end}"
            yield f"In the {name}, {plain[0].lower()}{plain[1:]}{end}"
    elif text.startswith("A picture of "):
        yield "An image of " + text.removeprefix("A picture of ")


_TABLE = tomllib.loads(Path(__file__).with_name("space.toml").read_text(encoding="utf-8"))
_COLOUR, _PLACE, _NUMBER, _EDGE = (
    re.compile(_TABLE[name], re.VERBOSE) for name in ("colour", "place", "number", "edge")
)
_NEVER = {**dict.fromkeys(("dark", "bright", "contrast"), (_COLOUR,)), "crop": (_NUMBER, _EDGE)}
_NEVER["turn"] = (_PLACE, _NUMBER, _EDGE)
"""The words that exclude a kind of change. Each list is too long rather than too short: a change that is left out costs
little, but a change that makes the truth false would count against a model that is right."""
WORDING = "wording"
WORDS = "the texts speak of numbers or edges"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    # ``images`` change whole images, ``parts`` a thing of a drawn scene or a region of a photograph, and ``wordings`` a
    # text. ``left_out`` says which wordings are missing, and why; empty if none are. ``no_parts`` says why there are no
    # parts. ``truth`` decides about edited scenes, None if nothing is drawn.

    images: tuple[tuple[Move, ...], ...]
    wordings: tuple[Move, ...]
    left_out: str = ""
    parts: tuple[tuple[Move, ...], ...] = ()
    no_parts: str = ""
    truth: Truth | None = None

    @property
    def directions(self) -> tuple[tuple[Move, ...], ...]:
        return (*((self.wordings,) if self.wordings else ()), *self.images, *self.parts)


def space(case: Case, families: Collection[Family] = FAMILIES) -> Space:
    # In a drawn scene, one thing is moved, resized, recoloured or removed if the reader of the drawn world, which looks
    # at the edited graph, finds every text as true as before. In a photograph, a region is covered that touches no box
    # of what the texts name.
    # Words for colours exclude changes of brightness and contrast, words for places exclude rotation, and words for
    # numbers, edges and corners exclude cropping and rotation. An image that is already perturbed also excludes
    # cropping and rotation, because it may have been cropped to the objects in question. The words of all texts,
    # choices and answers of the case count.
    texts = " ".join(text for request in case.requests for text in (text_of(request).words, *text_of(request).choices))
    texts = " ".join([texts, *(truth for truth in case.truths if isinstance(truth, str))]).lower()
    images = [image for request in case.requests for image in images_of(request)]
    tight = {"crop", "turn"} if any("#" in image.key for image in images) else set()
    never = {kind for kind, words in _NEVER.items() if any(one.search(texts) for one in words)}
    kinds = [kind for kind in IMAGE_MOVES if images and kind not in tight | never]
    truth = Truth() if any(graph_of(image) is not None for image in images) else None
    truth = truth if truth is not None and truth.keeps(case) else None
    wordings, left_out = _wordings(case, truth) if "wording" in families else ((), "")
    covers = "region" in families and not any(one.search(texts) for one in (_NUMBER, _EDGE))
    spoken = WORDS if images and "region" in families and truth is None else ""
    regions, why = region_moves(case) if covers else ((), spoken)
    scenes = scene_moves(case, truth) if "scene" in families and truth is not None else ()
    graphs = [graph for image in images if (graph := graph_of(image)) is not None]
    directions = [uncut(IMAGE_MOVES[kind], graphs) for kind in kinds] if "image" in families else []
    return Space(
        images=tuple(filter(None, directions)),
        wordings=wordings,
        left_out=left_out,
        parts=(*scenes, *regions),
        no_parts="" if scenes else why,
        truth=truth,
    )


def _wordings(case: Case, truth: Truth | None) -> tuple[tuple[Move, ...], str]:
    # Of a drawn scene, only those are kept that the reader finds as true as before.
    texts = dict.fromkeys(text_of(request) for request in case.requests)
    parses = [parsed(text.words) for text in texts]
    lacking = next((why for why in parses if isinstance(why, str) and why), "")
    found = [
        (_share(text, instead), text, instead)
        for text, parse in zip(texts, parses, strict=True)
        for instead in _others(text, None if isinstance(parse, str) else parse)
        if instead not in texts
    ]
    pairs = any(isinstance(said, bool) for said in case.truths)
    true = {text_of(request) for request, said in zip(case.requests, case.truths, strict=True) if said is True}
    moves = tuple(
        Move(
            kind=WORDING,
            strength=number,
            says=_in_words(text.words, instead.words),
            distance=distance,
            text=text,
            instead=instead,
            family="wording",
            about="a true text" if text in true else "a false text" if pairs else "a question",
        )
        for number, (distance, text, instead) in enumerate(sorted(found, key=itemgetter(0)), start=1)
    )
    if truth is not None:
        moves = tuple(move for move in moves if truth.keeps(perturbed(case, (move,))))
    return moves, LEFT_OUT.format(why=lacking) if lacking else ""


def _others(text: Text, parse: Parsed | None) -> Iterator[Text]:
    from vlgate.perturb.questions.readings import agrees
    from vlgate.perturb.text.conjunct_order import reverse_choices, rewordings

    found = (*rewordings(text.words, text.choices, parse), *(() if text.choices else restated(text.words)))
    for words in dict.fromkeys(found):
        yield Text(words=words, choices=text.choices)
    reverse = reverse_choices(text.words, text.choices) if agrees(text.words) else None
    if reverse is not None:
        yield Text(words=reverse[0], choices=reverse[1])


def _share(text: Text, other: Text) -> float:
    words, others = text.words.split(), other.words.split()
    return max(1 - SequenceMatcher(None, words, others, autojunk=False).ratio(), 1 / (len(words) + len(others)))


def _in_words(text: str, other: str) -> str:
    a, b = text.split(), other.split()
    start = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    left = min(len(a), len(b)) - start
    stop = next((at for at in range(left) if a[-1 - at] != b[-1 - at]), left)
    if start and min(len(a), len(b)) == start + stop:  # words are only added or removed: keep the word before them
        start -= 1
    old, new = (" ".join(words[start : len(words) - stop]) for words in (a, b))
    return f"{old!r} to {new!r}" if old and new else f"{text!r} to {other!r}"
