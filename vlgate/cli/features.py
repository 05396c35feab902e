"""Find the regions of pictures once, for models that see regions, and write them into files.

The detector is the Visual Genome Faster R-CNN of bottom-up attention. What is written is given to a model with
regions=FOLDER. A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from vlgate.errors import OptionError
from vlgate.pictures import file_picture
from vlgate.sources.images import EXTENSIONS
from vlgate.types import Picture

if TYPE_CHECKING:
    from vlgate.models.region_files.making import Progress

HELP = "find the regions of pictures, for models that see regions"
SHOWN = 5  # pictures without regions that are named
EVERY = 10.0  # seconds between two lines that say how far it is


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    images = "the folder of pictures; each is named with this folder and those below it"
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help=images)
    out = "the folder to write; what is in it already is not made again"
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)
    model = "a detector's folder or hub repository (default: unc-nlp/frcnn-vg-finetuned)"
    parser.add_argument("--model", default="", metavar="FOLDER|ORG/NAME", help=model)
    parser.add_argument("--batch-size", type=int, default=8, metavar="N", help="pictures at once (default: 8)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)")


def run(given: argparse.Namespace) -> int:
    """Find and write the regions; how far it is stands on stderr.

    Returns: the exit status: 0; 1 where a picture is left out; 130 where the user interrupts it.
    Raises: OptionError for an option that does not fit; ModelLoadError where the detector cannot be had.
    """
    from vlgate.models.device import pick_device
    from vlgate.models.frcnn import detector_source
    from vlgate.models.region_files.making import make_features

    if given.batch_size < 1:
        raise OptionError(f"--batch-size {given.batch_size}: expected a whole number above 0")
    pictures = _pictures(given.images)
    if given.out.exists() and not given.out.is_dir():
        raise OptionError(f"--out {given.out}: is a file; name a folder")
    device = pick_device(given.device)
    detector = detector_source(given.model, Path.cwd(), device, width=None, count=None, at_once=given.batch_size)
    try:
        made = make_features(pictures, detector, given.out, batch_size=given.batch_size, tell=_teller())
    except OSError as error:
        raise OptionError(f"--out {given.out}: cannot be written ({error}); name another folder") from None
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on where it stopped")
        return 130
    _say(f"{made.before + made.made:,} of {made.whole:,} pictures in {given.out}, {made.made:,} of them made now")
    for key, why in list(made.left_out.items())[:SHOWN]:
        _say(f"left out: {key}: {why}")
    if len(made.left_out) > SHOWN:
        _say(f"left out: {len(made.left_out) - SHOWN:,} more")
    return 1 if made.left_out else 0


def _pictures(folder: Path) -> list[Picture]:
    """List the pictures below a folder, in the order of their names.

    A key begins with the folder's own name, such as "coco" or "vg": numbers mean other pictures in another folder.
    """
    if not folder.is_dir():
        raise OptionError(f"--images {folder}: is no folder; name the folder of the pictures")
    files = sorted(_files(folder))
    if not files:
        raise OptionError(f"--images {folder}: holds no picture ({', '.join(sorted(EXTENSIONS))})")
    name = Path(os.path.abspath(folder)).name  # noqa: PTH100  # "." by its name, a link by its own
    pictures = [file_picture(Path(name, file.relative_to(folder)).as_posix(), file) for file in files]
    odd = [picture for picture in pictures if not _is_text(picture.key)]
    if odd:
        raise OptionError(f"--images {folder}: the name {odd[0].key!r} is not UTF-8; rename the file")
    return pictures


def _files(folder: Path) -> Iterator[Path]:
    """Yield the picture files below a folder and in the folders that are linked there, each folder once."""
    seen = set()
    for where, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        if (real := os.path.realpath(where)) in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (Path(where, name) for name in names if name.rpartition(".")[2].lower() in EXTENSIONS)


def _refuse(error: OSError) -> NoReturn:
    problem = f"cannot be listed ({error.strerror}), and its pictures would be missing"
    raise OptionError(f"--images: {error.filename} {problem}; make it a folder that may be read") from None


def _is_text(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _teller() -> Callable[[Progress], None]:
    start = said = time.monotonic()

    def tell(progress: Progress) -> None:
        """Say now and then how far it is, and how fast."""
        nonlocal said
        now = time.monotonic()
        if now - said < EVERY:
            return
        said = now
        done = progress.before + progress.made + len(progress.left_out)
        speed = (done - progress.before) / (now - start)
        left = f"{(progress.whole - done) / speed / 60:.0f} minutes left"
        _say(f"{done:,} of {progress.whole:,} pictures, {speed:.2f} a second, {left}")

    return tell


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  # what a command is for
