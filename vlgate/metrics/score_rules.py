"""The rules of the shapes that rank texts and images by score: pair, set, choice, two_true, quad and twins."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Measure, wins
from vlgate.metrics.stats import area, smaller
from vlgate.types import FloatArray, Ties

# Metrics of pairs (VALSE §4, VL-CheckList §4, SugarCrepe): a caption and its foil, for one image.

PAIR_METRICS = ("acc_r", "acc", "p_c", "p_f", "min_pc_pf", "auroc")


def pair_case_metrics(scores: FloatArray, accepted: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each pair contributes to those metrics of VALSE that are means (Parcalabescu et al. 2022, §4).

    ``acc_r``: the caption scores above its foil. If the model also accepts or rejects both texts: ``p_c``: the caption
    is accepted; ``p_f``: the foil is rejected (both are class recalls, which the paper calls precisions); ``acc``: the
    mean of the two. ``tied``: both texts have exactly the same score.

    Args:
        scores: shape (n, 2), the scores of the caption and of the foil.
        accepted: shape (n, 2), 1.0 for yes, 0.0 for no, NaN if the model does not say.
        ties: what an exact tie counts in ``acc_r``.

    Returns: values by name, each of shape (n,), in 0..1; ``acc``, ``p_c`` and ``p_f`` are NaN if the model does not
        say yes or no to both texts.
    Raises: ValueError if a score is NaN.
    """
    yes, no = accepted[:, 0], 1.0 - accepted[:, 1]
    both = np.isfinite(yes) & np.isfinite(no)
    return {
        "acc_r": wins(scores[:, 0], scores[:, 1], ties),
        "acc": (yes + no) / 2,
        "p_c": np.where(both, yes, np.nan),
        "p_f": np.where(both, no, np.nan),
        "tied": (scores[:, 0] == scores[:, 1]).astype(np.float64),
    }


def pair_statistics(scores: FloatArray, accepted: FloatArray) -> dict[str, Measure]:
    """Return those metrics of VALSE that are not means, over the pairs whose two texts the model accepts or rejects.

    ``min_pc_pf`` is the smaller of the means ``p_c`` and ``p_f``. ``auroc`` is the area under the ROC curve of the
    scores of all captions and foils; a tie of a caption and a foil counts 1/2, whatever ``--ties`` is.
    """
    rows = np.flatnonzero(np.isfinite(accepted).all(axis=1))
    if not rows.size:
        return {}
    yes, no = accepted[rows, 0], 1.0 - accepted[rows, 1]
    return {
        "min_pc_pf": Measure(rows=rows, of=partial(smaller, yes, no)),
        "auroc": Measure(rows=rows, of=partial(area, scores[rows, 0], scores[rows, 1])),
    }


# Metrics of sets (BLA §5.3, §7.1): two true and two false sentences, ranked for one image.

_RANKED = ("sen_acc", "set_acc", "set_error")
SET_METRICS = (*_RANKED, "tp1_fp1", "tp2_fp2", "tp2_fp1", "tp1_fp2", "tp1_tp2", "fp1_fp2")
"""The thesis names a preference by its two sentences, in Table 7.4 by True or False, of Person 1 or 2."""
VOICE_SET_METRICS = (*_RANKED, "ta_fa", "tp_fp", "tp_fa", "ta_fp", "ta_tp", "fa_fp")
"""The same in Tables 7.1 and 7.3: True or False, Active or Passive."""
N_RANKED = len(_RANKED)  # the number of metrics of the ranking, before the six preferences
PREFERENCES = ((0, 2), (1, 3), (1, 2), (0, 3), (0, 1), (2, 3))
"""Which sentence is preferred to which, by their positions in a set, in the order of the names."""

_OVER_ORDERS: Mapping[Ties, Callable[..., FloatArray]] = {"strict": np.min, "half": np.mean, "credit": np.max}


def set_case_metrics(scores: FloatArray, names: Sequence[str], ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each set of four sentences, ranked by score, contributes to BLA's metrics (Chen 2022, §5.3, §7.1).

    ``sen_acc``: the share of sentences in the right half of the ranking, true ones above and false ones below;
    ``set_acc``: both true sentences are above; ``set_error``: both false sentences are above (a lower value is better).
    Chance is 1/2, 1/6 and 1/6. Each of the six preferences is 1 if the sentence named first scores above the second; a
    preference between two true sentences, or two false ones, is a bias but not an error.

    Tied sentences can be ranked in several orders. A property of the ranking counts 1 under ``strict`` if it holds in
    all of these orders, and under ``credit`` if it holds in any of them. Under ``half`` it counts the share of orders
    in which it holds, which is the mean of breaking ties at random. So under ``strict`` a tie between a true and a
    false sentence makes a set neither right nor an error, and a constant model has 0 everywhere. If no scores tie, and
    always under ``half``, ``sen_acc == 0.5 + (set_acc - set_error) / 2``.

    Args:
        scores: shape (n, 4), the scores of true_1, true_2, false_1 and false_2.
        names: the names of the metrics, ``SET_METRICS`` or ``VOICE_SET_METRICS``.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1; ``tied`` is 1 if a true and a false sentence tie.
    Raises: ValueError if a score is NaN.
    """
    preferred = [wins(scores[:, first], scores[:, second], ties) for first, second in PREFERENCES]
    # All 24 orders of four sentences break any tie in every way equally often: the shapes begin with (24, n, 4).
    orders = np.array(list(permutations(range(4))))
    earlier = orders[:, None, None, :] < orders[:, None, :, None]
    higher = scores[:, None, :] > scores[:, :, None]
    level = scores[:, None, :] == scores[:, :, None]
    above = np.asarray((higher[None] | (level[None] & earlier)).sum(axis=3) < 2, dtype=np.float64)
    over_orders = _OVER_ORDERS[ties]
    in_place = np.where([True, True, False, False], above, 1.0 - above)
    ranked = (
        over_orders(in_place, axis=0).mean(axis=1),
        over_orders(above[:, :, :2].min(axis=2), axis=0),
        over_orders(above[:, :, 2:].min(axis=2), axis=0),
    )
    found = dict(zip(names, (*ranked, *preferred), strict=True))
    return {**found, "tied": (scores[:, :2, None] == scores[:, None, 2:]).any(axis=(1, 2)).astype(np.float64)}


# Metrics of choices: one image with one true and several false texts, or one text and several images.
# The first form is that of What'sUp's controlled sets (Kamath et al. 2023, section 3) and of SPEC's image-to-text half
# (Peng et al. 2024); the second is that of SPEC's text-to-image half and of SVO-Probes (Hendricks, Nematzadeh 2021).

TEXT = "top1_text"
IMAGE = "top1_image"


def choice_case_metrics(scores: FloatArray, name: str, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each choice contributes to the share of choices whose true candidate has the highest score.

    Chance, for scores in random order without ties, is 1 / k for k candidates. ``tied``: the true candidate scores
    exactly as high as the best false one. Under ``half`` and ``credit`` a tie with one false candidate counts as one
    with several: released code that takes the first of the highest scores counts all ties as right if the true
    candidate comes first.

    Args:
        scores: shape (n, k), the true candidate first; NaN behind the last candidate of a case with fewer than k.
        name: ``TEXT`` or ``IMAGE``, the name of the metric.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a case has no score of its true candidate, or of no false one.

    >>> choice_case_metrics(np.array([[0.9, 0.1, 0.2], [0.4, 0.4, 0.1]]), TEXT)["top1_text"].tolist()
    [1.0, 0.0]
    """
    true, others = scores[:, 0], scores[:, 1:]
    if not bool(np.isfinite(others).any(axis=1).all()):
        raise ValueError("a choice has no score of a false candidate: expected at least one")
    best = np.nanmax(others, axis=1)
    return {name: wins(true, best, ties), "tied": (true == best).astype(np.float64)}


# Metrics of two true captions and a false one, for one image (Dumpala et al. 2024, SugarCrepe++, section 3).

TWO_TRUE_METRICS = ("itt", "itt_first", "itt_second")


def two_true_case_metrics(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each case contributes to the metrics of SugarCrepe++ that look at the image (section 3).

    ``itt``, the paper's image-to-text score: both true captions score above the false one; ``itt_first`` and
    ``itt_second``: that caption does. Chance, for scores in random order without ties, is 1/3, 1/2 and 1/2. ``tied``:
    a true caption and the false one have exactly the same score.
    """
    # shape (n, 3): the two true captions, then the false one
    first, second, false = scores.T
    won = wins(first, false, ties), wins(second, false, ties)
    tied = (first == false) | (second == false)
    return {"itt": won[0] * won[1], "itt_first": won[0], "itt_second": won[1], "tied": tied.astype(np.float64)}


# Metrics of quads (Winoground §3, equations 1 to 3): two images and two captions of the same words.

QUAD_METRICS = ("text", "image", "group", "group_match")
QUAD_TWIN_METRICS = ("text", "image", "group", "group_match", "acc_normal", "acc_counterfactual", "prior_rate")
"""Those of two captions of twins: a counterfactual image beside the normal one."""


def quad_case_metrics(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each quad contributes to the metrics of Winoground (Thrush et al. 2022, §3).

    ``text``: each image fits its own caption better than the other; ``image``: each caption fits its own image better
    than the other; ``group``: both. ``group_match``: the right assignment of captions to images has the higher sum of
    scores. Chance, for scores without ties, is 1/4, 1/4, 1/6 and 1/2. ``tied``: one of the four comparisons is a tie.

    A tied comparison makes a quad wrong under ``strict``, halves its value under ``half``, and counts as won under
    ``credit``.

    Args:
        scores: shape (n, 4): (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1).
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a score is NaN.
    """
    i0c0, i0c1, i1c0, i1c1 = scores.T
    text = wins(i0c0, i0c1, ties) * wins(i1c1, i1c0, ties)
    image = wins(i0c0, i1c0, ties) * wins(i1c1, i0c1, ties)
    tied = (i0c0 == i0c1) | (i0c0 == i1c0) | (i1c1 == i1c0) | (i1c1 == i0c1)
    match = wins(i0c0 + i1c1, i0c1 + i1c0, ties)
    found = {"text": text, "image": image, "group": text * image, "group_match": match}
    return {**found, "tied": tied.astype(np.float64)}


def quad_twin_case_metrics(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what two captions of two twins contribute: the metrics of a ``quad``, and three of each image by itself.

    ``acc_normal`` and ``acc_counterfactual``: the image fits its own caption better than the other one. ``prior_rate``:
    the counterfactual image fits the caption of the normal one better than its own; a lower rate is better. Chance, for
    scores without ties, is 1/2 for each of the three. A tie is neither right nor the prior under ``strict``, a half of
    both under ``half``, and right under ``credit``.
    """
    # shape (n, 4): the normal image with its caption and the other, its twin with the normal caption and its own
    normal, other, usual, own = scores.T
    against: Ties = "half" if ties == "half" else "strict"
    of_each = {"acc_normal": wins(normal, other, ties), "acc_counterfactual": wins(own, usual, ties)}
    return {**quad_case_metrics(scores, ties), **of_each, "prior_rate": wins(usual, own, against)}


def chosen_quad_case_metrics(won: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each quad contributes if a model chooses, asked with both images together, instead of scoring.

    ``text``: for each image its own caption is chosen; ``image``: for each caption its own image is chosen;
    ``group``: both. There are no scores, so there is no ``group_match``.
    """
    text, image = np.asarray(won[:, :2].all(axis=1)), np.asarray(won[:, 2:].all(axis=1))
    found = {"text": text, "image": image, "group": text & image}
    return {name: values.astype(np.float64) for name, values in found.items()}


def chosen_quad_twin_case_metrics(won: NDArray[np.bool_], prior: NDArray[np.bool_]) -> dict[str, FloatArray]:
    found = {"acc_normal": won[:, 0], "acc_counterfactual": won[:, 1], "prior_rate": prior}
    return {**chosen_quad_case_metrics(won), **{name: values.astype(np.float64) for name, values in found.items()}}
