"""Region features of pictures, as LXMERT, VisualBERT, ViLBERT and UNITER see them: 36 boxes with a vector each.

They are made by the Visual Genome Faster R-CNN (Anderson et al., CVPR 2018) while the model runs, or read from files
that were made before. Which of the two is behind a ``RegionSource`` makes no difference to a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import ModelLoadError
from vlgate.types import Picture

COUNT = 36
"""Boxes a picture: the number with which LXMERT, and VOLTA's controlled models, were trained."""
WIDTH = 2048
"""Numbers a box: the channels of the detector's last stage."""

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regions:
    """What a detector sees in one picture: n boxes, the most certain first where the detector orders them.

    ``features`` are of shape (n, d), ``boxes`` of shape (n, 4): x1, y1, x2, y2 in 0..1, from the left and from the
    top. The rest, of shape (n,) each, is None where it is not known: ``objects`` and ``attributes`` are places in
    the 1,600 object and 400 attribute names of the detector's vocabulary, with their probabilities.
    """

    features: Float32
    boxes: Float32
    objects: Int64 | None = None
    object_scores: Float32 | None = None
    attributes: Int64 | None = None
    attribute_scores: Float32 | None = None


class RegionSource(Protocol):
    """Where region features come from.

    ``fingerprint`` says all that they depend on but the picture; ``note`` says in words where they come from.
    """

    @property
    def fingerprint(self) -> str:
        """A string that is another wherever the features may be others."""

    @property
    def note(self) -> str:
        """Where the features come from, for the report."""

    def regions(self, pictures: Sequence[Picture]) -> list[Regions]:
        """Give the regions of each picture; one that is asked for several times is seen once.

        Give one picture a request, repeated where requests share it: the positions in NoReplyError are then those
        of the requests.

        Returns: n regions, each with features of shape (count, width) and boxes of shape (count, 4), as they were
        asked of ``region_source``: (36, 2048) and (36, 4).
        Raises: PictureError for a picture that the detector is to see and that cannot be decoded; NoReplyError with
        the positions of the pictures that a file of features lacks or holds damaged, or in which the detector finds too
        little.
        """


def check_regions(spec: str, folder: Path) -> None:
    """Say whether the features or the detector that a user means are there; imports no torch.

    Raises: ModelLoadError.
    """
    from vlgate.models.region_files import is_features

    path = folder / Path(spec).expanduser()
    if spec and not path.is_dir() and not (path.exists() and is_features(path)):
        problem = "is no file of features" if path.exists() else "is not there"
        forms = "a .tsv as of LXMERT, an LMDB as of VOLTA, or what vlgate features writes"
        raise ModelLoadError(f"regions={spec!r}: {path} {problem}; expected {forms}, or a detector's folder")


def region_source(
    spec: str,
    folder: Path,
    device: str,
    dtype: str,  # noqa: ARG001  # the detector always runs in float32
    *,
    width: int | None = WIDTH,
    count: int | None = COUNT,
) -> RegionSource:
    """Find the region features that a user means.

    Args:
        spec: ``""`` for the published detector (``unc-nlp/frcnn-vg-finetuned``), which sees each picture as it is
            asked for; a folder with the ``config.yaml`` and the weights of such a detector; or features: a ``.tsv``
            as LXMERT has them, an LMDB as VOLTA has them, or a folder, ``.safetensors`` or ``.npz`` as ``vlgate
            features`` writes them.
        folder: where the user started; relative paths begin there.
        device: a name that ``torch.device`` takes, for the detector.
        dtype: of the model. The detector runs in float32 all the same: which boxes survive rests on small differences.
        width: how many numbers a box the model takes; None for any.
        count: how many boxes a picture the model takes; None for any.

    Returns: the source; the same picture has the same regions, in any order and batch.
    Raises: ModelLoadError where there is no such file or folder, it is no features, or a package is missing.
    """
    from vlgate.models.region_files import feature_file, is_features

    check_regions(spec, folder)
    path = folder / Path(spec).expanduser()
    if spec and is_features(path):
        return feature_file(path, width=width, count=count)
    from vlgate.models.frcnn import detector_source

    return detector_source(spec, folder, device, width=width, count=count)
