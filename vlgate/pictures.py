"""Pictures in files: looked for and decoded when they are asked for, with errors that name the file and the remedy."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from vlgate.decoding import REPLACE, decode_stream
from vlgate.errors import MissingPictureError, PictureError
from vlgate.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image


def file_picture(key: str, path: Path | str) -> Picture:
    """Return the picture in the file ``path``, decoded by ``decode`` when it is asked for.

    >>> file_picture("v7w_1.jpg", Path("data/images/vg/1.jpg")).where
    'data/images/vg/1.jpg'
    """
    where = str(path)
    return Picture(key=key, load=partial(decode, where, key), where=where)


def missing_picture(key: str, looked: Sequence[Path]) -> Picture:
    """Return a picture without a file: ``image()`` raises MissingPictureError, which names the places in ``looked``."""
    return Picture(key=key, load=partial(_raise_missing, key, looked))


def decode(path: Path | str, key: str) -> Image:
    """Decode the picture in ``path``, as ``decode_stream`` does.

    Returns: a PIL image in mode RGB, upright, of at least 1 x 1 pixels.
    Raises: MissingPictureError where there is no such file; PictureError where it is no file, cannot be read, is
    empty, no picture, cut off or broken, or claims more than ``decoding.MAX_PIXELS`` (known before memory is taken).
    """
    path = Path(path)  # kept as a string until here: 100,000 Path objects take 25 MB and 0.3 s
    _check_file(path, key)
    try:
        with path.open("rb") as stream:
            return decode_stream(stream, path, key)
    except PermissionError:
        raise PictureError(key, f"{path} may not be read", "give read permission to it and its folders") from None
    except OSError as error:
        raise PictureError(key, f"{path} cannot be read ({error})", REPLACE) from None


def _raise_missing(key: str, looked: Sequence[Path]) -> NoReturn:
    places = ", ".join(map(str, looked)) or "no folder, as no data folder was given"
    remedy = "put it there, or leave out what has no picture with --missing-images skip"
    raise MissingPictureError(key, f"not found; looked in {places}", remedy)


def _check_file(path: Path, key: str) -> None:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        _raise_missing(key, (path,))
    except PermissionError:
        raise PictureError(key, f"{path} may not be read", "give read permission to it and its folders") from None
    except (OSError, ValueError) as error:  # a loop of links, a name too long or with a NUL
        raise PictureError(key, f"{str(path)!r} cannot be opened ({error})", "rename or replace it") from None
    if stat.S_ISDIR(status.st_mode):
        raise PictureError(key, f"{path} is a folder", "put a picture file in its place")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for ever
        raise PictureError(key, f"{path} is no regular file", "put a picture file in its place")
    if status.st_size == 0:
        raise PictureError(key, f"{path} is empty", REPLACE)
