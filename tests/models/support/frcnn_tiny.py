"""A detector with random weights that is small enough for tests, and images for it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

from vlgate.models.regions.detector_network import Config, network
from vlgate.types import LazyImage

TINY = Config(
    blocks=(2, 1, 1, 1),
    stem=8,
    width=4,
    res2=16,
    rpn_hidden=16,
    anchor_sizes=(16, 32, 48, 64),
    objects=20,
    attributes=10,
    detections=6,
    short=64,
    long=110,
    pooled=6,
    proposals_before=200,
    proposals_after=20,
)
SIZES = ((50, 70), (80, 40), (33, 97), (64, 64), (97, 33), (20, 200))


def lively(config, seed):
    """A network with random weights, in its normalisation too, which is the identity at first."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        made = network(config)
        for name, value in made.state_dict().items():
            if name.endswith("norm.bias"):
                value.normal_(0, 0.3)
            elif name.endswith(("norm.weight", "running_var")):
                value.uniform_(0.7, 1.5)
    return made


def drawn(number, size=(50, 70)):
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (*size, 3), dtype=np.uint8))


def images():
    return [LazyImage(key=f"p{n}", load=lambda n=n, size=size: drawn(n, size)) for n, size in enumerate(SIZES)]


def same(one, other, tolerance=1e-4):
    assert one.features == pytest.approx(other.features, rel=tolerance, abs=tolerance)
    assert one.boxes == pytest.approx(other.boxes, abs=tolerance)
    assert (one.objects == other.objects).all()
    assert (one.attributes == other.attributes).all()
    assert one.object_scores == pytest.approx(other.object_scores, abs=tolerance)
    assert one.attribute_scores == pytest.approx(other.attribute_scores, abs=tolerance)


def config_yaml(config=TINY, **changes):
    """A configuration with the names of the published one; depth 50 stands for any number of blocks."""
    content = {
        "MODEL": {"MAX_POOL": config.caffe_maxpool, "PIXEL_MEAN": [*config.mean], "PIXEL_STD": [*config.std]},
        "resnets": {
            "depth": 50, "norm": "BN", "num_groups": 1, "out_features": ["res4"], "stem_out_channels": config.stem,
            "width_per_group": config.width, "res2_out_channels": config.res2, "stride_in_1x1": config.stride_in_1x1,
        },
        "rpn": {
            "bbox_reg_weights": [*config.rpn_weights], "nms_thresh": config.rpn_overlap,
            "pre_nms_topk_test": config.proposals_before, "post_nms_topk_test": config.proposals_after,
        },
        "anchor_generator": {
            "sizes": [[*config.anchor_sizes]], "aspect_ratios": [[*config.aspect_ratios]], "offset": 0.0,
        },
        "proposal_generator": {"hidden_channels": config.rpn_hidden, "min_size": 0},
        "roi_heads": {"num_classes": config.objects, "nms_thresh_test": [*config.overlaps]},
        "roi_box_head": {
            "pooler_resolution": config.pooled, "res5halve": config.halve_res5, "attr": True,
            "num_attrs": config.attributes, "cls_agnostic_bbox_reg": False, "bbox_reg_weights": [*config.box_weights],
        },
        "input": {"min_size_test": config.short, "max_size_test": config.long, "format": "BGR"},
        "min_detections": config.detections, "max_detections": config.detections,
    }  # fmt: skip
    return yaml.safe_dump(content | changes)


FIFTY = replace(TINY, blocks=(3, 4, 6, 3))
