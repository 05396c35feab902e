"""Folds for cross-validation in which what distinguishes true from false texts is spread evenly.

A task may be balanced on purpose: "left" is true as often as "right". If one fold then holds more cases of "left", the
other folds hold more of "right", and a classifier trained on them is wrong about most cases of this fold: it comes out
below chance (Parker, Guenter and Bedo 2007, section 4). If each fold holds equal numbers of both, it is at chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from vlgate.health.grouping import FOLDS, fold_of, tied_images
from vlgate.types import Ask, Case, Match, images_of

_Stratum = tuple[str, str]
_FEWEST = 20
_MOST = 5_000


def stratified_folds(cases: Sequence[Case]) -> dict[str, int]:
    """Return the fold per image key, in 0..FOLDS - 1; the order of the cases makes no difference.

    Images that share a case have the same fold. The fold is a hash of the smallest key of its images. But if at least
    20 groups of images have the same contrast, for example between "left" and "right", and it is balanced, these are
    dealt to the folds in turn, those with "left" true and those with "right" true alike. All other contrasts keep the
    hash: if the truth decided their folds, tasks whose truths are random would come out above chance. So do the images
    of more than 5,000 cases, of which chance alone makes folds that are even: at 500 cases the hash costs 0.007.

    >>> stratified_folds([])
    {}
    """
    groups = tied_images(cases)
    if len(cases) > _MOST:
        return {key: fold_of(group) for key, group in groups.items()}
    contrasts: dict[str, list[_Stratum]] = {}
    for case in cases:
        key = next((image.key for asked in case.requests for image in images_of(asked)), None)
        if key is not None:
            contrasts.setdefault(groups[key], []).append(_stratum(case))
    strata: dict[str, dict[str, list[str]]] = {}
    for group, found in contrasts.items():
        kinds, sides = ("\0".join(part) for part in zip(*sorted(found), strict=True))
        strata.setdefault(kinds, {}).setdefault(sides, []).append(group)
    folds = {group: fold_of(group) for group in contrasts}
    for by_side in strata.values():
        if _balanced([len(members) for members in by_side.values()]):
            for members in by_side.values():
                folds |= {group: place % FOLDS for place, group in enumerate(sorted(members, key=_hash))}
    return {key: folds[group] for key, group in groups.items()}


def _balanced(sides: Sequence[int]) -> bool:
    """Whether two sides are so nearly equal that chance alone is an unlikely reason: to 0.1 standard deviations."""
    cases = sum(sides)
    return len(sides) == 2 and cases >= _FEWEST and 100 * (sides[0] - sides[1]) ** 2 <= cases


def _stratum(case: Case) -> _Stratum:
    """What distinguishes the true from the false texts of a case, or its choices, and which of them is true."""
    true, false = (
        {
            word
            for asked, truth in zip(case.requests, case.truths, strict=True)
            if isinstance(asked, Match) and (truth is True) is wanted
            for word in asked.text.lower().split()
        }
        for wanted in (True, False)
    )
    only, other = " ".join(sorted(true - false)), " ".join(sorted(false - true))
    choices = ["|".join(sorted(set(asked.choices))) for asked in case.requests if isinstance(asked, Ask)]
    pairs = zip(case.requests, case.truths, strict=True)
    answers = [str(truth) for asked, truth in pairs if isinstance(asked, Ask)]
    return "\0".join([*sorted((only, other)), *choices]), "\0".join([only if only != other else "", *answers])


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")
