"""The page about the severities: its text, around the measured figures."""

from __future__ import annotations

from severities.structure import READABLE

TEXT = """\
# Severities

Nine perturbations of images have severities from 1 to 5, after ImageNet-C (Hendrycks and Dietterich 2019). Each
severity leaves the image readable.

<!-- Written by scripts/write_severities.py; change the code, then run it. -->

## What can still be read

A model that had not seen the originals named things of drawn scenes and described photographs of COCO on contact
sheets of perturbed images. The samples are small. Severities at which a third of the photographs or more could not be
described, or a quarter of the things not be named, were replaced:

| perturbation | strength | things named | photographs described | now |
|---|---|---|---|---|
| contrast | 0.05, ImageNet-C's 5 | 8 of 8, the colors of 5 | 3 of 5 | left out |
| contrast | 0.1, ImageNet-C's 4 | 8 of 8 | 3 of 5 | left out |
| contrast | 0.15 | 12 of 12 | 5 of 5 | severity 5 |
| motion-blur | sigma 15, ImageNet-C's 5 | 6 of 8 | 3 of 5 | left out |
| motion-blur | sigma 12, ImageNet-C's 4 | 19 of 20 | 9 of 10 | severity 5 |
| motion-blur | sigma 10 | 11 of 12 | | severity 4 |
| defocus-blur | radius 10, ImageNet-C's 5 | 4 of 8 | 3 of 5 | left out |
| defocus-blur | radius 8, ImageNet-C's 4 | 7 of 8 | 3 of 5 | left out |
| defocus-blur | radius 7 | 11 of 12 | 5 of 5 | severity 5 |
| defocus-blur | radius 6, ImageNet-C's 3 | 18 of 20 | 4 of 5 | severity 4 |
| defocus-blur | radius 5 | 11 of 12 | 5 of 5 | severity 3 |
| pixelate | severity 5 | 8 of 8 | 5 of 5 | as it was |
| gaussian-noise | severity 5 | 8 of 8 | 5 of 5 | as it was |
| shot-noise | severity 5 | 20 of 20 | | as it was |
| brightness, jpeg | severity 5 | 16 of 16 | | as it was |

The structure common to a drawn scene and its perturbed copy (contrast and structure of SSIM, Wang et al. 2004, in
`scripts/severities/structure.py`) falls with each severity, and stays above {readable:.2f}. At severity 5 of a
rotation, 2 % of the drawn things lose more than half of themselves at the edge.

The suite's tasks use none of these severities.

## Accuracy

The two trained models, asked about the same 240 drawn cases of `existence`, `foil-it`, `attributes` and
`attribute-state` at each severity; 0 is the unchanged image, and chance is 0.5.

![Accuracy over severity, for each perturbation](images/severities.svg)

Each figure is `acc_r` with its 95 % interval. The last column lists rises: pairs of severities with significantly
better figures at the higher one (McNemar's exact test, at 5 % for all fifteen pairs of a curve together).

| model | perturbation | 0 | 1 | 2 | 3 | 4 | 5 | rises |
|---|---|---|---|---|---|---|---|---|
{curves}

The trained models fail on readable images. `tiny-lxmert` finds regions by their contrast with the background.
`tiny-clip` sees images reduced to 192 x 192 pixels, which pixelation and JPEG hardly change.

## Hidden backgrounds

`visual-inv` hides the background with these, and leaves the objects of the question intact. `tiny-lxmert` answers
before and after:

| perturbation | questions | unchanged | perturbed |
|---|---|---|---|
{hidden}
"""


def page(curves: str, hidden: str) -> str:
    """Return the page with the rows of its two measured tables."""
    return TEXT.format(readable=READABLE, curves=curves, hidden=hidden)
