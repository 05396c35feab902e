"""The sentence of a case that is judged by scores alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vlgate.types import Shape

Values = Sequence[float]


def why_scored(shape: Shape, values: Values, cut: int = 0) -> str:
    """Return the sentence of a judged case.

    Args:
        shape: the shape of the case.
        values: the scores of its requests.
        cut: of how many texts the model did not read the end.
    """
    sentence = _SENTENCES[shape](values)
    return f"{sentence}; the model did not read the end of {cut} of {len(values)} texts" if cut else sentence


def _pair(values: Values) -> str:
    caption, foil = values
    order = "above" if caption > foil else "level with" if caption == foil else "below"
    return f"the caption scores {caption:.6g}, {order} the foil's {foil:.6g}"


def _quad(values: Values) -> str:
    i0c0, i0c1, i1c0, i1c1 = values
    held = (i0c0 > i0c1) + (i1c1 > i1c0) + (i0c0 > i1c0) + (i1c1 > i0c1)
    scores = f"image 0: {i0c0:.6g}, {i0c1:.6g}; image 1: {i1c0:.6g}, {i1c1:.6g}"
    return f"{held} of 4 comparisons hold ({scores})"


def _twin_captions(values: Values) -> str:
    _, _, usual, own = values
    why = "; the counterfactual image fits the caption of the normal one better" if usual > own else ""
    return _quad(values) + why


def _set(values: Values) -> str:
    true_1, true_2, false_1, false_2 = values
    held = sum(true > false for true in (true_1, true_2) for false in (false_1, false_2))
    listed = f"true: {true_1:.6g}, {true_2:.6g}; false: {false_1:.6g}, {false_2:.6g}"
    return f"{held} of 4 comparisons of a true with a false sentence hold ({listed})"


_SENTENCES: Mapping[Shape, Callable[[Values], str]] = {
    "pair": _pair,
    "quad": _quad,
    "image_quad": _quad,
    "twin_captions": _twin_captions,
    "set": _set,
    "active_passive_set": _set,
}
