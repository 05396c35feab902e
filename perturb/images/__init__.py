"""Perturbations of images: hide the background, cover the foreground, or degrade the whole image.

All functions take and return arrays of shape (h, w, 3), uint8, RGB. They do not change their arguments.
"""

from vlgate.perturb.images.background import blur_background, channel_mean, crop_to, cropped, mask_background, occlude
from vlgate.perturb.images.blur import defocus_blur, gaussian_blur, motion_blur
from vlgate.perturb.images.boxes import at_least, mirror_box, on_image, rescale
from vlgate.perturb.images.corruptions import (
    brightness,
    contrast,
    flip,
    gaussian_noise,
    greyscale,
    jpeg,
    pixelate,
    rotate,
    shot_noise,
)
from vlgate.perturb.images.pixels import IMAGENET_MEAN, Pixels
from vlgate.perturb.images.registry import PERTURBATIONS, Perturbation, perturbation, perturbed

__all__ = [
    "IMAGENET_MEAN",
    "PERTURBATIONS",
    "Perturbation",
    "Pixels",
    "at_least",
    "blur_background",
    "brightness",
    "channel_mean",
    "contrast",
    "crop_to",
    "cropped",
    "defocus_blur",
    "flip",
    "gaussian_blur",
    "gaussian_noise",
    "greyscale",
    "jpeg",
    "mask_background",
    "mirror_box",
    "motion_blur",
    "occlude",
    "on_image",
    "perturbation",
    "perturbed",
    "pixelate",
    "rescale",
    "rotate",
    "shot_noise",
]
