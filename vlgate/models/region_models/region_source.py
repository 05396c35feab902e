"""Opens the region features that a user names: the published detector, another detector, or files."""

from __future__ import annotations

from pathlib import Path

from vlgate.errors import ModelLoadError
from vlgate.models.regions.regions import COUNT, WIDTH, RegionSource


def check_regions(spec: str, folder: Path) -> None:
    """Check that the features or the detector that a user names exist; do not import torch.

    Raises: ModelLoadError if not.
    """
    from vlgate.models.region_files.feature_file import is_features

    path = folder / Path(spec).expanduser()
    if spec and not path.is_dir() and not (path.exists() and is_features(path)):
        problem = "is not a file of features" if path.exists() else "is not there"
        forms = "a .tsv in LXMERT's format, an LMDB in VOLTA's, a file of vlgate features"
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
    """Open the region features that a user names.

    Args:
        spec: ``""`` for the published detector (``unc-nlp/frcnn-vg-finetuned``), which runs on each image when it is
            requested; a folder with the ``config.yaml`` and the weights of such a detector; or features: a ``.tsv``
            in LXMERT's format, an LMDB in VOLTA's, or a folder, ``.safetensors`` or ``.npz`` in the format of
            ``vlgate features``.
        folder: the folder that relative paths start from.
        device: a name that ``torch.device`` takes, for the detector.
        dtype: the model's. The detector always runs in float32: small differences decide which boxes are kept.
        width: the numbers per box that the model takes; None for any.
        count: the boxes per image that the model takes; None for any.

    Returns: the source; the same image has the same regions, in any order and batch.
    Raises: ModelLoadError if the file or folder does not exist or holds no features, or a package is missing.
    """
    from vlgate.models.region_files.feature_file import feature_file, is_features

    check_regions(spec, folder)
    path = folder / Path(spec).expanduser()
    if spec and is_features(path):
        return feature_file(path, width=width, count=count)
    from vlgate.models.frcnn.source import detector_source

    return detector_source(spec, folder, device, width=width, count=count)
