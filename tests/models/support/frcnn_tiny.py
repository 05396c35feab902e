"""A detector with random weights that is small enough for tests, and images for it."""

import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import tables
import torch
import yaml
from PIL import Image

from vlgate.models.regions.detector_network import Config, network
from vlgate.types import LazyImage

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TINY = Config(**{name: tuple(value) if isinstance(value, list) else value for name, value in TABLE["tiny"].items()})
FIFTY = replace(TINY, blocks=(3, 4, 6, 3))
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
    settings = {name: [*value] if isinstance(value, tuple) else value for name, value in asdict(config).items()}
    return yaml.safe_dump(tables.filled(TABLE["yaml"], {}, settings) | changes)
