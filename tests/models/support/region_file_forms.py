"""Files of features in all formats, shared by the tests that read and make them."""

import base64
import os
import pickle

import numpy as np
import pytest

from vlgate.errors import ImageError
from vlgate.models.regions.feature_file import write_shard
from vlgate.models.regions.feature_records import FIELDS
from vlgate.models.regions.inputs import region_source
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage

N, D = 36, 16


def image(key):
    def load():
        raise ImageError(key, "there is no image", "none is needed")

    return LazyImage(key=key, load=load)


def regions(number, n=N, d=D):
    """An image's regions, with boxes as fractions."""
    random = np.random.default_rng(number)
    corners = np.sort(random.random((n, 2, 2)), axis=1).reshape(n, 4)
    return Regions(
        features=random.random((n, d)).astype(np.float32),
        boxes=corners.astype(np.float32),
        objects=random.integers(0, 1600, n),
        object_scores=random.random(n).astype(np.float32),
        attributes=random.integers(0, 400, n),
        attribute_scores=random.random(n).astype(np.float32),
    )


def text(array, kind=np.float32):
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes())


def line(key, one, height=300, width=500):
    """A line of a file in LXMERT's format."""
    columns = [
        key.encode(), str(height).encode(), str(width).encode(), text(one.objects, np.int64), text(one.object_scores),
        text(one.attributes, np.int64), text(one.attribute_scores), str(len(one.boxes)).encode(),
        text(one.boxes * [width, height, width, height]), text(one.features),
    ]  # fmt: skip
    return b"\t".join(columns)


def tsv(file, keys, **sizes):
    file.write_bytes(b"".join(line(key, regions(index), **sizes) + b"\n" for index, key in enumerate(keys)))
    return file


def item(one, height=300, width=500):
    """A dictionary of a database in VOLTA's format."""
    return {
        "img_h": height, "img_w": width, "num_boxes": len(one.boxes), "features": text(one.features),
        "boxes": text(one.boxes * [width, height, width, height]), "objects_id": text(one.objects, np.int64),
        "cls_prob": text(np.zeros((len(one.boxes), 3))),
    }  # fmt: skip


def database(path, items):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with lmdb.open(str(path), map_size=1 << 26) as opened, opened.begin(write=True) as write:
        write.put(b"keys", pickle.dumps([key.encode() for key in items]))
        for key, value in items.items():
            write.put(key.encode(), value if isinstance(value, bytes) else pickle.dumps(value))
    return path


def shard(folder, keys, detector="d"):
    folder.mkdir(exist_ok=True)
    write_shard(folder, keys, [regions(index) for index in range(len(keys))], detector)
    return folder


def npz(file, keys):
    every = [regions(index) for index in range(len(keys))]
    arrays = {name: np.stack([getattr(one, name) for one in every]) for name in FIELDS}
    np.savez(file, images=np.array(keys), **arrays)
    return file


def of(path, **needs):
    return region_source(str(path), path.parent, "cpu", **({"width": D} | needs))


def same(one, other, fields=FIELDS):
    for name in fields:
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-6), name
        assert getattr(one, name).dtype == getattr(other, name).dtype


class Harm:
    """An object that runs a program if Python's pickle loads it."""

    def __reduce__(self):
        return os.system, ("echo harm",)


KEYS = ["COCO_val2014_000000000391", "COCO_val2014_000000165831", "9", "ex_12_img_0"]
MADE = {
    "tsv": lambda folder: tsv(folder / "f.tsv", KEYS),
    "lmdb": lambda folder: database(folder / "f.lmdb", {key: item(regions(n)) for n, key in enumerate(KEYS)}),
    "folder": lambda folder: shard(folder / "f", KEYS),
    "safetensors": lambda folder: next(shard(folder / "f", KEYS).iterdir()),
    "npz": lambda folder: npz(folder / "f.npz", KEYS),
}
