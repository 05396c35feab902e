"""A slow reference of the published detector, from its weights alone, for one image at a time."""

import math

import numpy as np
import torch
import torchvision
from torch.nn.functional import conv2d, interpolate, linear, max_pool2d
from torchvision.models.detection._utils import BoxCoder
from torchvision.ops import clip_boxes_to_image, nms

LARGEST = math.log(1000 / 16)


def slow_regions(state, config, image):
    """Features, boxes as fractions, objects, their probabilities, attributes and theirs, as numpy arrays."""
    pixels = seen(config, image)
    size = tuple(pixels.shape[2:])
    features = backbone(state, config, pixels)
    boxes = proposed(state, config, features, size)
    pooled = torchvision.ops.RoIPool(config.pooled, 1 / 16)(features, [boxes])
    for index in range(config.blocks[3]):
        stride, dilation = (2 if index == 0 else 1, 1) if config.halve_res5 else (1, 2)
        pooled = block(state, config, f"roi_heads.res5.{index}", pooled, stride, dilation)
    return tuple(one.numpy() for one in chosen(state, config, pooled.mean((2, 3)), boxes, size))


def seen(config, image):
    blue_first = torch.from_numpy(np.array(image)[:, :, ::-1].copy()).float().permute(2, 0, 1)[None]
    scale = min(config.short / min(image.size), config.long / max(image.size))
    size = [math.floor(scale * side + 0.5) for side in (image.height, image.width)]
    resized = interpolate(blue_first, size, mode="bilinear", align_corners=False)
    return (resized - torch.tensor(config.mean)[:, None, None]) / torch.tensor(config.std)[:, None, None]


def normed(state, name, features, **how):
    mean, variance, weight, bias = (
        state[f"{name}.norm.{part}"][:, None, None] for part in ("running_mean", "running_var", "weight", "bias")
    )
    return (conv2d(features, state[f"{name}.weight"], **how) - mean) / (variance + 1e-5).sqrt() * weight + bias


def block(state, config, name, features, stride=1, dilation=1):
    first, second = (stride, 1) if config.stride_in_1x1 else (1, stride)
    inner = normed(state, f"{name}.conv1", features, stride=first).relu()
    inner = normed(state, f"{name}.conv2", inner, stride=second, padding=dilation, dilation=dilation).relu()
    inner = normed(state, f"{name}.conv3", inner)
    if f"{name}.shortcut.weight" in state:
        features = normed(state, f"{name}.shortcut", features, stride=stride)
    return (inner + features).relu()


def backbone(state, config, pixels):
    features = normed(state, "backbone.stem.conv1", pixels, stride=2, padding=3).relu()
    features = max_pool2d(features, 3, 2, padding=0 if config.caffe_maxpool else 1, ceil_mode=config.caffe_maxpool)
    for stage, blocks in zip((2, 3, 4), config.blocks, strict=False):
        for index in range(blocks):
            stride = 2 if stage > 2 and index == 0 else 1
            features = block(state, config, f"backbone.res{stage}.{index}", features, stride)
    return features


def proposed(state, config, features, size):
    head = {name.removeprefix("proposal_generator.rpn_head."): value for name, value in state.items()}
    hidden = conv2d(features, head["conv.weight"], head["conv.bias"], padding=1).relu()
    scores, deltas = (
        conv2d(hidden, head[f"{name}.weight"], head[f"{name}.bias"])[0]
        for name in ("objectness_logits", "anchor_deltas")
    )
    found = []
    for row in range(features.shape[2]):
        for column in range(features.shape[3]):
            for index in range(config.anchors):
                size_of, aspect = divmod(index, len(config.aspect_ratios))
                width = config.anchor_sizes[size_of] / math.sqrt(config.aspect_ratios[aspect])
                height = config.anchor_sizes[size_of] * math.sqrt(config.aspect_ratios[aspect])
                x, y = 16 * column, 16 * row
                anchor = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
                delta = deltas[4 * index : 4 * index + 4, row, column]
                found.append((scores[index, row, column], delta, torch.tensor(anchor)))
    found = sorted(found, key=lambda one: -float(one[0]))[: config.proposals_before]
    values, deltas, anchors = (torch.stack(part) for part in zip(*found, strict=True))
    boxes = clip_boxes_to_image(BoxCoder(config.rpn_weights, LARGEST).decode_single(deltas, anchors), size)
    whole = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    boxes, values = boxes[whole], values[whole]
    return boxes[nms(boxes, values, config.rpn_overlap)[: config.proposals_after]]


def chosen(state, config, features, boxes, size):
    def said(name, inner):
        return linear(inner, state[f"{name}.weight"], state[f"{name}.bias"])

    head = "roi_heads.box_predictor"
    objects = said(f"{head}.cls_score", features)
    with_object = torch.cat((features, state[f"{head}.cls_embedding.weight"][objects.argmax(1)]), 1)
    attributes = said(f"{head}.attr_score", said(f"{head}.fc_attr", with_object).relu())
    scores, likeliest = objects.softmax(1)[:, :-1].max(1)
    deltas = torch.stack(
        [row[4 * one : 4 * one + 4] for row, one in zip(said(f"{head}.bbox_pred", features), likeliest, strict=True)]
    )
    moved = clip_boxes_to_image(BoxCoder(config.box_weights, LARGEST).decode_single(deltas, boxes), size)
    kept = next(
        some
        for overlap in config.overlaps
        if len(some := nms(moved, scores, overlap)[: config.detections]) == config.detections
    )
    sure, attribute = attributes[kept, :-1].softmax(1).max(1)
    fractions = moved[kept] / torch.tensor([size[1], size[0]] * 2)
    return features[kept], fractions, likeliest[kept], scores[kept], attribute, sure
