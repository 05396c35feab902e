"""Find the regions of images once, for models that see regions, and write them into files.

The detector is the Visual Genome Faster R-CNN of bottom-up attention. To give the files to a model, use its option
regions=FOLDER. After an interruption, the same command continues with the images that are left.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from vlgate.cli import note
from vlgate.errors import OptionError, halved
from vlgate.images.files import EXTENSIONS, file_image

if TYPE_CHECKING:
    from vlgate.models.regions.feature_file import Progress

SHOWN = 5  # how many images without regions are named
EVERY = 10.0  # seconds between two lines of progress


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0; 1 if an image is left out; 130 if the user interrupts the command."""
    from vlgate.models.checkpoints.device import pick_device
    from vlgate.models.regions.detector import detector_source
    from vlgate.models.regions.feature_file import make_features

    if given.batch_size < 1:
        raise OptionError(f"--batch-size {given.batch_size}: expected a whole number above 0")
    if not given.images.is_dir():
        raise OptionError(f"--images {given.images}: is not a folder; name the folder of the images")
    files = sorted(_files(given.images))
    if not files:
        raise OptionError(f"--images {given.images}: holds no image ({', '.join(sorted(EXTENSIONS))})")
    name = Path(os.path.abspath(given.images)).name  # noqa: PTH100  # resolves "." to a name, and keeps the name of a link
    images = [file_image(Path(name, file.relative_to(given.images)).as_posix(), file) for file in files]
    odd = [image for image in images if halved(image.key)]
    if odd:
        raise OptionError(f"--images {given.images}: the name {odd[0].key!r} is not UTF-8; rename the file")
    if given.out.exists() and not given.out.is_dir():
        raise OptionError(f"--out {given.out}: is a file; name a folder")
    device = pick_device(given.device.lower())
    detector = detector_source(given.model, Path.cwd(), device, width=None, count=None, at_once=given.batch_size)
    try:
        made = make_features(images, detector, given.out, batch_size=given.batch_size, tell=_teller())
    except OSError as error:
        raise OptionError(f"--out {given.out}: cannot be written ({error}); name another folder") from None
    except KeyboardInterrupt:
        note("interrupted; run the same command again to continue")
        return 130
    note(f"{made.before + made.made:,} of {made.whole:,} images in {given.out}, {made.made:,} of them made now")
    for key, why in list(made.left_out.items())[:SHOWN]:
        note(f"left out: {key}: {why}")
    if len(made.left_out) > SHOWN:
        note(f"left out: {len(made.left_out) - SHOWN:,} more")
    return 1 if made.left_out else 0


def _files(folder: Path) -> Iterator[Path]:
    # Yield the image files below a folder, also in linked folders; each folder is listed once
    def refuse(error: OSError) -> NoReturn:
        problem = f"cannot be listed ({error.strerror}), so its images would be missing"
        raise OptionError(f"--images: {error.filename} {problem}; make it a readable folder") from None

    seen = set()
    for where, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        if (real := os.path.realpath(where)) in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (Path(where, name) for name in names if name.rpartition(".")[2].lower() in EXTENSIONS)


def _teller() -> Callable[[Progress], None]:
    start = said = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said < EVERY:
            return
        said = now
        done = progress.before + progress.made + len(progress.left_out)
        speed = (done - progress.before) / (now - start)
        left = f"{(progress.whole - done) / speed / 60:.0f} minutes left"
        note(f"{done:,} of {progress.whole:,} images, {speed:.2f} per second, {left}")

    return tell
