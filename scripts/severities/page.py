"""The page about the severities: its text, around the measured figures."""

from __future__ import annotations

from severities.structure import READABLE

TEXT = """\
# Severities

Nine perturbations of images have severities from 1 to 5, after ImageNet-C (Hendrycks and Dietterich 2019). Each
severity leaves the image readable, so a miss tells something about the model; higher severities are harder.

<!-- Written by scripts/write_severities.py; change the code, then run it. -->

## What can still be read

A model that had not seen the originals read contact sheets of perturbed images: it named things of the drawn scenes
and described photographs of COCO. Its answers were compared with the scene graph and with COCO's captions. The samples
are small. Severities at which a third of the photographs or more could not be described, or a quarter of the things
not be named, were replaced: 4 and 5 of ImageNet-C's contrast, and 5 of its two blurs.

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

The tests hold a number instead: the structure common to the drawn scenes and the perturbed ones (the
contrast and structure of SSIM, Wang et al. 2004, in `scripts/severities/structure.py`). It falls with each severity,
and stays above {readable:.2f}, unlike that of each replaced severity 5. A rotation moves the structure and
leaves it whole; at severity 5, 2 % of the drawn things lose more than half of themselves at the edge.

The suite's tasks use none of these: `visual-inv` hides the background with `blur3`, `blur6`, `blur9`, `mask` and
`crop`, which leave the objects of the question intact.

## Accuracy

The two trained models, asked about the same 240 drawn cases at each severity; 0 is the unchanged image. The cases
are those of `existence`, `foil-it`, `attributes` and `attribute-state`, and chance is 0.5.

![Accuracy over severity, for each perturbation](images/severities.svg)

Each figure is `acc_r` with its 95 % interval. The last column lists rises: pairs of severities with significantly
better figures at the higher one (McNemar's exact test, at 5 % for all fifteen pairs of a curve together).

| model | perturbation | 0 | 1 | 2 | 3 | 4 | 5 | rises |
|---|---|---|---|---|---|---|---|---|
{curves}

The trained models fail on readable images. `tiny-lxmert` finds regions by their contrast with the
background, so it is at chance from the first severity of contrast on. At the severities 4 and 5 of Gaussian
noise it is near chance, as in shot noise from 3 on. `tiny-clip` sees images reduced to 192 x 192 pixels, which
pixelation and JPEG hardly change.

## Hidden backgrounds

The questions of `visual-inv`, sixteen of each of twelve seeds, asked of `tiny-lxmert` before and after.

| perturbation | questions | unchanged | perturbed |
|---|---|---|---|
{hidden}
"""


def page(curves: str, hidden: str) -> str:
    """Return the page with the rows of its two measured tables."""
    return TEXT.format(readable=READABLE, curves=curves, hidden=hidden)
