"""A detector's configuration: its layers and its thresholds, read from ``config.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError

_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A Faster R-CNN with attributes; the defaults are those of the Visual Genome detector of bottom-up attention.

    ``blocks`` are the numbers of bottlenecks of res2 to res5. The first stage has ``width`` channels inside a
    bottleneck and ``res2`` at its output. ``mean`` and ``std`` are for blue, green and red, in 0..255. ``overlaps`` are
    the thresholds of the final suppression of boxes; they are tried in order until ``detections`` boxes remain.
    """

    blocks: tuple[int, ...] = _BLOCKS[101]
    stem: int = 64
    width: int = 64
    res2: int = 256
    stride_in_1x1: bool = True
    caffe_maxpool: bool = True
    halve_res5: bool = False
    rpn_hidden: int = 512
    anchor_sizes: tuple[float, ...] = (64, 128, 256, 512)
    aspect_ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    anchor_offset: float = 0.0
    rpn_weights: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    rpn_overlap: float = 0.7
    proposals_before: int = 6000
    proposals_after: int = 300
    smallest: float = 0.0
    pooled: int = 14
    objects: int = 1600
    attributes: int = 400
    agnostic: bool = False
    box_weights: tuple[float, ...] = (10.0, 10.0, 5.0, 5.0)
    overlaps: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    detections: int = 36
    short: int = 600
    long: int = 1000
    mean: tuple[float, ...] = (102.9801, 115.9465, 122.7717)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)

    @property
    def stride(self) -> int:
        """Pixels of the resized image per position of the feature map."""
        return 16

    @property
    def features(self) -> int:
        """Numbers per box: the channels of res5."""
        return 8 * self.res2

    @property
    def anchors(self) -> int:
        """Anchors per position of the feature map."""
        return len(self.anchor_sizes) * len(self.aspect_ratios)


def read_config(file: Path) -> Config:
    """Read a detector's ``config.yaml``, which has the names of ``unc-nlp/frcnn-vg-finetuned``, in upper or lower case.

    ``input.format`` is ignored: the mean is in the order blue, green, red, and so is the network's input.

    Raises: ModelLoadError if the file cannot be read, lacks a value, or asks for a layer that is not supported.
    """
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise ModelLoadError(f"{file}: is not a regular file; download it again")
    try:
        content = _lower(_parsed(file))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelLoadError(f"{file}: cannot be read ({error}); download it again") from None
    try:
        return _config(content)
    except KeyError as error:
        raise ModelLoadError(
            f"{file}: lacks {error}; expected a configuration like that of frcnn-vg-finetuned"
        ) from None
    except (TypeError, ValueError, IndexError) as error:
        raise ModelLoadError(f"{file}: {error}; expected a configuration like that of frcnn-vg-finetuned") from None


def _parsed(file: Path) -> object:
    try:
        yaml: Any = import_module("yaml")
    except ModuleNotFoundError:
        raise ModelLoadError(f"{file}: needs PyYAML, which is not installed; pip install 'vlgate[hf]'") from None
    # Plain values only, and tuples, for which detectron2 writes a tag of its own.
    loader: Any = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda self, node: self.construct_sequence(node))
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None


def _lower(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key).lower(): _lower(inner) for key, inner in value.items()}
    return value


def _config(content: Any) -> Config:
    if not isinstance(content, Mapping):
        raise TypeError(f"holds a {type(content).__name__}, expected names with values")
    resnet, rpn, anchors = content["resnets"], content["rpn"], content["anchor_generator"]
    heads, box, size = content["roi_heads"], content["roi_box_head"], content["input"]
    made = content["proposal_generator"]
    _check_built(resnet, box, content)
    hidden = made["hidden_channels"]
    overlaps = heads["nms_thresh_test"]
    return Config(
        blocks=_BLOCKS[resnet["depth"]],
        stem=int(resnet["stem_out_channels"]),
        width=int(resnet["width_per_group"]),
        res2=int(resnet["res2_out_channels"]),
        stride_in_1x1=bool(resnet["stride_in_1x1"]),
        caffe_maxpool=bool(content["model"]["max_pool"]),
        halve_res5=bool(box["res5halve"]),
        rpn_hidden=4 * int(resnet["res2_out_channels"]) if hidden == -1 else int(hidden),
        anchor_sizes=_numbers(anchors["sizes"][0]),
        aspect_ratios=_numbers(anchors["aspect_ratios"][0]),
        anchor_offset=float(anchors["offset"]),
        rpn_weights=_numbers(rpn["bbox_reg_weights"]),
        rpn_overlap=float(rpn["nms_thresh"]),
        proposals_before=int(rpn["pre_nms_topk_test"]),
        proposals_after=int(rpn["post_nms_topk_test"]),
        smallest=float(made["min_size"]),
        pooled=int(box["pooler_resolution"]),
        objects=int(heads["num_classes"]),
        attributes=int(box["num_attrs"]),
        agnostic=bool(box["cls_agnostic_bbox_reg"]),
        box_weights=_numbers(box["bbox_reg_weights"]),
        overlaps=_numbers(overlaps if isinstance(overlaps, list) else [overlaps]),
        detections=int(content["max_detections"]),
        short=int(size["min_size_test"]),
        long=int(size["max_size_test"]),
        mean=_numbers(content["model"]["pixel_mean"]),
        std=_numbers(content["model"]["pixel_std"]),
    )


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _check_built(resnet: Any, box: Any, content: Any) -> None:
    expected = (
        ("resnets.norm", resnet["norm"], "BN"),
        ("resnets.num_groups", resnet["num_groups"], 1),
        ("resnets.depth", resnet["depth"], tuple(_BLOCKS)),
        ("resnets.out_features", resnet["out_features"], ["res4"]),
        ("roi_box_head.attr", box["attr"], True),
        ("min_detections", content["min_detections"], content["max_detections"]),
    )
    for name, value, right in expected:
        if value != right and not (isinstance(right, tuple) and value in right):
            raise ValueError(f"{name} is {value!r}, expected {right!r}")
