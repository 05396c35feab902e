"""``tiny-lxmert`` and ``tiny-clip``: small models that were trained on the drawn scenes, in the package itself.

Each is a folder of ``fixtures/checkpoints`` that is loaded like any other folder of its family; its README says what it
was trained on and what it reaches. The start of every run checks the default model, so what a family needs is imported
when a model is built, or when there are options to check.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import vlgate
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.load_errors import missing_package
from vlgate.models.specs import registered

if TYPE_CHECKING:
    from vlgate.models.dual.open_clip import OpenClip
    from vlgate.models.regions.lxmert import Lxmert

LXMERT, CLIP = "tiny-lxmert", "tiny-clip"
PACKAGES = ("torch", "torchvision", "transformers")
NEEDS_NOTHING = "--model=bag-of-words"  # the embedded model for a machine without torch


def checkpoint(name: str) -> Path:
    folder = Path(vlgate.__file__).parent / "fixtures" / "checkpoints" / name
    if not folder.is_dir():
        raise ModelLoadError(
            f"{name}: there is no folder {folder}; reinstall vlgate, or run `make train` in a checkout"
        )
    return folder


def build_lxmert(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    from vlgate.models.regions import lxmert

    check_lxmert(weights, folder)
    return lxmert.build(f"{checkpoint(LXMERT)}{weights}", folder, device, dtype)


def check_lxmert(weights: str, folder: Path) -> None:
    # imports neither torch nor transformers
    lacking = [package for package in PACKAGES if find_spec(package) is None]
    if lacking:
        raise ModelLoadError(f"{LXMERT}: {missing_package(lacking[0], 'hf')}, or use {NEEDS_NOTHING}, which needs none")
    folder_of_weights = checkpoint(LXMERT)
    if not weights:
        return
    from vlgate.models.regions import lxmert

    if registered()["lxmert"].parsed(weights)[0]:
        raise ModelLoadError(f"{LXMERT}:{weights}: its weights are in the package; write lxmert:{weights} for others")
    lxmert.check(f"{folder_of_weights}{weights}", folder)


def build_clip(device: str = "cpu", dtype: str = "float32") -> OpenClip:
    from vlgate.models.dual import open_clip

    return open_clip.build(str(checkpoint(CLIP)), Path(), device, dtype)
